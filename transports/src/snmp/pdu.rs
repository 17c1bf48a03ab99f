//! PDUs, the objects in them (RFC 3416, 3), and the version 2c message around them (RFC 1901,
//! 3).

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::ber::{self, Reader, integer, octets, sequence, tag, tagged};
use super::oid::Oid;

/// A request, an answer or a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pdu {
    pub(super) kind: Kind,
    pub(super) id: i32,
    /// The first number: a GETBULK's non-repeaters, or an answer's error-status.
    pub(super) first: i64,
    /// The second number: a GETBULK's max-repetitions, or an answer's error-index.
    pub(super) second: i64,
    pub(super) objects: Vec<Object>,
}

/// The kind of a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Get,
    GetBulk,
    Response,
    Report,
}

/// An object with its value: a variable binding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    pub(super) oid: Oid,
    pub(super) value: Value,
}

/// A value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Octets(Vec<u8>),
    Oid(Oid),
    IpAddress([u8; 4]),
    Counter32(u64),
    Gauge32(u64),
    TimeTicks(u64),
    Counter64(u64),
    Opaque(Vec<u8>),
    NoSuchObject,
    NoSuchInstance,
    EndOfMibView,
}

impl Kind {
    const ALL: [(Self, u8); 4] = [
        (Self::Get, 0xa0),
        (Self::Response, 0xa2),
        (Self::GetBulk, 0xa5),
        (Self::Report, 0xa8),
    ];

    fn tag(self) -> u8 {
        let own = Self::ALL.iter().find(|(kind, _)| *kind == self);
        own.expect("each kind is in the list").1
    }

    fn of(tag: u8) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, own)| *own == tag)?;
        Some(found.0)
    }
}

impl Pdu {
    /// Creates a request for the values of these objects.
    pub(super) fn get(oids: &[Oid]) -> Self {
        let objects = oids.iter().map(|oid| Object {
            oid: oid.clone(),
            value: Value::Null,
        });
        Self {
            kind: Kind::Get,
            id: 0,
            first: 0,
            second: 0,
            objects: objects.collect(),
        }
    }

    /// Creates a request for this many objects after this one.
    pub(super) fn get_bulk(oid: &Oid, repetitions: i64) -> Self {
        Self {
            kind: Kind::GetBulk,
            second: repetitions,
            ..Self::get(std::slice::from_ref(oid))
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let objects: Vec<_> = self.objects.iter().map(Object::encode).collect();
        let parts = [
            integer(self.id.into()),
            integer(self.first),
            integer(self.second),
            sequence(&objects),
        ];
        tagged(self.kind.tag(), &parts.concat())
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let (tag, mut content) = reader.next()?;
        let kind = Kind::of(tag)?;
        let id = content.integer()?.try_into().ok()?;
        let (first, second) = (content.integer()?, content.integer()?);
        let mut list = content.expect(tag::SEQUENCE)?;
        let mut objects = Vec::new();
        while !list.is_empty() {
            objects.push(Object::decode(&mut list)?);
        }
        Some(Self {
            kind,
            id,
            first,
            second,
            objects,
        })
    }

    /// Encodes a version 2c message with this PDU.
    pub(super) fn in_community(&self, community: &str) -> Vec<u8> {
        let community = octets(community.as_bytes());
        sequence(&[integer(1), community, self.encode()])
    }

    /// Decodes the PDU in a version 2c message.
    pub(super) fn of_community(message: &[u8]) -> Option<Self> {
        let mut message = Reader::new(message).expect(tag::SEQUENCE)?;
        if message.integer()? != 1 {
            return None;
        }
        message.octets()?;
        Self::decode(&mut message)
    }
}

impl Object {
    /// Returns the approximate size of its name and its value in bytes.
    pub(super) fn length(&self) -> usize {
        let value = match &self.value {
            Value::Octets(bytes) | Value::Opaque(bytes) => bytes.len(),
            Value::Oid(oid) => oid.length(),
            _ => size_of::<Value>(),
        };
        self.oid.length() + value
    }

    /// Encodes an object of a request, which has no value.
    fn encode(&self) -> Vec<u8> {
        let oid = tagged(tag::OBJECT_IDENTIFIER, &self.oid.encode());
        sequence(&[oid, tagged(tag::NULL, &[])])
    }

    fn decode(list: &mut Reader<'_>) -> Option<Self> {
        let mut pair = list.expect(tag::SEQUENCE)?;
        let oid = Oid::decode(pair.expect(tag::OBJECT_IDENTIFIER)?.bytes())?;
        let (tag, content) = pair.next()?;
        let value = Value::decode(tag, content.bytes())?;
        Some(Self { oid, value })
    }

    /// Returns it as users see it: `{oid, type, value}`.
    pub(super) fn to_json(&self) -> Json {
        let (kind, value) = self.value.to_json();
        json!({ "oid": self.oid.to_string(), "type": kind, "value": value })
    }
}

impl Value {
    fn decode(tag: u8, content: &[u8]) -> Option<Self> {
        Some(match tag {
            tag::NULL => Self::Null,
            tag::INTEGER => Self::Integer(ber::signed(content)?),
            tag::OCTET_STRING => Self::Octets(content.to_vec()),
            tag::OBJECT_IDENTIFIER => Self::Oid(Oid::decode(content)?),
            tag::IP_ADDRESS => Self::IpAddress(content.try_into().ok()?),
            tag::COUNTER32 => Self::Counter32(ber::unsigned(content)?),
            tag::GAUGE32 => Self::Gauge32(ber::unsigned(content)?),
            tag::TIME_TICKS => Self::TimeTicks(ber::unsigned(content)?),
            tag::COUNTER64 => Self::Counter64(ber::unsigned(content)?),
            tag::OPAQUE => Self::Opaque(content.to_vec()),
            tag::NO_SUCH_OBJECT => Self::NoSuchObject,
            tag::NO_SUCH_INSTANCE => Self::NoSuchInstance,
            tag::END_OF_MIB_VIEW => Self::EndOfMibView,
            _ => return None,
        })
    }

    /// Returns whether there is a value.
    pub(super) fn is_there(&self) -> bool {
        let absent = [
            Self::Null,
            Self::NoSuchObject,
            Self::NoSuchInstance,
            Self::EndOfMibView,
        ];
        !absent.contains(self)
    }

    /// Returns the name of its type.
    pub(super) fn kind(&self) -> &'static str {
        self.to_json().0
    }

    /// Returns its text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Octets(bytes) => readable(bytes),
            _ => None,
        }
    }

    /// Returns its number, if it is one that fits.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Counter32(number)
            | Self::Gauge32(number)
            | Self::TimeTicks(number)
            | Self::Counter64(number) => i64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns the name of its type (RFC 2578, 7.1) and the value. Bytes that are not text become hexadecimal.
    fn to_json(&self) -> (&'static str, Json) {
        match self {
            Self::Null => ("NULL", Json::Null),
            Self::Integer(number) => ("INTEGER", (*number).into()),
            Self::Octets(bytes) => match readable(bytes) {
                Some(text) => ("OCTET STRING", text.into()),
                None => ("Hex-STRING", hexadecimal(bytes).into()),
            },
            Self::Oid(oid) => ("OBJECT IDENTIFIER", oid.to_string().into()),
            Self::IpAddress([a, b, c, d]) => ("IpAddress", format!("{a}.{b}.{c}.{d}").into()),
            Self::Counter32(number) => ("Counter32", (*number).into()),
            Self::Gauge32(number) => ("Gauge32", (*number).into()),
            Self::TimeTicks(number) => ("TimeTicks", (*number).into()),
            Self::Counter64(number) => ("Counter64", (*number).into()),
            Self::Opaque(bytes) => ("Opaque", hexadecimal(bytes).into()),
            Self::NoSuchObject => ("noSuchObject", Json::Null),
            Self::NoSuchInstance => ("noSuchInstance", Json::Null),
            Self::EndOfMibView => ("endOfMibView", Json::Null),
        }
    }
}

/// Returns bytes as text, if they are readable. Some agents end texts with a zero byte.
fn readable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_suffix('\0').unwrap_or(text);
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().all(is_plain).then_some(text)
}

/// Formats bytes as `02:fc:00`.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        let colon = if index == 0 { "" } else { ":" };
        let _ = write!(text, "{colon}{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(text: &str) -> Oid {
        Oid::parse(text).expect("it is one")
    }

    #[test]
    fn a_request_is_encoded_as_the_standard_says() {
        let get = Pdu {
            id: 1,
            ..Pdu::get(&[oid("1.3.6.1.2.1.1.3.0")])
        };
        let expected = [
            0x30, 0x26, 2, 1, 1, 4, 6, b'p', b'u', b'b', b'l', b'i', b'c', 0xa0, 0x19, 2, 1, 1, 2,
            1, 0, 2, 1, 0, 0x30, 0x0e, 0x30, 0x0c, 6, 8, 0x2b, 6, 1, 2, 1, 1, 3, 0, 5, 0,
        ];
        let message = get.in_community("public");
        assert_eq!(message, expected);
        assert_eq!(Pdu::of_community(&message), Some(get));
        for end in 0..message.len() {
            assert_eq!(Pdu::of_community(&message[..end]), None);
        }
    }

    #[test]
    fn values_are_told_with_their_types() {
        let json = |tag, bytes: &[u8]| {
            let value = Value::decode(tag, bytes).expect("a value");
            Object {
                oid: oid("1.3.6"),
                value,
            }
            .to_json()
        };
        for (tag, bytes, kind, value) in [
            (tag::INTEGER, &[255][..], "INTEGER", json!(-1)),
            (tag::OCTET_STRING, b"swp1\0", "OCTET STRING", json!("swp1")),
            (
                tag::OCTET_STRING,
                &[2, 0xfc, 0],
                "Hex-STRING",
                json!("02:fc:00"),
            ),
            (
                tag::IP_ADDRESS,
                &[192, 0, 2, 1],
                "IpAddress",
                json!("192.0.2.1"),
            ),
            (tag::TIME_TICKS, &[1, 0], "TimeTicks", json!(256)),
            (
                tag::OBJECT_IDENTIFIER,
                &[0x2b, 6],
                "OBJECT IDENTIFIER",
                json!("1.3.6"),
            ),
            (tag::NO_SUCH_OBJECT, &[], "noSuchObject", Json::Null),
        ] {
            let expected = json!({ "oid": "1.3.6", "type": kind, "value": value });
            assert_eq!(json(tag, bytes), expected);
        }
        assert_eq!(Value::decode(0x77, &[]), None);
        assert_eq!(Value::decode(tag::IP_ADDRESS, &[1]), None);
    }
}
