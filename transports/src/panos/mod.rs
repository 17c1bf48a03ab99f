//! `panos`: firewalls of Palo Alto Networks, by their XML API.

mod answer;
mod commit;
mod session;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::http;
use crate::{Connect, Context, Result, Transport};
pub use session::PanosSession;

/// Opens sessions with the XML API.
#[derive(Debug)]
pub struct Panos {
    schema: TransportSchema,
}

impl Panos {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        let own = TransportSchema::built_in(include_str!("schema.yaml"));
        Self {
            schema: own.on(&http::SCHEMA),
        }
    }
}

impl Default for Panos {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Panos {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(PanosSession::open(ctx, info).await?))
    }
}
