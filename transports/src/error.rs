//! What can go wrong between the gateway and a target: one variant per situation.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

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
    #[error("{peer} closed the connection during {phase}{}", saying(.said))]
    Closed {
        /// Whom.
        peer: String,
        /// Where the opening stood.
        phase: Phase,
        /// What the target said, if anything.
        said: String,
    },

    /// The peer speaks another protocol, or breaks this one.
    #[error("{peer} does not speak SSH as it should, during {phase}: {problem}")]
    Protocol {
        /// Whom.
        peer: String,
        /// Where the opening stood.
        phase: Phase,
        /// What was wrong.
        problem: String,
    },

    /// Both sides have no algorithm in common.
    #[error(
        "no common {kind} algorithm with {peer}: it offers {theirs}{}",
        if *.legacy_helps { "; `legacy_algorithms: true` allows one of these, weak as it is" } else { "" }
    )]
    Negotiation {
        /// Whom.
        peer: String,
        /// What kind of algorithm.
        kind: String,
        /// What the peer offers.
        theirs: String,
        /// Whether one of them is among those that `legacy_algorithms` allows.
        legacy_helps: bool,
    },

    /// The host's key is not to be trusted.
    #[error("{0}")]
    HostKey(Box<HostKeyProblem>),

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

    /// Some lines of configuration were refused or may not have arrived.
    #[error("{0}")]
    Configuration(Box<ConfigurationProblem>),

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

    /// A text that would be typed holds a character that a terminal acts upon.
    #[error("{what} holds the control character {character:?}: nothing was sent")]
    ControlCharacter {
        /// Which text.
        what: String,
        /// The first such character.
        character: char,
    },

    /// The run has waited for this target as long as it may.
    #[error("{0}")]
    PatienceSpent(Box<PatienceSpent>),
}

/// How far the opening of a session had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The TCP connection.
    Connection,
    /// SSH's version exchange and key exchange.
    KeyExchange,
    /// The login.
    Authentication,
    /// The request for a terminal or a subsystem.
    Channel,
    /// The wait for the first prompt.
    Prompt,
    /// The way to privileged mode.
    Enable,
}

/// Why a host's key was not accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostKeyProblem {
    /// No file knows the host.
    #[error(
        "the host key of {peer} is not known: {algorithm} {fingerprint}; if it is the right one, \
         add this line to {}:\n{line}\nor set `trust_on_first_use: true` (remembers the first \
         key) or `verify_hosts: false` (accepts any key)", file.display()
    )]
    Unknown {
        /// Whom.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The line that would make it known.
        line: String,
        /// The file for the line.
        file: PathBuf,
    },
    /// A file has another key of this host.
    #[error(
        "the host key of {peer} has changed: it shows {algorithm} {fingerprint}, but {}:{line} \
         has {known}; someone may be in between, or the device was replaced: if so, remove that \
         line", file.display()
    )]
    Changed {
        /// Whom.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The fingerprint on record.
        known: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
    },
    /// A file says that this key must not be used any more.
    #[error("the host key of {peer} ({fingerprint}) is revoked at {}:{line}", file.display())]
    Revoked {
        /// Whom.
        peer: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
    },
    /// The host is recorded only by an authority that signs host certificates.
    #[error(
        "{} trusts {peer} only through a certificate authority (line {line}), which is not \
         supported: add the host's own key:\n{entry}", file.display()
    )]
    OnlyAuthority {
        /// Whom.
        peer: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
        /// The line that would make the host's own key known.
        entry: String,
    },
    /// The file of known hosts cannot be read or written.
    #[error("cannot {what} the known hosts in {}: {cause}", file.display())]
    File {
        /// Read, write.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
}

/// Why a login was refused.
#[derive(Debug, Error)]
#[error("{peer} refuses the login of `{user}` ({tried}){}{}{}", offers(.offered), saying(.said), next_step(.next))]
pub struct AuthenticationProblem {
    /// Whom.
    pub peer: String,
    /// Whose login.
    pub user: String,
    /// What was tried.
    pub tried: String,
    /// The methods that the target offers.
    pub offered: Vec<&'static str>,
    /// What the target said, if anything.
    pub said: String,
    /// What to do next.
    pub next: String,
}

/// What stood between a command and its end.
#[derive(Debug)]
pub struct Interrupted {
    /// Whom.
    pub peer: String,
    /// What was asked; secrets in it are redacted.
    pub doing: String,
    /// What happened.
    pub why: Interruption,
    /// What had arrived until then: not the whole answer.
    pub partial: String,
}

/// How a command was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interruption {
    /// The connection ended.
    Lost,
    /// No byte came for so long.
    Silent(Duration),
    /// It took longer than it may in all.
    TooLong(Duration),
    /// More bytes came than it may have.
    TooMuch(usize),
    /// The device asks what it was answered already, or what nobody can answer.
    Asked(String),
    /// Question and answer no longer fit together.
    OutOfStep(&'static str),
    /// The session was given up by an earlier doubt.
    Broken,
}

/// What became of a configuration that was not applied in full.
#[derive(Debug)]
pub struct ConfigurationProblem {
    /// Whom.
    pub peer: String,
    /// The line that the target refused, if it did. No line was sent after it.
    pub refused: Option<RefusedLine>,
    /// How many lines were sent, a refused one among them.
    pub sent: usize,
    /// How many there were.
    pub of: usize,
    /// Why it ended otherwise, if it did; the last line sent is then perhaps without effect.
    pub interrupted: Option<Box<Error>>,
}

/// A line of configuration that the target refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLine {
    /// Its place, from 1.
    pub number: usize,
    /// The line; secrets in it are redacted.
    pub line: String,
    /// What the target said; secrets in it are redacted.
    pub said: String,
}

/// How long a run has waited for a target in vain.
#[derive(Debug, Error)]
#[error("gave up to {what} after {tries} {} and {} s of waiting: {last}", if *.tries == 1 { "try" } else { "tries" }, seconds(*.waited))]
pub struct PatienceSpent {
    /// What was tried.
    pub what: String,
    /// How often.
    pub tries: u32,
    /// How long this run waited in all.
    pub waited: Duration,
    /// What the last try ended with.
    pub last: String,
    /// The last error itself, if there was one.
    pub last_error: Option<Box<Error>>,
}

impl Error {
    /// Whether the same request may succeed a little later. What is not named here is permanent.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { cause, .. } => is_passing(cause),
            Self::TimedOut { phase, .. } => {
                matches!(phase, Phase::Connection | Phase::KeyExchange)
            }
            Self::Closed { .. } => true,
            Self::ChannelRefused { busy, .. } => *busy,
            Self::Interrupted(interrupted) => interrupted.why == Interruption::Lost,
            Self::Unsupported(_)
            | Self::Setting { .. }
            | Self::Resolve { .. }
            | Self::Protocol { .. }
            | Self::Negotiation { .. }
            | Self::HostKey(_)
            | Self::Authentication(_)
            | Self::CommandFailed { .. }
            | Self::Configuration(_)
            | Self::Enable { .. }
            | Self::ControlCharacter { .. }
            | Self::PatienceSpent(_) => false,
        }
    }

    /// What had arrived of an answer when it was interrupted: never the whole of it.
    pub fn partial_output(&self) -> Option<&str> {
        match self {
            Self::Interrupted(interrupted) => Some(&interrupted.partial),
            Self::PatienceSpent(spent) => spent.last_error.as_ref()?.partial_output(),
            Self::Configuration(problem) => problem.interrupted.as_ref()?.partial_output(),
            _ => None,
        }
    }
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
            Self::Authentication => "authentication",
            Self::Channel => "channel request",
            Self::Prompt => "the wait for a prompt",
            Self::Enable => "the change to privileged mode",
        })
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            doing,
            why,
            partial,
        } = self;
        match why {
            Interruption::Lost => write!(f, "{peer} closed the connection during {doing}")?,
            Interruption::Silent(idle) => write!(
                f,
                "{peer} sent nothing for {} s during {doing} (`idle_timeout`): the end of its \
                 answer was not seen",
                seconds(*idle)
            )?,
            Interruption::TooLong(limit) => write!(
                f,
                "{peer} did not end within {} s: {doing} (`command_timeout`)",
                seconds(*limit)
            )?,
            Interruption::TooMuch(limit) => {
                write!(f, "{peer} sent more than {limit} bytes during {doing}")?;
            }
            Interruption::Asked(question) => {
                write!(f, "{peer} asks `{}` during {doing}", shortened(question))?;
            }
            Interruption::OutOfStep(what) => write!(
                f,
                "{peer} and the gateway are out of step during {doing}: {what}; the session was \
                 given up so that no answer is taken for another's"
            )?,
            Interruption::Broken => {
                return write!(
                    f,
                    "the session with {peer} was given up earlier: {doing} was not sent"
                );
            }
        }
        match partial.trim().lines().last() {
            None => write!(f, "; no output arrived"),
            Some(last) => write!(
                f,
                "; partial output of {} bytes, its last line: `{}`",
                partial.len(),
                shortened(last)
            ),
        }
    }
}

impl std::error::Error for Interrupted {}

impl fmt::Display for ConfigurationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            refused,
            sent,
            of,
            interrupted,
        } = self;
        if let Some(RefusedLine { number, line, said }) = refused {
            write!(
                f,
                "{peer} refuses line {number} of {of}, `{line}`: {}; ",
                one_line(said)
            )?;
        }
        if let Some(error) = interrupted {
            write!(f, "{error}; ")?;
        }
        match (refused, interrupted, sent) {
            (_, _, 0) => write!(
                f,
                "none of {of} lines was sent: the configuration is unchanged"
            ),
            (Some(_), None, 1) => write!(f, "no other line was sent"),
            (Some(_), None, sent) => {
                write!(
                    f,
                    "the lines before it stand ({} of {of}), no other was sent",
                    sent - 1
                )
            }
            (_, _, sent) => write!(
                f,
                "{sent} of {of} lines were sent, the last of them perhaps without effect; they \
                 are not sent again: read the configuration back to see what stands"
            ),
        }
    }
}

impl std::error::Error for ConfigurationProblem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.interrupted.as_deref().map(|error| error as _)
    }
}

fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10.0).round() / 10.0
}

fn reason(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn saying(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!(", saying `{}`", one_line(text))
    }
}

fn next_step(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

fn offers(methods: &[&'static str]) -> String {
    if methods.is_empty() {
        String::new()
    } else {
        format!("; it offers {}", methods.join(", "))
    }
}

/// A peer's text on one line, and short enough for a message.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    shortened(&lines.join(" / "))
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 400;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
