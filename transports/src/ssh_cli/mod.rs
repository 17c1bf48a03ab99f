//! `ssh_cli`: devices whose only interface is a command line, over SSH; over telnet where that is
//! asked for.

mod carrier;
mod session;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::cli::dialect::Dialect;
use crate::ssh;
use crate::{Connect, Context, Result, Transport};
pub use session::SshCliSession;

/// Opens sessions with command lines of one dialect.
#[derive(Debug)]
pub struct SshCli {
    schema: TransportSchema,
    dialect: Arc<Dialect>,
}

impl SshCli {
    /// For devices of which nothing is known but that they show a prompt.
    pub fn new() -> Self {
        Self::with_dialect(Dialect::generic())
    }

    /// For devices that speak this dialect.
    pub fn with_dialect(dialect: Dialect) -> Self {
        let schema = TransportSchema::built_in(include_str!("schema.yaml")).on(&ssh::SCHEMA);
        Self {
            schema,
            dialect: Arc::new(dialect),
        }
    }

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<SshCliSession> {
        SshCliSession::open(ctx, info, Arc::clone(&self.dialect)).await
    }
}

impl Default for SshCli {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for SshCli {
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

    fn speaking(&self, dialect: Dialect) -> Option<Arc<dyn Connect>> {
        Some(Arc::new(Self::with_dialect(dialect)))
    }
}
