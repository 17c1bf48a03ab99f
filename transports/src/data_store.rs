//! What a session that asks for and changes data can do beside what every session can.

use async_trait::async_trait;
use devgate_schemas::Value;

use crate::{Context, Result};

/// A session with data that is asked for and changed: REST, NETCONF, OVSDB, SNMP.
///
/// Found through [`Transport::data_store`](crate::Transport::data_store). It is what tasks use
/// (`devgate session get|set`); what a protocol can do beyond it is on its own session type.
#[async_trait]
pub trait DataStore: Send + Sync {
    /// Asks for what `what` names, in the words of the protocol: a path (REST), a subtree filter or
    /// an XPath (NETCONF), a table (OVSDB), an OID (SNMP).
    ///
    /// It only reads: if the connection is lost before the answer, it is asked again, within the
    /// context's patience.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) when the target says no, and otherwise why no
    /// complete answer came.
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document>;

    /// Asks for what may change the target: it is sent once, unless the protocol itself promises that
    /// a second time changes nothing more (HTTP's PUT and DELETE).
    ///
    /// # Errors
    /// As [`get`](Self::get); [`Error::Interrupted`](crate::Error::Interrupted) says that it is not
    /// known whether it took effect; [`Error::Unsupported`](crate::Error::Unsupported) before
    /// anything is sent, where the protocol has no such request.
    async fn set(&self, ctx: &Context<'_>, request: &Request) -> Result<Document>;
}

/// A request that may change a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What it is about, as for [`DataStore::get`]; may be empty where the body says it all.
    pub what: String,
    /// How: an HTTP method, a NETCONF default-operation, a JSON-RPC method. `None` is the
    /// protocol's usual one.
    pub method: Option<String>,
    /// What to set: text is sent as it is, everything else as JSON. It may hold secrets.
    pub body: Option<Value>,
}

/// What a target answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// JSON, or what reads like it.
    Data(Value),
    /// A text: XML, or something else that is no JSON.
    Text(String),
}
