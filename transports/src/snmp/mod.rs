//! `snmp`: agents that tell of their device, by SNMP version 2c and 3 over UDP.
//!
//! The library that speaks both keeps to itself why an agent refuses a user, and believes an
//! engine's clock before the message that tells it is verified: the protocol is ours, over the
//! ciphers that are here anyway.

mod addresses;
mod agent;
mod ber;
mod envelope;
mod facts;
mod oid;
mod pdu;
mod session;
mod settings;
#[cfg(test)]
mod tests;
mod usm;
mod v3;

pub use session::SnmpSession;

/// Reads a datagram as everything that it may be: for fuzzing.
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
