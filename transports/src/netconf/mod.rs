//! `netconf`: devices that are configured with NETCONF (RFC 6241) over SSH (RFC 6242).

mod apply;
mod capabilities;
mod change;
mod client;
mod facts;
#[cfg(test)]
mod fake;
pub(crate) mod framing;
mod hello;
mod modules;
mod operation;
mod probation;
mod procedure;
mod query;
mod reply;
mod rpc;
mod rpc_error;
mod session;
#[cfg(test)]
mod tests;
mod transport;
mod xml;
mod xpath;

pub use capabilities::{Capabilities, Capability};
pub use change::{Change, Changed, Check};
pub use client::Client;
pub use operation::{
    Commit, Datastore, DefaultOperation, Edit, ErrorOption, Filter, Operation, TestOption,
};
pub use reply::Reply;
pub use rpc_error::RpcError;
pub use session::NetconfSession;
pub use xml::{Element, XmlError};
