//! `eapi`: switches with Arista's EOS, whose command line is behind JSON-RPC over HTTP.

mod call;
mod session;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::http;
use crate::{Connect, Context, Result, Transport};
pub use session::EapiSession;

/// Opens sessions with eAPI.
#[derive(Debug)]
pub struct Eapi {
    schema: TransportSchema,
}

impl Eapi {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        let own = TransportSchema::built_in(include_str!("schema.yaml"));
        Self {
            schema: own.on(&http::SCHEMA),
        }
    }
}

impl Default for Eapi {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Eapi {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(EapiSession::open(ctx, info).await?))
    }
}
