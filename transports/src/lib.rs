//! How targets are reached: connect, verify, facts, close; retries, sessions, protocols. Knows no
//! device.

mod cli;
mod command_line;
mod command_list;
mod context;
mod data_store;
mod eapi;
mod environment;
pub mod error;
mod f5;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod glob;
mod held;
mod http;
mod info;
mod moment;
pub mod netconf;
mod nxapi;
mod ovsdb;
mod panos;
pub mod permissions;
mod protocol;
pub mod reading;
mod resolve;
mod rest;
mod restconf;
mod retry_budget;
mod rpc;
mod snmp;
mod ssh;
mod ssh_cli;
mod ssh_config;
pub mod ssh_host;
mod tcp;
mod telnet;
mod tls;
mod told;
mod xml;

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema};

pub use cli::Line;
pub use cli::commit::is_commit;
pub use cli::dialect::{self, Dialect};
pub use command_line::{CommandLine, Opening};
pub use context::{AttributeChange, Block, Context, Doing, Failure, Mode, Resources};
pub use data_store::{DataStore, Document, Request, XML_TEXT};
pub use eapi::EapiSession;
pub use environment::Environment;
pub use error::{Error, Result};
pub use f5::F5Session;
pub use netconf::NetconfSession;
pub use nxapi::NxapiSession;
pub use ovsdb::{Atomic, ColumnType, DatabaseSchema, OvsdbSession};
pub use panos::PanosSession;
pub use protocol::{Protocol, Session};
pub use rest::RestSession;
pub use restconf::RestconfSession;
pub use retry_budget::{Attempts, RetryBudget};
pub use snmp::SnmpSession;
pub use ssh_cli::{SshCli, SshCliSession};
pub use ssh_config::SshConfig;
pub use ssh_host::{HostSettings, SshHost};

/// The bare protocols, by which a target can be reached without a family.
pub fn all() -> &'static [Arc<dyn Connect>] {
    // Their schemas are read once: each family looks for its protocol here.
    static ALL: OnceLock<Vec<Arc<dyn Connect>>> = OnceLock::new();
    ALL.get_or_init(|| {
        vec![
            Arc::new(SshCli::new()),
            Arc::new(Protocol::<NetconfSession>::new()),
            Arc::new(Protocol::<EapiSession>::new()),
            Arc::new(Protocol::<F5Session>::new()),
            Arc::new(Protocol::<NxapiSession>::new()),
            Arc::new(Protocol::<OvsdbSession>::new()),
            Arc::new(Protocol::<PanosSession>::new()),
            Arc::new(Protocol::<RestSession>::new()),
            Arc::new(Protocol::<RestconfSession>::new()),
            Arc::new(Protocol::<SnmpSession>::new()),
        ]
    })
}

/// Opens sessions of one kind: the factory, which lives as long as the process.
///
/// Resource API, "Transports".
#[async_trait]
pub trait Connect: Debug + Send + Sync {
    /// What its `connection_info` may hold; its name is the transport's.
    fn schema(&self) -> &TransportSchema;

    /// Opens a session that is ready for requests, retrying within the context's patience.
    ///
    /// # Errors
    /// Why the target cannot be reached or refuses the credentials.
    async fn connect(&self, ctx: &Context<'_>, info: &ConnectionInfo)
    -> Result<Box<dyn Transport>>;

    /// The same protocol for devices whose command line speaks this dialect; nothing where it has
    /// no command line to speak at.
    fn speaking(&self, _: Dialect) -> Option<Arc<dyn Connect>> {
        None
    }
}

/// An open session with one target.
///
/// Resource API, "Transports", Implementation.
#[async_trait]
pub trait Transport: Any + Debug + Send + Sync {
    /// Tests that the target (still) answers.
    ///
    /// # Errors
    /// Why it does not, once patience is spent.
    async fn verify(&self, ctx: &Context<'_>) -> Result<()>;

    /// What the target tells of itself; a fact that could not be read is absent, and told.
    ///
    /// # Errors
    /// Why nothing could be read.
    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts>;

    /// Ends the session and frees what it holds. It cannot fail.
    async fn close(self: Box<Self>, ctx: &Context<'_>);

    /// Why [`verify`](Self::verify) does not tell whether the credentials are right, where it does not: as
    /// words behind "it can be reached;".
    fn leaves_credentials_open(&self) -> Option<&'static str> {
        self.inner()?.leaves_credentials_open()
    }

    /// The session that this one is built on, where it adds to another.
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    /// The target's command line, where the session or the one it is built on is at one.
    fn command_line(&self) -> Option<&dyn CommandLine> {
        self.inner()?.command_line()
    }

    /// The target's data, where the session or the one it is built on asks for and changes data.
    fn data_store(&self) -> Option<&dyn DataStore> {
        self.inner()?.data_store()
    }
}
