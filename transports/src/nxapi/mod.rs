//! `nxapi`: switches with Cisco's NX-OS, whose command line is behind HTTP.

mod message;
mod session;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::http;
use crate::{Connect, Context, Result, Transport};
pub use session::NxapiSession;

/// Opens sessions with NX-API.
#[derive(Debug)]
pub struct Nxapi {
    schema: TransportSchema,
}

impl Nxapi {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        let own = TransportSchema::built_in(include_str!("schema.yaml"));
        Self {
            schema: own.on(&http::SCHEMA),
        }
    }
}

impl Default for Nxapi {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Nxapi {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(NxapiSession::open(ctx, info).await?))
    }
}
