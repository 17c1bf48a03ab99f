//! `snmp`: agents that tell of their device, by SNMP version 2c and 3 over UDP.
//!
//! The library that speaks both keeps to itself why an agent refuses a user, and believes an
//! engine's clock before the message that tells it is verified: the protocol is ours, over the
//! ciphers that are here anyway.

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

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Connect, Context, Result, Transport};
use pdu::Pdu;
pub use session::SnmpSession;
use v3::User;

/// Opens sessions with agents.
#[derive(Debug)]
pub struct Snmp {
    schema: TransportSchema,
}

impl Snmp {
    /// For any agent.
    pub fn new() -> Self {
        let schema = TransportSchema::built_in(include_str!("schema.yaml"));
        Self { schema }
    }

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<SnmpSession> {
        SnmpSession::open(ctx, info).await
    }
}

impl Default for Snmp {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Snmp {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(self.open(ctx, info).await?))
    }
}

/// Reads a datagram as everything that it may be: for fuzzing.
pub(crate) fn read(datagram: &[u8]) {
    let user = User {
        name: "me".to_owned(),
        auth: None,
        privacy: None,
        context: String::new(),
    };
    let _ = Pdu::of_community(datagram);
    if let Some(mut engine) = v3::discovered(datagram, 1, &user, 0) {
        let _ = engine.open(&user, 1, datagram);
    }
}
