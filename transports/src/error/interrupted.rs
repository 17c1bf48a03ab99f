//! The error for a command that did not complete.

use std::fmt;
use std::time::Duration;

use super::partial_output::PartialOutput;
use super::text::{quoted, seconds};

/// A command that did not complete.
#[derive(Debug)]
pub struct Interrupted {
    /// The peer.
    pub peer: String,
    /// The command, with secrets redacted.
    pub operation: String,
    /// Whether it may have changed the target.
    pub changing: bool,
    /// The reason.
    pub why: Interruption,
    /// The incomplete answer so far.
    pub partial: PartialOutput,
}

/// Why a command was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interruption {
    /// The connection ended.
    Lost,
    /// Sent data stayed unacknowledged for this time, and the connection was given up.
    Unacknowledged(Duration),
    /// No data arrived for this time.
    Silent(Duration),
    /// It took longer than this limit in total.
    TooLong(Duration),
    /// The answer exceeds this number of bytes.
    TooMuch(usize),
    /// The parts around the answer exceed a limit in size or number.
    TooMuchOf(&'static str),
    /// The answer exceeds this number of values, which take far more memory than their bytes.
    TooManyValues(usize),
    /// The answers of all targets together exceed the bytes that this process may hold.
    TooMuchAtOnce(usize),
    /// The device repeats a question that was answered, or asks one that cannot be answered.
    Asked(String),
    /// The device asks a question for which no answer was given.
    Unanswered(String),
    /// The device asked this during a probe for its prompt, so the probe may have answered it.
    PerhapsAnswered(String),
    /// The device is in configuration mode, where commands are configuration.
    Configuring,
    /// Requests and answers are out of step.
    OutOfStep(&'static str),
    /// The session was abandoned after an earlier doubt.
    Broken,
}

impl Interruption {
    /// Returns whether the reason is the end of the connection, and nothing else.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost | Self::Unacknowledged(_))
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            operation,
            changing,
            why,
            partial,
        } = self;
        match why {
            Interruption::Lost => write!(f, "{peer} closed the connection during {operation}")?,
            Interruption::Unacknowledged(time) => write!(
                f,
                "{peer} did not acknowledge for {} s what was sent to it during {operation}: the connection is broken, or \
                 loses long packets (MTU)",
                seconds(*time)
            )?,
            Interruption::Silent(idle) => write!(
                f,
                "{peer} sent nothing for {} s during {operation} (`idle_timeout`): the end of its \
                 answer was not seen",
                seconds(*idle)
            )?,
            Interruption::TooLong(limit) => write!(
                f,
                "{peer} did not end within {} s: {operation} (`command_timeout`)",
                seconds(*limit)
            )?,
            Interruption::TooMuch(limit) => {
                write!(
                    f,
                    "{peer} sent more than {limit} bytes during {operation}: ask for less at once; if it never stops \
                     sending, check `host` and `port`"
                )?;
            }
            Interruption::TooMuchOf(what) => {
                write!(f, "{peer} sent more than {what} during {operation}")?
            }
            Interruption::TooManyValues(limit) => write!(
                f,
                "{peer} sent more than {limit} values during {operation} (`answer_limit`, in which an \
                 element of XML counts as three): ask for less at once, or raise it"
            )?,
            Interruption::TooMuchAtOnce(limit) => write!(
                f,
                "the current answers of all targets are larger than {limit} bytes, noticed during {operation}: use fewer \
                 targets at once (`--concurrency`)"
            )?,
            Interruption::Asked(question) => {
                write!(f, "{peer} asks `{}` during {operation}", quoted(question))?;
            }
            Interruption::Unanswered(question) => write!(
                f,
                "{peer} asks `{}` during {operation}, and was not answered: give the answer with the \
                 command (`devgate session exec --answer`), or in its family's dialect, as `confirm`; as `login` before the \
                 first prompt",
                quoted(question)
            )?,
            Interruption::PerhapsAnswered(question) => write!(
                f,
                "{peer} asked `{}` during {operation}, while devgate checked its prompt, and may have read Return or \
                 blanks as an answer: check what it did; then give the answer in its family's dialect (`login` before \
                 the first prompt, `confirm` behind a command) or with the command (`--answer`)",
                quoted(question)
            )?,
            Interruption::Configuring => {
                return write!(
                    f,
                    "{peer} is in configuration mode after {operation}; the session was given up, since \
                     what is typed there is configuration: send that as configuration, not as a \
                     command"
                );
            }
            Interruption::OutOfStep(what) => write!(
                f,
                "{peer} and the gateway are out of step during {operation}: {what}; the session was \
                 given up so that no answer is taken for another's"
            )?,
            Interruption::Broken => {
                return write!(
                    f,
                    "the session with {peer} was given up earlier: {operation} was not sent"
                );
            }
        }
        match partial.last_line() {
            None => write!(f, "; no output arrived")?,
            Some(last) => write!(
                f,
                "; partial output of {} bytes, its last line: `{}`",
                partial.bytes(),
                quoted(last)
            )?,
        }
        if *changing {
            write!(
                f,
                "; whether it took effect is not known, and it was not sent again: check first"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Interrupted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_configuration_is_quoted_without_its_secret() {
        let interrupted = |partial: &str| {
            let interrupted = Interrupted {
                peer: "192.0.2.1:22".to_owned(),
                operation: "`show running-config`".to_owned(),
                changing: false,
                why: Interruption::Lost,
                partial: partial.into(),
            };
            interrupted.to_string()
        };
        for line in ["enable password canary", "snmp-server community canary RO"] {
            let message = interrupted(&format!("hostname r1\n{line}\n"));
            assert!(
                !message.contains("canary") && message.contains("********"),
                "{message}"
            );
        }
        assert!(interrupted("interface swp1").contains("its last line: `interface swp1`"));
    }
}
