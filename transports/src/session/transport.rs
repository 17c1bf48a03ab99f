//! The traits of sessions: common operations, command lines and datastores.

use std::any::Any;
use std::fmt::Debug;

use async_trait::async_trait;
use devgate_schemas::Facts;

use super::Context;
use crate::error::PendingCommit;
use crate::{DataRequest, Document, Error, Line, Result};

/// An open session with one target.
///
/// Resource API, "Transports", Implementation.
#[async_trait]
pub trait Transport: Any + Debug + Send + Sync {
    /// Checks that the target (still) answers.
    ///
    /// # Errors
    /// Fails with the reason when the retry budget is spent.
    async fn verify(&self, ctx: &Context<'_>) -> Result<()>;

    /// Reads the target's facts. Facts that cannot be read are absent and reported through the context.
    ///
    /// # Errors
    /// Fails when no fact could be read.
    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts>;

    /// Ends the session and frees its resources. This cannot fail.
    async fn close(self: Box<Self>, ctx: &Context<'_>);

    /// Returns why [`verify`](Self::verify) does not prove that the credentials are right, if it does not.
    /// The text completes the sentence "it can be reached; …".
    fn leaves_credentials_open(&self) -> Option<&'static str> {
        self.inner()?.leaves_credentials_open()
    }

    /// Returns the session that this one is built on, if any.
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    /// Returns the target's command line, if this session or an inner one provides it.
    fn command_line(&self) -> Option<&dyn CommandLine> {
        self.inner()?.command_line()
    }

    /// Returns the target's datastore, if this session or an inner one provides it.
    fn data_store(&self) -> Option<&dyn DataStore> {
        self.inner()?.data_store()
    }
}

/// What a device shows when a session opens, before any input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The text above the first prompt; may be empty.
    pub greeting: String,
    /// The prompt, including trailing blanks.
    pub prompt: String,
}

/// A session at a command line. It runs one command at a time.
///
/// It is found through [`Transport::command_line`](crate::Transport::command_line), so callers do not
/// need to know which protocol carries the commands.
#[async_trait]
pub trait CommandLine: Send + Sync {
    /// Runs a read-only command and returns its output without echo and prompt.
    ///
    /// If the connection is lost before the command ends, the command is sent again, within the
    /// context's retry budget.
    ///
    /// # Errors
    /// Fails with [`Error::CommandFailed`](crate::Error::CommandFailed) when the device reports an error,
    /// and with [`Error::ControlCharacter`](crate::Error::ControlCharacter) before anything is sent.
    /// Any other error says why no complete answer arrived, and carries the output so far
    /// ([`Error::partial_output`](crate::Error::partial_output)).
    async fn exec(&self, ctx: &Context<'_>, command: &str) -> Result<String>;

    /// Runs read-only commands that ask nothing, and returns the answer to each, as [`exec`](Self::exec) does. It ends
    /// with the first that is not answered. The commands may be typed before the answers to those before them have
    /// come.
    async fn exec_all(&self, ctx: &Context<'_>, commands: &[&str]) -> Vec<Result<String>> {
        let mut answers = Vec::with_capacity(commands.len());
        for command in commands {
            let answer = self.exec(ctx, command).await;
            let is_answered = matches!(answer, Ok(_) | Err(Error::CommandFailed { .. }));
            answers.push(answer);
            if !is_answered {
                break;
            }
        }
        answers
    }

    /// Runs a command that may change the device. It is sent only once.
    ///
    /// # Errors
    /// Fails as [`exec`](Self::exec) does.
    async fn exec_once(&self, ctx: &Context<'_>, command: &Line) -> Result<String>;

    /// Sends lines in configuration mode, each of them once. No line is sent after a refused one. On a device with
    /// a candidate configuration, all lines take effect, or none.
    ///
    /// # Errors
    /// Fails with [`Error::Configuration`](crate::Error::Configuration), which names the line and says
    /// what remains in effect. Before anything is sent, it can fail with
    /// [`Error::ControlCharacter`](crate::Error::ControlCharacter),
    /// [`Error::Unsupported`](crate::Error::Unsupported), or because the device cannot be reached.
    async fn configure(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<()>;

    /// Returns what the device says that lines would change, or `None` if it cannot tell. Nothing is changed.
    ///
    /// # Errors
    /// Fails as [`configure`](Self::configure) does.
    async fn preview(&self, _: &Context<'_>, _: &[Line]) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the commit, made by any session, that waits for its confirmation. What is read meanwhile may not last.
    /// Devices that do not tell have none.
    ///
    /// # Errors
    /// Fails as [`exec`](Self::exec) does.
    async fn pending_commit(&self, _: &Context<'_>) -> Result<Option<PendingCommit>> {
        Ok(None)
    }

    /// Waits, within the context's retry budget, until no commit waits for its confirmation.
    ///
    /// # Errors
    /// Fails with [`Error::RetryBudgetSpent`](crate::Error::RetryBudgetSpent) when one still does, otherwise as
    /// [`pending_commit`](Self::pending_commit) does.
    async fn await_settled(&self, ctx: &Context<'_>) -> Result<()> {
        let what = "find the configuration settled";
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        while let Some(pending) = self.pending_commit(ctx).await? {
            let error = Error::CommitPending(Box::new(pending));
            attempts.pause(error).await?;
        }
        Ok(())
    }

    /// Waits until the device has taken back a change that was not confirmed, if there is one. Until then,
    /// [`configure`](Self::configure) refuses to send anything.
    async fn await_rollback(&self, _: &Context<'_>) {}

    /// Saves the running configuration, so that it survives a restart.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`](crate::Error::Unsupported) when the dialect defines no way to
    /// save, otherwise as [`exec_once`](Self::exec_once) does.
    async fn save(&self, ctx: &Context<'_>) -> Result<()>;

    /// Returns what the device showed when the session opened, or `None` if there is nothing or it was lost.
    async fn opening(&self) -> Option<Opening> {
        None
    }
}

/// A session with a datastore that can be queried and changed: REST, NETCONF, OVSDB, SNMP.
///
/// It is found through [`Transport::data_store`](crate::Transport::data_store). Tasks use this trait
/// (`devgate session get|set`). Other operations of a protocol are methods of its session type.
#[async_trait]
pub trait DataStore: Send + Sync {
    /// Queries the data that `what` names, in the protocol's terms: a path (REST), a subtree filter or
    /// an XPath (NETCONF), a table (OVSDB), an OID (SNMP).
    ///
    /// The request only reads. If the connection is lost before the answer, it is sent again, within
    /// the context's retry budget.
    ///
    /// # Errors
    /// Fails with [`Error::Refused`](crate::Error::Refused) when the target refuses the request. Any
    /// other error says why no complete answer arrived.
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document>;

    /// Sends a request that may change the target. It is sent once, unless the protocol guarantees that
    /// a repetition changes nothing more (HTTP's PUT and DELETE).
    ///
    /// # Errors
    /// Fails as [`get`](Self::get) does. [`Error::Interrupted`](crate::Error::Interrupted) means that it
    /// is unknown whether the request took effect. Fails with
    /// [`Error::Unsupported`](crate::Error::Unsupported) before anything is sent when the protocol has no
    /// such request.
    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document>;

    /// Returns whether a refused request changes nothing at all, even if it asks for several changes.
    ///
    /// # Errors
    /// Fails when the target cannot be queried.
    async fn all_or_nothing(&self, _: &Context<'_>) -> Result<bool> {
        Ok(false)
    }
}
