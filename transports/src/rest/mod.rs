//! `rest`: REST and other APIs over HTTP, for devices of which no family tells more.

mod paging;
mod session;
mod settings;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Connect, Context, Result, Transport, http};
pub use session::RestSession;

/// Opens sessions with APIs over HTTP.
#[derive(Debug)]
pub struct Rest {
    schema: TransportSchema,
}

impl Rest {
    /// For any API.
    pub fn new() -> Self {
        let schema = TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA);
        Self { schema }
    }

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<RestSession> {
        RestSession::open(ctx, info).await
    }
}

impl Default for Rest {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Rest {
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
