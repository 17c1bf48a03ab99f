//! `snmp`: SNMP agents, with version 2c and 3 over UDP.
//!
//! The existing library for both versions does not say why an agent refuses a user, and trusts an engine's clock
//! before the message is verified. Therefore the protocol is implemented here, with ciphers that the program
//! contains anyway.

mod addresses;
mod agent;
mod ber;
mod envelope;
mod facts;
mod link;
mod oid;
mod pdu;
mod session;
mod settings;
#[cfg(test)]
mod tests;
mod usm;
mod v3;

pub use session::SnmpSession;

/// Parses a datagram as each possible kind of message. For fuzzing.
#[cfg(feature = "fuzz")]
pub(crate) fn read(datagram: &[u8]) {
    let user = v3::User {
        name: "me".to_owned(),
        auth: None,
        privacy: None,
        context: String::new(),
    };
    let _ = pdu::Pdu::of_community(datagram);
    if let Some(mut engine) = v3::discovered(datagram, 1, &user, 0) {
        let _ = engine.open(&user, 1, datagram);
    }
}
