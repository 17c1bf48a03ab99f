//! What every session can do, and what some can do beside it.

use std::any::Any;
use std::fmt::Debug;

use async_trait::async_trait;
use devgate_schemas::Facts;

use super::Context;
use crate::{Document, Line, Request, Result};

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

/// What a device shows when a session opens, before anything is typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// What stands above the first prompt; empty where nothing does.
    pub greeting: String,
    /// The prompt as it stands, with the blanks behind it.
    pub prompt: String,
}

/// A session at a command line; it takes one command at a time.
///
/// Found through [`Transport::command_line`](crate::Transport::command_line), so that nobody who
/// types commands needs to know by which protocol they travel.
#[async_trait]
pub trait CommandLine: Send + Sync {
    /// Runs a command that only reads, and gives its output without echo and prompt.
    ///
    /// If the connection is lost before its end, it is sent again, within the context's patience.
    ///
    /// # Errors
    /// [`Error::CommandFailed`](crate::Error::CommandFailed) when the device says so,
    /// [`Error::ControlCharacter`](crate::Error::ControlCharacter) before anything is sent, and
    /// otherwise why no complete answer came, with what had arrived
    /// ([`Error::partial_output`](crate::Error::partial_output)).
    async fn exec(&self, ctx: &Context<'_>, command: &str) -> Result<String>;

    /// Runs a command that may change the device: it is sent once.
    ///
    /// # Errors
    /// As [`exec`](Self::exec).
    async fn exec_once(&self, ctx: &Context<'_>, command: &Line) -> Result<String>;

    /// Types lines in configuration mode, each of them once; none is sent after one that is refused.
    ///
    /// # Errors
    /// [`Error::Configuration`](crate::Error::Configuration), naming the line and saying what
    /// stands; before anything is sent
    /// [`Error::ControlCharacter`](crate::Error::ControlCharacter),
    /// [`Error::Unsupported`](crate::Error::Unsupported), or why the device cannot be reached.
    async fn configure(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<()>;

    /// Saves the running configuration, so that it survives a restart.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) where nobody has said how, otherwise as
    /// [`exec_once`](Self::exec_once).
    async fn save(&self, ctx: &Context<'_>) -> Result<()>;

    /// What the device showed when the session opened; nothing where it is lost, or shows nothing.
    async fn opening(&self) -> Option<Opening> {
        None
    }
}

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

    /// Whether a request that is refused has changed nothing, however much it asks for.
    ///
    /// # Errors
    /// Why the target cannot be asked.
    async fn all_or_nothing(&self, _: &Context<'_>) -> Result<bool> {
        Ok(false)
    }
}
