//! `restconf`: devices with RESTCONF (RFC 8040): data that YANG models describe.

mod errors;
mod facts;
mod root;
mod session;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::http;
use crate::{Connect, Context, Result, Transport};
pub use session::RestconfSession;

/// Opens sessions with RESTCONF servers.
#[derive(Debug)]
pub struct Restconf {
    schema: TransportSchema,
}

impl Restconf {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        let own = TransportSchema::built_in(include_str!("schema.yaml"));
        Self {
            schema: own.on(&http::SCHEMA),
        }
    }
}

impl Default for Restconf {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Restconf {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(RestconfSession::open(ctx, info).await?))
    }
}
