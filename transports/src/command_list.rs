//! Lists of commands that a device runs in one request, and their outcomes.
//!
//! Devices with a command line behind HTTP run the commands of a request in order, and stop at the
//! first failure.

use crate::Line;
use crate::error::{ConfigurationProblem, LinesEffect};
use crate::{Error, Result};

/// The outcome of a list of commands.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran<T> {
    /// The outputs of the successful commands, in order.
    pub(crate) outputs: Vec<T>,
    /// The command at which the device stopped.
    pub(crate) refused: Option<RefusedCommand>,
}

/// A command that a device refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedCommand {
    /// Its index in the list.
    pub(crate) at: usize,
    /// The device's message.
    pub(crate) message: String,
}

/// Evaluates the outcome of configuration lines that were sent in one list, after `before` other commands.
///
/// `rolls_back` tells whether the device reverts the lines before a refused one.
///
/// # Errors
/// Fails with [`Error::Configuration`], or with [`Error::CommandFailed`] for one of the commands around
/// the lines.
pub(crate) fn configured<T>(
    peer: &str,
    list: &[Line],
    lines: std::ops::Range<usize>,
    ran: Result<Ran<T>>,
    rolls_back: bool,
) -> Result<()> {
    let mut problem = ConfigurationProblem {
        peer: peer.to_owned(),
        refused: Vec::new(),
        sent: lines.len(),
        answered: 0,
        of: lines.len(),
        effect: LinesEffect::Each,
        interrupted: None,
    };
    match ran.map(|ran| ran.refused) {
        Ok(None) => return Ok(()),
        // It took all lines, and refused to commit them.
        Ok(Some(RefusedCommand { at, message })) if rolls_back && at == lines.end => {
            problem.effect = LinesEffect::RolledBack;
            problem.interrupted = Some(Box::new(failed(peer, list.get(at), message)));
        }
        Ok(Some(RefusedCommand { at, message })) => {
            let Some(line) = list.get(at).filter(|_| lines.contains(&at)) else {
                return Err(failed(peer, list.get(at), message));
            };
            let number = at - lines.start + 1;
            (problem.sent, problem.answered) = (number, number);
            if rolls_back {
                problem.effect = LinesEffect::RolledBack;
            }
            problem.refused.push(line.refused(number, &message));
        }
        Err(error) if matches!(error, Error::Interrupted(_)) => {
            if rolls_back {
                problem.effect = LinesEffect::InDoubt;
            }
            problem.interrupted = Some(Box::new(error));
        }
        // No command was run.
        Err(error) => return Err(error),
    }
    Err(Error::Configuration(Box::new(problem)))
}

/// Returns the error for a failed command.
pub(crate) fn failed(peer: &str, command: Option<&Line>, message: String) -> Error {
    Error::CommandFailed {
        peer: peer.to_owned(),
        message: command.map_or_else(|| message.clone(), |command| command.mask(&message)),
        command: command.map_or_else(|| "the command".to_owned(), Line::shown),
        hint: "",
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::Sensitive;

    use super::*;

    fn list() -> Vec<Line> {
        let secret = Sensitive::new("canary".to_owned());
        vec![
            Line::new("configure"),
            Line::new("interface Ethernet1"),
            Line::with_secrets("key canary", vec![secret]),
            Line::new("end"),
        ]
    }

    fn refused(at: usize) -> Result<Ran<()>> {
        let message = "invalid: key canary".to_owned();
        Ok(Ran {
            outputs: Vec::new(),
            refused: Some(RefusedCommand { at, message }),
        })
    }

    #[test]
    fn a_refused_line_is_named_and_what_stands_is_said() {
        let problem = configured("sw1:443", &list(), 1..3, refused(2), false);
        let message = problem.expect_err("refused").to_string();
        assert!(message.contains("refuses line 2 of 2"), "{message}");
        assert!(
            message.contains("the lines before it were applied (1 of 2)"),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
        let problem = configured("sw1:443", &list(), 1..3, refused(2), true);
        let message = problem.expect_err("refused").to_string();
        assert!(
            message.contains("the configuration is unchanged"),
            "{message}"
        );
    }

    #[test]
    fn what_stands_around_the_lines_is_no_line() {
        let error = configured("sw1:443", &list(), 1..3, refused(0), false).expect_err("refused");
        assert!(matches!(error, Error::CommandFailed { .. }), "{error}");
    }

    #[test]
    fn a_refused_commit_is_a_refusal_of_all_lines() {
        let error = configured("sw1:443", &list(), 1..3, refused(3), true).expect_err("refused");
        let Error::Configuration(problem) = error else {
            panic!("{error}");
        };
        assert!(problem.is_refused_as_a_whole(), "{problem}");
    }
}
