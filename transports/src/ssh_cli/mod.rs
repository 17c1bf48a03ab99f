//! `ssh_cli`: devices whose only interface is a command line, over SSH, or over telnet if the
//! connection info says so.

mod carrier;
mod session;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock, OnceLock};

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::cli::dialect::Dialect;
use crate::ssh;
use crate::{Connect, Context, Result, Transport};
pub use session::SshCliSession;

/// The schema of every dialect's connection info.
static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")).on(&ssh::SCHEMA));

/// The factory for sessions with command lines of one dialect.
#[derive(Debug, Default)]
pub struct SshCli {
    /// Without one, that of unknown devices is made when it is needed.
    dialect: OnceLock<Arc<Dialect>>,
}

impl SshCli {
    /// Creates the factory for unknown devices. It only requires that they show a prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the factory for devices with this dialect.
    pub fn with_dialect(dialect: Dialect) -> Self {
        Self {
            dialect: OnceLock::from(Arc::new(dialect)),
        }
    }

    /// Opens a session as [`Connect::connect`] does, but returns its concrete type.
    ///
    /// # Errors
    /// Fails as [`Connect::connect`] does.
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<SshCliSession> {
        let dialect = self.dialect.get_or_init(|| Arc::new(Dialect::generic()));
        SshCliSession::open(ctx, info, Arc::clone(dialect)).await
    }
}

#[async_trait]
impl Connect for SshCli {
    fn schema(&self) -> &TransportSchema {
        &SCHEMA
    }

    fn name(&self) -> &str {
        "ssh_cli"
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
