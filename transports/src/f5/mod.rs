//! `f5`: BIG-IP of F5, by iControl REST.

mod session;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::http;
use crate::{Connect, Context, Result, Transport};
pub use session::F5Session;

/// Opens sessions with iControl REST.
#[derive(Debug)]
pub struct F5 {
    schema: TransportSchema,
}

impl F5 {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        let own = TransportSchema::built_in(include_str!("schema.yaml"));
        Self {
            schema: own.on(&http::SCHEMA),
        }
    }
}

impl Default for F5 {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for F5 {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(F5Session::open(ctx, info).await?))
    }
}
