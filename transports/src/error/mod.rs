//! The errors between the gateway and a target, with one variant for each situation.

mod authentication;
mod causes;
mod change;
mod forwarding_refused;
mod host_key;
mod interrupted;
mod no_proxy;
mod partial_output;
mod phase;
mod program;
mod refused;
mod retry_budget_spent;
mod text;
mod tls;

use std::io;
use std::time::Duration;

use thiserror::Error;

pub use authentication::AuthenticationProblem;
pub(crate) use causes::causes;
pub use change::{
    CandidateInUse, ChangeOutcome, ConfigurationProblem, LinesEffect, PendingCommit, RefusedLine,
    UnconfirmedChange,
};
pub use forwarding_refused::{ForwardingObstacle, ForwardingRefused};
pub use host_key::HostKeyProblem;
pub use interrupted::{Interrupted, Interruption};
pub use no_proxy::{NoProxy, ProxyProblem};
pub use partial_output::PartialOutput;
pub use phase::Phase;
pub use program::ProgramProblem;
pub use refused::Refused;
pub use retry_budget_spent::RetryBudgetSpent;
use text::{before, describe_character, reason};
pub(crate) use text::{one_line, quoted_message, seconds};
pub use tls::{TlsProblem, Untrusted};

use crate::resolve::is_unanswered;

/// The result of an operation on a target.
pub type Result<T> = std::result::Result<T, Error>;

/// An error while a target is reached, queried or changed.
///
/// `peer` is always `host:port`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The protocol does not support the operation, or the open session is of another kind.
    #[error("{0}")]
    Unsupported(String),

    /// The connection info matches its schema but cannot be used, for example because of an unreadable key.
    #[error("{setting}: {problem}")]
    Setting {
        /// The setting's name.
        setting: &'static str,
        /// The problem and advice.
        problem: String,
    },

    /// The host name has no address.
    #[error("the name `{host}` cannot be resolved ({}): check `host`, or the name server", reason(.cause))]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
        cause: io::Error,
    },

    /// There is no TCP connection: refused, reset, no route.
    #[error("no connection to {peer} ({}): check `host` and `port`, and that it is up", reason(.cause))]
    Unreachable {
        /// The peer.
        peer: String,
        /// The system's error.
        cause: io::Error,
    },

    /// A jump host has no address, or there is no TCP connection to it.
    #[error("no connection to {peer}, a jump host ({}): check `proxyjump`, and that this host is up", reason(.cause))]
    JumpHostUnreachable {
        /// The jump host.
        peer: String,
        /// The error of the system or the resolver.
        cause: io::Error,
    },

    /// None of the proxies between this node and the target can be used.
    #[error("{0}")]
    NoProxy(NoProxy),

    /// A jump host does not connect to the target, or to the next jump host.
    #[error("{0}")]
    ForwardingRefused(Box<ForwardingRefused>),

    /// The target did not answer in time while a session was being opened.
    #[error("{peer} did not answer within {} s during {phase}{hint}", seconds(*.limit))]
    TimedOut {
        /// The peer.
        peer: String,
        /// The phase of opening.
        phase: Phase,
        /// The limit that was exceeded.
        limit: Duration,
        /// Possible causes and the setting to change. It is empty or begins with a separator.
        hint: String,
    },

    /// The connection ended while a session was being opened.
    #[error("{peer} closed the connection during {phase}{}{}", quoted_message(.message), hint(*.phase))]
    Closed {
        /// The peer.
        peer: String,
        /// The phase of opening.
        phase: Phase,
        /// The target's message, if any.
        message: String,
    },

    /// The peer speaks another protocol, or violates this one.
    #[error("{peer} does not speak {protocol} as it should, during {phase}: {problem}")]
    Protocol {
        /// The peer.
        peer: String,
        /// The expected protocol: `SSH`.
        protocol: &'static str,
        /// The phase of opening.
        phase: Phase,
        /// The problem.
        problem: String,
    },

    /// The two sides have no algorithm in common.
    #[error(
        "no common {kind} algorithm with {peer}: it offers {theirs}{}",
        legacy_advice(*.legacy)
    )]
    Negotiation {
        /// The peer.
        peer: String,
        /// The kind of algorithm.
        kind: String,
        /// The peer's algorithms.
        theirs: String,
        /// The setting that allows one of them with `legacy`; `None` if that would not help.
        legacy: Option<&'static str>,
    },

    /// The host key is not trusted.
    #[error("{0}")]
    HostKey(Box<HostKeyProblem>),

    /// There is no TLS with the target, or none that can be trusted.
    #[error("{0}")]
    Tls(Box<TlsProblem>),

    /// The target refuses the credentials.
    #[error("{0}")]
    Authentication(Box<AuthenticationProblem>),

    /// The login succeeded, but the target provides no terminal or subsystem.
    #[error("{peer} accepted the login but refuses a {what}{}", quoted_message(.message))]
    ChannelRefused {
        /// The peer.
        peer: String,
        /// The refused resource: a terminal, a subsystem.
        what: String,
        /// The target's message, if any.
        message: String,
        /// Whether it is only busy now.
        busy: bool,
    },

    /// The connection has reached the target's limit of sessions. Nothing was started.
    #[error(
        "{peer} allows no more sessions on this connection ({message}): raise its `MaxSessions`"
    )]
    NoMoreSessions {
        /// The peer.
        peer: String,
        /// The target's reason (RFC 4254, 5.1).
        message: String,
    },

    /// The connection ended while something ran over it. It is unknown whether that continues.
    #[error("the connection to {peer} was lost: {}", one_line(.why))]
    Lost {
        /// The peer.
        peer: String,
        /// How it ended.
        why: String,
    },

    /// A file could not be uploaded: it is missing on the target, or incomplete.
    #[error("cannot put `{path}` on {peer}: {problem}")]
    Upload {
        /// The peer.
        peer: String,
        /// The file's path on the target.
        path: String,
        /// The problem.
        problem: String,
    },

    /// Unread output exceeded the limit.
    #[error("{peer} sent more than {limit} bytes that nobody read: they were discarded")]
    Unread {
        /// The peer.
        peer: String,
        /// The limit in bytes.
        limit: usize,
    },

    /// A command, or the opening up to a prompt, did not complete.
    #[error("{0}")]
    Interrupted(Box<Interrupted>),

    /// The target reports that a command failed.
    #[error("{peer} refuses `{command}`: {}{hint}", before(hint, &one_line(.message)))]
    CommandFailed {
        /// The peer.
        peer: String,
        /// The command, with secrets redacted.
        command: String,
        /// The target's message, unchanged.
        message: String,
        /// What may help, to end the message with.
        hint: &'static str,
    },

    /// The target refuses a request, or reports that it failed.
    #[error("{0}")]
    Refused(Box<Refused>),

    /// Some configuration lines were refused or may not have arrived.
    #[error("{0}")]
    Configuration(Box<ConfigurationProblem>),

    /// The candidate configuration holds changes that were not made here.
    #[error("{0}")]
    CandidateInUse(Box<CandidateInUse>),

    /// A commit that somebody else has made may still be rolled back.
    #[error("{0}")]
    CommitPending(Box<PendingCommit>),

    /// A change was made, but its check failed.
    #[error("{0}")]
    UnconfirmedChange(Box<UnconfirmedChange>),

    /// Privileged mode was refused.
    #[error("{peer} does not allow privileged mode with `{command}`: {problem}")]
    Enable {
        /// The peer.
        peer: String,
        /// The command for it.
        command: String,
        /// The problem, and the setting to check.
        problem: String,
    },

    /// A text to be typed contains a character that a terminal would interpret, or U+FFFD, which stands for bytes
    /// that are lost.
    #[error("{what} holds {}: nothing was sent", describe_character(*character))]
    ControlCharacter {
        /// The text that contains it.
        what: String,
        /// The first such character.
        character: char,
    },

    /// The program that implements the transport or manages the resources failed.
    #[error("{0}")]
    Program(Box<ProgramProblem>),

    /// The run's retry budget for this target is spent.
    #[error("{0}")]
    RetryBudgetSpent(Box<RetryBudgetSpent>),
}

impl Error {
    /// Returns whether the same request may succeed later. All other errors are permanent.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { cause, .. } => is_temporary(cause),
            Self::Resolve { cause, .. } => is_unanswered(cause),
            Self::JumpHostUnreachable { cause, .. } => is_temporary(cause) || is_unanswered(cause),
            Self::ForwardingRefused(problem) => problem.is_temporary(),
            Self::TimedOut { phase, .. } => {
                matches!(phase, Phase::Connection | Phase::KeyExchange | Phase::Tls)
            }
            // A password has been sent by then. Sending it repeatedly may lock the account.
            Self::Closed { phase, .. } => *phase != Phase::Enable,
            Self::ChannelRefused { busy, .. } => *busy,
            Self::Interrupted(interrupted) => interrupted.why.is_lost() && !interrupted.changing,
            Self::Refused(refused) => refused.busy,
            Self::CommitPending(_) => true,
            Self::NoMoreSessions { .. }
            | Self::Lost { .. }
            | Self::Unread { .. }
            | Self::Upload { .. }
            | Self::NoProxy(_)
            | Self::Unsupported(_)
            | Self::Setting { .. }
            | Self::Protocol { .. }
            | Self::Negotiation { .. }
            | Self::HostKey(_)
            | Self::Tls(_)
            | Self::Authentication(_)
            | Self::CommandFailed { .. }
            | Self::Configuration(_)
            | Self::CandidateInUse(_)
            | Self::UnconfirmedChange(_)
            | Self::Enable { .. }
            | Self::ControlCharacter { .. }
            | Self::Program(_)
            | Self::RetryBudgetSpent(_) => false,
        }
    }

    /// Returns the incomplete answer that had arrived before an interruption.
    pub fn partial_output(&self) -> Option<&str> {
        match self {
            Self::Interrupted(interrupted) => Some(interrupted.partial.text()),
            Self::RetryBudgetSpent(spent) => spent.last_error.as_ref()?.partial_output(),
            Self::Configuration(problem) => problem.interrupted.as_ref()?.partial_output(),
            _ => None,
        }
    }
}

/// Returns a possible cause for a connection that ended in this phase.
fn hint(phase: Phase) -> &'static str {
    match phase {
        Phase::Tls => ": check `port` and `protocol`, TLS may not be spoken there",
        _ => "",
    }
}

fn legacy_advice(setting: Option<&str>) -> String {
    setting.map_or_else(
        || "; none of these may be used: docs/ssh.md says which can be".to_owned(),
        |setting| format!("; `{setting}: legacy` allows one of these, weak as it is"),
    )
}

/// Returns whether the system's error is of a kind that a restarting device causes.
fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::TimedOut
            | io::ErrorKind::NotConnected
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    )
}
