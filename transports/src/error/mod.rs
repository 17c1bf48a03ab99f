//! What can go wrong between the gateway and a target: one variant per situation.

mod authentication;
mod causes;
mod change;
mod host_key;
mod interrupted;
mod not_led_on;
mod program;
mod refused;
mod retry_budget_spent;
mod text;
mod tls;

use std::fmt;
use std::io;
use std::time::Duration;

use thiserror::Error;

pub use authentication::AuthenticationProblem;
pub(crate) use causes::causes;
pub use change::{Aftermath, ConfigurationProblem, RefusedLine, Unconfirmed};
pub use host_key::HostKeyProblem;
pub use interrupted::{Interrupted, Interruption};
pub use not_led_on::{NotLedOn, Obstacle};
pub use program::ProgramProblem;
pub use refused::Refused;
pub use retry_budget_spent::RetryBudgetSpent;
use text::reason;
pub(crate) use text::{one_line, saying, seconds};
pub use tls::{TlsProblem, Untrusted};

use crate::resolve::is_unanswered;

/// The result of asking a target for something.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a target could not be reached, asked or changed.
///
/// `peer` is always `host:port`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The protocol has no such ability, or the open session is of another kind.
    #[error("{0}")]
    Unsupported(String),

    /// The connection info fits its schema but cannot be used: a key that cannot be read.
    #[error("{setting}: {problem}")]
    Setting {
        /// The setting's name.
        setting: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },

    /// The host's name has no address.
    #[error("the name `{host}` cannot be resolved ({}): check `host`, or the name server", reason(.cause))]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver says.
        cause: io::Error,
    },

    /// No TCP connection: refused, reset, no route.
    #[error("no connection to {peer} ({}): check `host` and `port`, and that the device is up", reason(.cause))]
    Unreachable {
        /// Whom.
        peer: String,
        /// What the system says.
        cause: io::Error,
    },

    /// A host on the way to the target has no address, or there is no TCP connection to it.
    #[error("no connection to {peer}, a host on the way ({}): check `proxyjump`, and that this host is up", reason(.cause))]
    OnTheWay {
        /// The host on the way.
        peer: String,
        /// What the system or the resolver says.
        cause: io::Error,
    },

    /// A host on the way does not lead on to the target, or to the next host on the way.
    #[error("{0}")]
    NotLedOn(Box<NotLedOn>),

    /// The target did not answer in time while a session was being opened.
    #[error("{peer} did not answer within {} s during {phase}{hint}", seconds(*.limit))]
    TimedOut {
        /// Whom.
        peer: String,
        /// Where the opening stood.
        phase: Phase,
        /// The limit that passed.
        limit: Duration,
        /// What it may mean, and the setting to change; empty, or begins with a separator.
        hint: String,
    },

    /// The connection ended while a session was being opened.
    #[error("{peer} closed the connection during {phase}{}{}", saying(.said), hint(*.phase))]
    Closed {
        /// Whom.
        peer: String,
        /// Where the opening stood.
        phase: Phase,
        /// What the target said, if anything.
        said: String,
    },

    /// The peer speaks another protocol, or breaks this one.
    #[error("{peer} does not speak {protocol} as it should, during {phase}: {problem}")]
    Protocol {
        /// Whom.
        peer: String,
        /// What is spoken with it: `SSH`.
        protocol: &'static str,
        /// Where the opening stood.
        phase: Phase,
        /// What was wrong.
        problem: String,
    },

    /// Both sides have no algorithm in common.
    #[error(
        "no common {kind} algorithm with {peer}: it offers {theirs}{}",
        legacy_helps(*.legacy)
    )]
    Negotiation {
        /// Whom.
        peer: String,
        /// What kind of algorithm.
        kind: String,
        /// What the peer offers.
        theirs: String,
        /// The setting that, as `legacy`, allows one of them; `None` where that would not help.
        legacy: Option<&'static str>,
    },

    /// The host's key is not to be trusted.
    #[error("{0}")]
    HostKey(Box<HostKeyProblem>),

    /// There is no TLS with the target, or none that can be trusted.
    #[error("{0}")]
    Tls(Box<TlsProblem>),

    /// The target refuses the credentials.
    #[error("{0}")]
    Authentication(Box<AuthenticationProblem>),

    /// Logged in, but the target gives no terminal or subsystem.
    #[error("{peer} accepted the login but refuses a {what}{}", saying(.said))]
    ChannelRefused {
        /// Whom.
        peer: String,
        /// A terminal, a subsystem.
        what: String,
        /// What the target said, if anything.
        said: String,
        /// Whether it only lacks a free line just now.
        busy: bool,
    },

    /// The connection carries as many sessions as the target allows on one; nothing was started.
    #[error("{peer} allows no more sessions on this connection ({said})")]
    NoMoreSessions {
        /// Whom.
        peer: String,
        /// The reason that the target gives (RFC 4254, 5.1).
        said: String,
    },

    /// The connection ended while something ran over it: whether that goes on is not known.
    #[error("the connection to {peer} was lost: {}", one_line(.why))]
    Lost {
        /// Whom.
        peer: String,
        /// How it ended.
        why: String,
    },

    /// A file could not be put on the target: it is not there, or not whole.
    #[error("cannot put `{path}` on {peer}: {problem}")]
    Upload {
        /// Whom.
        peer: String,
        /// The file's path on the target.
        path: String,
        /// What went wrong.
        problem: String,
    },

    /// Output was left unread until it was too much to keep.
    #[error("{peer} sent more than {limit} bytes that nobody read: they were discarded")]
    RawConnectionInfo {
        /// Whom.
        peer: String,
        /// How much is kept.
        limit: usize,
    },

    /// A command, or the way to a prompt, did not come to its end.
    #[error("{0}")]
    Interrupted(Box<Interrupted>),

    /// The target says that a command failed.
    #[error("{peer} refuses `{command}`: {}", one_line(.said))]
    CommandFailed {
        /// Whom.
        peer: String,
        /// The command; secrets in it are redacted.
        command: String,
        /// What the target said, as it said it.
        said: String,
    },

    /// The target says no to a request, or that it failed.
    #[error("{0}")]
    Refused(Box<Refused>),

    /// Some lines of configuration were refused or may not have arrived.
    #[error("{0}")]
    Configuration(Box<ConfigurationProblem>),

    /// A change was made, but did not stand the check behind it.
    #[error("{0}")]
    Unconfirmed(Box<Unconfirmed>),

    /// Privileged mode was refused.
    #[error("{peer} does not allow privileged mode with `{command}`: {problem}")]
    Enable {
        /// Whom.
        peer: String,
        /// The command that asks for it.
        command: String,
        /// What was wrong, and which setting to check.
        problem: String,
    },

    /// A text that would be typed holds a character that a terminal acts upon, or U+FFFD, which stands for bytes
    /// that nobody knows any more.
    #[error("{what} holds {}: nothing was sent", named(*character))]
    ControlCharacter {
        /// Which text.
        what: String,
        /// The first such character.
        character: char,
    },

    /// The program that stands for the transport, or manages the resources, failed.
    #[error("{0}")]
    Program(Box<ProgramProblem>),

    /// The run has waited for this target as long as it may.
    #[error("{0}")]
    RetryBudgetSpent(Box<RetryBudgetSpent>),
}

/// How far the opening of a session had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The TCP connection.
    Connection,
    /// SSH's version exchange and key exchange.
    KeyExchange,
    /// TLS's handshake.
    Tls,
    /// The login.
    Authentication,
    /// The exchange of what both sides are capable of.
    Hello,
    /// A request, after the session was opened.
    Request,
    /// The request for a terminal or a subsystem.
    Channel,
    /// The wait for the first prompt.
    Prompt,
    /// The way to privileged mode.
    Enable,
}

fn named(character: char) -> String {
    match character {
        char::REPLACEMENT_CHARACTER => {
            "U+FFFD, which replaces bytes of the device that are not UTF-8".to_owned()
        }
        control => format!("the control character {control:?}"),
    }
}

impl Error {
    /// Whether the same request may succeed a little later. What is not named here is permanent.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { cause, .. } => is_passing(cause),
            Self::Resolve { cause, .. } => is_unanswered(cause),
            Self::OnTheWay { cause, .. } => is_passing(cause) || is_unanswered(cause),
            Self::NotLedOn(problem) => problem.is_passing(),
            Self::TimedOut { phase, .. } => {
                matches!(phase, Phase::Connection | Phase::KeyExchange | Phase::Tls)
            }
            // A password was sent by then; sending it again and again may lock the account.
            Self::Closed { phase, .. } => *phase != Phase::Enable,
            Self::ChannelRefused { busy, .. } => *busy,
            Self::Interrupted(interrupted) => interrupted.why.is_lost() && !interrupted.changing,
            Self::Refused(refused) => refused.busy,
            Self::NoMoreSessions { .. }
            | Self::Lost { .. }
            | Self::RawConnectionInfo { .. }
            | Self::Upload { .. }
            | Self::Unsupported(_)
            | Self::Setting { .. }
            | Self::Protocol { .. }
            | Self::Negotiation { .. }
            | Self::HostKey(_)
            | Self::Tls(_)
            | Self::Authentication(_)
            | Self::CommandFailed { .. }
            | Self::Configuration(_)
            | Self::Unconfirmed(_)
            | Self::Enable { .. }
            | Self::ControlCharacter { .. }
            | Self::Program(_)
            | Self::RetryBudgetSpent(_) => false,
        }
    }

    /// What had arrived of an answer when it was interrupted: never the whole of it.
    pub fn partial_output(&self) -> Option<&str> {
        match self {
            Self::Interrupted(interrupted) => Some(&interrupted.partial),
            Self::RetryBudgetSpent(spent) => spent.last_error.as_ref()?.partial_output(),
            Self::Configuration(problem) => problem.interrupted.as_ref()?.partial_output(),
            _ => None,
        }
    }
}

/// What a connection that ended there may mean.
fn hint(phase: Phase) -> &'static str {
    match phase {
        Phase::Tls => ": check `port` and `protocol`, TLS may not be spoken there",
        _ => "",
    }
}

fn legacy_helps(setting: Option<&str>) -> String {
    setting.map_or_else(
        || "; none of these may be used: docs/ssh.md says which can be".to_owned(),
        |setting| format!("; `{setting}: legacy` allows one of these, weak as it is"),
    )
}

/// Whether the system's error is of the kind that a restarting device causes.
fn is_passing(error: &io::Error) -> bool {
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

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "connection",
            Self::KeyExchange => "key exchange",
            Self::Tls => "the TLS handshake",
            Self::Authentication => "authentication",
            Self::Hello => "the exchange of capabilities",
            Self::Request => "a request",
            Self::Channel => "channel request",
            Self::Prompt => "the wait for a prompt",
            Self::Enable => "the change to privileged mode",
        })
    }
}
