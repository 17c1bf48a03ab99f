//! What a session at a command line can do beside what every session can.

use async_trait::async_trait;

use crate::{Context, Line, Result};

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
