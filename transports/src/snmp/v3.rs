//! The security of version 3 (RFC 3414): outgoing messages are signed and encrypted, and incoming messages
//! are verified before they are trusted.

use devgate_schemas::Sensitive;
use tokio::time::Instant;

use super::ber::{Reader, octets, sequence, tag};
use super::envelope::{AUTH, Envelope, PRIV, Parameters, REPORTABLE, message, parameters};
use super::oid::Oid;
use super::pdu::{Kind, Pdu};
use super::usm::{AuthProtocol, Key, PrivProtocol};

/// A user, with authentication and encryption.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) auth: Option<(AuthProtocol, Sensitive<String>)>,
    pub(super) privacy: Option<(PrivProtocol, Sensitive<String>)>,
    pub(super) context: String,
}

impl User {
    /// Returns the security level that follows from the user's passwords, with the protocols.
    pub(super) fn level(&self) -> String {
        match (&self.auth, &self.privacy) {
            (None, _) => "noAuthNoPriv".to_owned(),
            (Some((auth, _)), None) => format!("authNoPriv with {}", auth.name()),
            (Some((auth, _)), Some((privacy, _))) => {
                format!("authPriv with {} and {}", auth.name(), privacy.name())
            }
        }
    }
}

/// An agent's engine, as far as known, with the user's keys for it.
#[derive(Debug)]
pub(super) struct Engine {
    id: Vec<u8>,
    boots: i64,
    /// The engine's time at its last message, and when that message arrived.
    time: i64,
    heard: Instant,
    auth: Option<(AuthProtocol, Key)>,
    privacy: Option<(PrivProtocol, Key)>,
    salt: u64,
}

/// An incoming message.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// The answer, verified.
    Answer(Pdu),
    /// The engine's complaint about the request.
    Report(Complaint),
}

/// Why an engine rejects a request (RFC 3414, 5, `usmStats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    UnsupportedSecurityLevel,
    /// Its clock differs. If the report was authenticated, the clock is known now.
    NotInTimeWindow,
    UnknownUserName,
    UnknownEngineId,
    WrongDigest,
    DecryptionError,
    /// It has no such context (RFC 3413, 4, `snmpUnknownContexts`), or another complaint.
    Other,
}

/// The allowed difference of the clocks in seconds (RFC 3414, 2.2.3).
const TIME_WINDOW: i64 = 150;

/// Encodes a request for the engine's identity (RFC 3414, 4), without a user and without protection.
pub(super) fn discovery(id: i32) -> Vec<u8> {
    let request = Pdu {
        id,
        ..Pdu::get(&[])
    };
    let scoped = sequence(&[octets(&[]), octets(&[]), request.encode()]);
    message(
        id,
        REPORTABLE,
        &parameters(&[], (0, 0), "", &[], &[]),
        &scoped,
    )
}

/// Returns the engine from an answer to [`discovery`]; `None` if it is not such an answer.
pub(super) fn discovered(bytes: &[u8], id: i32, user: &User, salt: u64) -> Option<Engine> {
    let envelope = Envelope::read(bytes)?;
    let Parameters {
        engine,
        boots,
        time,
        ..
    } = envelope.parameters;
    if envelope.id != i64::from(id) || engine.is_empty() {
        return None;
    }
    let key = |password| {
        user.auth
            .as_ref()
            .map(|(auth, _)| auth.key(password, engine))
    };
    let auth = user.auth.as_ref();
    let privacy = user.privacy.as_ref();
    Some(Engine {
        id: engine.to_vec(),
        boots,
        time,
        heard: Instant::now(),
        auth: auth.and_then(|(protocol, password)| Some((*protocol, key(password)?))),
        privacy: privacy.and_then(|(protocol, password)| Some((*protocol, key(password)?))),
        salt,
    })
}

impl Engine {
    /// Returns its identifier.
    pub(super) fn id(&self) -> &[u8] {
        &self.id
    }

    /// Encodes the message for a request.
    pub(super) fn seal(&mut self, user: &User, request: &Pdu) -> Vec<u8> {
        let context = octets(user.context.as_bytes());
        let mut scoped = sequence(&[octets(&self.id), context, request.encode()]);
        let since = i64::try_from(self.heard.elapsed().as_secs()).unwrap_or(0);
        let clock = (self.boots, self.time + since);
        let mut flags = REPORTABLE;
        let mut salt = Vec::new();
        if let Some((protocol, key)) = &self.privacy {
            flags |= PRIV;
            self.salt = self.salt.wrapping_add(1);
            let mut own = self.salt.to_be_bytes();
            if *protocol == PrivProtocol::Des {
                // The salt of DES begins with the engine's boots (RFC 3414, 8.1.1.1).
                own[..4].copy_from_slice(&word(clock.0).to_be_bytes());
            }
            protocol.encrypt(key, (word(clock.0), word(clock.1)), own, &mut scoped);
            scoped = octets(&scoped);
            salt = own.to_vec();
        }
        let blank = self
            .auth
            .as_ref()
            .map_or(0, |(auth, _)| auth.signature_length());
        let blank = vec![0; blank];
        if self.auth.is_some() {
            flags |= AUTH;
        }
        let parameters = parameters(&self.id, clock, &user.name, &blank, &salt);
        let mut message = message(request.id, flags, &parameters, &scoped);
        if let Some((auth, key)) = &self.auth {
            let signature = auth.sign(key, &[&message]);
            let behind = octets(&salt).len() + scoped.len();
            let end = message.len() - behind;
            message[end - signature.len()..end].copy_from_slice(&signature);
        }
        message
    }

    /// Reads the answer to a request (RFC 3414, 3.2). Returns `None` for any other message: unrelated, late or
    /// forged. Such a message is dropped as if it had not arrived.
    pub(super) fn open(&mut self, user: &User, id: i32, bytes: &[u8]) -> Option<Incoming> {
        let envelope = Envelope::read(bytes)?;
        let parameters = &envelope.parameters;
        if envelope.id != i64::from(id) {
            return None;
        }
        if envelope.flags & AUTH == 0 {
            let pdu = scoped_pdu(envelope.data)?;
            // A report can only make the request fail, so unsigned reports are accepted.
            return match (pdu.kind, &self.auth) {
                (Kind::Report, _) => Some(Incoming::Report(Complaint::read(&pdu))),
                (Kind::Response, None) if pdu.id == id => Some(Incoming::Answer(pdu)),
                _ => None,
            };
        }
        let (auth, key) = self.auth.as_ref()?;
        let at = parameters.signature_at;
        let behind = at + parameters.signature.len();
        let blank = vec![0; parameters.signature.len()];
        let unsigned = [&bytes[..at], &blank, &bytes[behind..]];
        let is_genuine = parameters.engine == self.id
            && parameters.user == user.name.as_bytes()
            && auth.verify(key, &unsigned, parameters.signature)
            && self.is_timely(parameters);
        if !is_genuine {
            return None;
        }
        self.boots = parameters.boots;
        self.time = parameters.time;
        self.heard = Instant::now();
        let pdu = self.decrypted(&envelope)?;
        match pdu.kind {
            // A report about the clock is not encrypted.
            Kind::Report => Some(Incoming::Report(Complaint::read(&pdu))),
            Kind::Response if pdu.id == id && self.is_protected(envelope.flags) => {
                Some(Incoming::Answer(pdu))
            }
            _ => None,
        }
    }

    fn decrypted(&self, envelope: &Envelope<'_>) -> Option<Pdu> {
        if envelope.flags & PRIV == 0 {
            return scoped_pdu(envelope.data);
        }
        let (protocol, key) = self.privacy.as_ref()?;
        let Parameters {
            boots, time, salt, ..
        } = envelope.parameters;
        let mut data = envelope.data;
        let mut data = data.octets()?.to_vec();
        protocol.decrypt(key, (word(boots), word(time)), salt, &mut data)?;
        scoped_pdu(Reader::new(&data))
    }

    /// Returns whether a message is as well protected as our requests.
    fn is_protected(&self, flags: u8) -> bool {
        self.privacy.is_none() || flags & PRIV != 0
    }

    /// Returns whether a message is not a replay of an old one (RFC 3414, 3.2, 7b).
    fn is_timely(&self, parameters: &Parameters<'_>) -> bool {
        let since = i64::try_from(self.heard.elapsed().as_secs()).unwrap_or(0);
        parameters.boots > self.boots
            || parameters.boots == self.boots && parameters.time >= self.time + since - TIME_WINDOW
    }
}

impl Complaint {
    fn read(report: &Pdu) -> Self {
        let stats = Oid::new(&[1, 3, 6, 1, 6, 3, 15, 1, 1]);
        let which = report
            .objects
            .first()
            .and_then(|object| object.oid.below(&stats));
        match which {
            Some([1, ..]) => Self::UnsupportedSecurityLevel,
            Some([2, ..]) => Self::NotInTimeWindow,
            Some([3, ..]) => Self::UnknownUserName,
            Some([4, ..]) => Self::UnknownEngineId,
            Some([5, ..]) => Self::WrongDigest,
            Some([6, ..]) => Self::DecryptionError,
            _ => Self::Other,
        }
    }
}

fn scoped_pdu(mut data: Reader<'_>) -> Option<Pdu> {
    let mut scoped = data.expect(tag::SEQUENCE)?;
    scoped.octets()?;
    scoped.octets()?;
    Pdu::decode(&mut scoped)
}

/// Converts a clock's number for a cipher.
fn word(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::snmp::pdu::{Object, Value};

    fn user(privacy: Option<PrivProtocol>) -> User {
        let secret = |text: &str| Sensitive::new(text.to_owned());
        User {
            name: "me".to_owned(),
            auth: Some((AuthProtocol::Sha256, secret("lab-canary-auth"))),
            privacy: privacy.map(|protocol| (protocol, secret("lab-canary-priv"))),
            context: String::new(),
        }
    }

    fn engine(user: &User) -> Engine {
        let report = message(7, 0, &parameters(&[1, 2, 3], (5, 100), "", &[], &[]), &[]);
        discovered(&report, 7, user, 1).expect("an engine")
    }

    /// Returns an answer as the engine would send it, sealed with our own code.
    fn answer(engine: &mut Engine, user: &User, kind: Kind, oid: &[u32]) -> Vec<u8> {
        let answer = Pdu {
            kind,
            id: 9,
            objects: vec![Object {
                oid: Oid::new(oid),
                value: Value::Null,
            }],
            ..Pdu::get(&[])
        };
        engine.seal(user, &answer)
    }

    #[tokio::test]
    async fn a_sealed_answer_is_opened_and_a_changed_one_is_not() {
        for privacy in [None, Some(PrivProtocol::Des), Some(PrivProtocol::Aes256)] {
            let user = user(privacy);
            let mut engine = engine(&user);
            let bytes = answer(&mut engine, &user, Kind::Response, &[1, 3, 6, 1]);
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                assert_eq!(engine.open(&user, 9, &changed), None, "byte {at}");
                assert!(engine.open(&user, 9, &bytes[..at]).is_none());
            }
            assert_eq!(engine.open(&user, 8, &bytes), None);
            let opened = engine.open(&user, 9, &bytes);
            let Some(Incoming::Answer(pdu)) = opened else {
                panic!("{opened:?}");
            };
            assert_eq!(pdu.objects[0].oid.to_string(), "1.3.6.1");
        }
    }

    #[tokio::test]
    async fn an_answer_without_the_protection_that_was_asked_for_is_none() {
        let (clear, encrypted) = (user(None), user(Some(PrivProtocol::Aes128)));
        let bytes = answer(&mut engine(&clear), &clear, Kind::Response, &[1, 3]);
        assert_eq!(engine(&encrypted).open(&encrypted, 9, &bytes), None);

        let open = User {
            auth: None,
            ..user(None)
        };
        let bytes = answer(&mut engine(&open), &open, Kind::Response, &[1, 3]);
        assert_eq!(engine(&clear).open(&clear, 9, &bytes), None);
        assert!(engine(&open).open(&open, 9, &bytes).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_of_long_ago_is_none() {
        let user = user(None);
        let mut engine = engine(&user);
        let bytes = answer(&mut engine, &user, Kind::Response, &[1, 3]);
        tokio::time::advance(Duration::from_secs(140)).await;
        assert!(engine.open(&user, 9, &bytes).is_some());
        tokio::time::advance(Duration::from_secs(160)).await;
        assert_eq!(engine.open(&user, 9, &bytes), None);
    }

    #[tokio::test]
    async fn a_report_says_what_the_engine_complains_of() {
        let open = User {
            auth: None,
            ..user(None)
        };
        for (number, complaint) in [
            (1, Complaint::UnsupportedSecurityLevel),
            (3, Complaint::UnknownUserName),
            (5, Complaint::WrongDigest),
            (9, Complaint::Other),
        ] {
            let oid = [1, 3, 6, 1, 6, 3, 15, 1, 1, number, 0];
            let bytes = answer(&mut engine(&open), &open, Kind::Report, &oid);
            let user = user(Some(PrivProtocol::Aes128));
            let opened = engine(&user).open(&user, 9, &bytes);
            assert_eq!(opened, Some(Incoming::Report(complaint)));
        }
    }
}
