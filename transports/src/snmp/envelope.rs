//! The parts of a version 3 message around its data: the header (RFC 3412, 6) and the security parameters
//! (RFC 3414, 2.4).

use super::ber::{Reader, integer, octets, sequence, tag};

/// Flags of a message (RFC 3412, 6.4).
pub(super) const AUTH: u8 = 1;
pub(super) const PRIV: u8 = 2;
pub(super) const REPORTABLE: u8 = 4;

/// The maximum size of a message, which is that of UDP.
const LONGEST: i64 = 65507;

/// A message's security parameters.
pub(super) struct Parameters<'m> {
    pub(super) engine: &'m [u8],
    pub(super) boots: i64,
    pub(super) time: i64,
    pub(super) user: &'m [u8],
    /// The signature, and its position in the message.
    pub(super) signature: &'m [u8],
    pub(super) signature_at: usize,
    pub(super) salt: &'m [u8],
}

/// The parsed parts of a message.
pub(super) struct Envelope<'m> {
    pub(super) id: i64,
    pub(super) flags: u8,
    pub(super) parameters: Parameters<'m>,
    pub(super) data: Reader<'m>,
}

impl<'m> Envelope<'m> {
    /// Parses a message. Returns `None` unless it is of version 3 with user-based security.
    pub(super) fn read(bytes: &'m [u8]) -> Option<Self> {
        let mut message = Reader::new(bytes).expect(tag::SEQUENCE)?;
        if message.integer()? != 3 {
            return None;
        }
        let mut header = message.expect(tag::SEQUENCE)?;
        let (id, _longest) = (header.integer()?, header.integer()?);
        let flags = *header.octets()?.first()?;
        // The User-based Security Model.
        if header.integer()? != 3 {
            return None;
        }
        let mut parameters = message.expect(tag::OCTET_STRING)?.expect(tag::SEQUENCE)?;
        let engine = parameters.octets()?;
        let (boots, time) = (parameters.integer()?, parameters.integer()?);
        let user = parameters.octets()?;
        let signature = parameters.expect(tag::OCTET_STRING)?;
        Some(Self {
            id,
            flags,
            parameters: Parameters {
                engine,
                boots,
                time,
                user,
                signature: signature.bytes(),
                signature_at: signature.position(),
                salt: parameters.octets()?,
            },
            data: message,
        })
    }
}

/// Encodes security parameters.
pub(super) fn parameters(
    engine: &[u8],
    (boots, time): (i64, i64),
    user: &str,
    signature: &[u8],
    salt: &[u8],
) -> Vec<u8> {
    sequence(&[
        octets(engine),
        integer(boots),
        integer(time),
        octets(user.as_bytes()),
        octets(signature),
        octets(salt),
    ])
}

/// Encodes a message. The data are already encoded, and encrypted if the flags say so.
pub(super) fn message(id: i32, flags: u8, parameters: &[u8], data: &[u8]) -> Vec<u8> {
    let header = sequence(&[
        integer(id.into()),
        integer(LONGEST),
        octets(&[flags]),
        integer(3),
    ]);
    sequence(&[integer(3), header, octets(parameters), data.to_vec()])
}
