//! `netconf`: devices that are configured over NETCONF (RFC 6241) in an SSH channel (RFC 6242).

mod capabilities;
mod change;
mod client;
mod facts;
#[cfg(test)]
mod fake;
pub(crate) mod framing;
mod hello;
mod operation;
mod query;
mod reply;
mod rpc_error;
mod session;
#[cfg(test)]
mod tests;
mod xml;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Connect, Context, Result, Transport, ssh};
pub use capabilities::{Capabilities, Capability};
pub use change::{Change, Changed, Check};
pub use client::Client;
pub use operation::{
    Commit, Datastore, DefaultOperation, Edit, ErrorOption, Filter, Operation, TestOption,
};
pub use reply::Reply;
pub use rpc_error::RpcError;
pub use session::NetconfSession;
pub use xml::Element;

/// Opens NETCONF sessions.
#[derive(Debug)]
pub struct Netconf {
    schema: TransportSchema,
}

impl Netconf {
    /// For any device that speaks NETCONF.
    pub fn new() -> Self {
        let schema = TransportSchema::built_in(include_str!("schema.yaml")).on(&ssh::SCHEMA);
        Self { schema }
    }

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<NetconfSession> {
        NetconfSession::open(ctx, info).await
    }
}

impl Default for Netconf {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Netconf {
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
