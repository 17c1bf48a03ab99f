//! Transports: sessions with targets over each supported protocol, with retries. Knows nothing about devices.

mod attempts;
mod cli;
mod command_list;
pub mod dial;
mod document;
mod eapi;
mod environment;
pub mod error;
mod f5;
mod fact_rows;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod glob;
mod held;
mod hops;
mod http;
mod info;
mod line;
pub mod netconf;
mod nxapi;
mod output;
mod ovsdb;
mod panos;
mod pauses;
pub mod permissions;
mod protocol;
pub mod reading;
mod resolve;
mod rest;
mod restconf;
mod retry_budget;
mod rpc;
mod session;
mod snmp;
mod ssh;
mod ssh_cli;
mod ssh_config;
pub mod ssh_host;
mod tcp;
mod telnet;
mod terminal;
mod tls;
mod unix;
mod xml;

use std::sync::{Arc, OnceLock};

pub use attempts::Attempts;
pub use cli::commit::is_commit;
pub use cli::dialect::{self, Dialect};
pub use document::{DataRequest, Document, XML_TEXT};
pub use eapi::EapiSession;
pub use environment::Environment;
pub use error::{Error, Result};
pub use f5::F5Session;
pub use hops::hops;
pub use info::Hop;
pub use line::Line;
pub use netconf::NetconfSession;
pub use nxapi::NxapiSession;
pub use ovsdb::{Atomic, ColumnType, DatabaseSchema, OvsdbSession};
pub use panos::PanosSession;
pub use protocol::{Connect, Protocol, ProtocolSession};
pub use rest::RestSession;
pub use restconf::RestconfSession;
pub use retry_budget::RetryBudget;
pub use session::hosted_program;
pub use session::{
    AttributeChange, Block, ByteStream, Claim, CommandLine, Context, DataStore, Destination, Dial,
    Mode, Opening, ProxyConnection, ProxyLink, ResourceAction, ResourceFailure, Resources,
    Transport,
};
pub use snmp::SnmpSession;
pub use ssh_cli::{SshCli, SshCliSession};
pub use ssh_config::SshConfig;
pub use ssh_host::{HostSettings, SshHost};

/// Returns the bare protocols: the transports that reach a target without a device family.
pub fn all() -> &'static [Arc<dyn Connect>] {
    // Built once, because each family looks up its protocol here. Schemas are read when they are needed.
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
