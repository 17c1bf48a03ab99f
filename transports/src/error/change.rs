//! Errors for changes that were not applied completely, or not confirmed.

use std::fmt;
use std::time::Duration;

use super::Error;
use super::text::{all_lines, one_line, seconds};

/// The outcome of a configuration that was not applied completely.
#[derive(Debug)]
pub struct ConfigurationProblem {
    /// The peer.
    pub peer: String,
    /// The lines that the target refused, in order. No line was sent after the answer to the first of them; lines that
    /// were sent together with it may have been taken.
    pub refused: Vec<RefusedLine>,
    /// The number of lines sent, including refused ones.
    pub sent: usize,
    /// The number of lines that were answered. Those sent after them are perhaps without effect.
    pub answered: usize,
    /// The number of lines in total.
    pub of: usize,
    /// What is in effect of the lines that were sent.
    pub effect: LinesEffect,
    /// The error that ended it otherwise, if any. The last line sent may then be without effect.
    pub interrupted: Option<Box<Error>>,
}

/// What is in effect of configuration lines that were sent, but not applied completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinesEffect {
    /// Each line took effect by itself, up to the refused one.
    Each,
    /// None, because the target rolled them back.
    RolledBack,
    /// None, because they were not committed, and nothing of them is left in the candidate.
    NotCommitted,
    /// None, because they were not committed. The candidate may hold them until this command is typed there.
    InCandidate(String),
    /// All or none: the commit was sent and not answered.
    InDoubt,
}

/// A line of configuration that the target refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLine {
    /// Its number, from 1.
    pub number: usize,
    /// The line, with secrets redacted.
    pub line: String,
    /// The target's message, with secrets redacted.
    pub message: String,
}

impl ConfigurationProblem {
    /// Returns whether the configuration is certainly what it was before.
    pub fn nothing_changed(&self) -> bool {
        let none = matches!(
            self.effect,
            LinesEffect::RolledBack | LinesEffect::NotCommitted | LinesEffect::InCandidate(_)
        );
        none || self.sent == 0
    }

    /// Returns whether the candidate configuration could not be used, because somebody else has it locked or has changes
    /// in it. Nothing was sent then.
    pub fn is_candidate_unavailable(&self) -> bool {
        let why = self.interrupted.as_deref();
        let unavailable = matches!(
            why,
            Some(Error::CommandFailed { .. } | Error::CandidateInUse(_))
        );
        self.sent == 0 && unavailable
    }

    /// Returns whether the target took all lines, and refused to put them into effect together.
    pub fn is_refused_as_a_whole(&self) -> bool {
        let interrupted = self.interrupted.as_deref();
        self.sent == self.of
            && self.nothing_changed()
            && matches!(interrupted, Some(Error::CommandFailed { .. }))
    }
}

impl fmt::Display for ConfigurationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            refused,
            sent,
            answered,
            of,
            effect,
            interrupted,
        } = self;
        for RefusedLine {
            number,
            line,
            message,
        } in refused
        {
            write!(
                f,
                "{peer} refuses line {number} of {of}, `{line}`: {}; ",
                one_line(message).trim_end_matches('.')
            )?;
        }
        if let Some(error) = interrupted {
            let shown = match &**error {
                // The reason of a failed commit may have several lines, and each may matter.
                Error::CommandFailed {
                    command, message, ..
                } => format!("{peer} refuses `{command}`: {}", all_lines(message)),
                error => error.to_string(),
            };
            write!(f, "{}; ", shown.trim_end_matches('.'))?;
        }
        match (refused.first(), interrupted, sent) {
            (_, _, 0) => write!(
                f,
                "none of {of} lines was sent: the configuration is unchanged"
            ),
            (Some(_), None, _) if *effect == LinesEffect::RolledBack => write!(
                f,
                "the device rolled back the lines before it: the configuration is unchanged"
            ),
            _ if matches!(effect, LinesEffect::NotCommitted | LinesEffect::RolledBack) => {
                write!(f, "nothing was committed: the configuration is unchanged")
            }
            _ if let LinesEffect::InCandidate(discard) = effect => write!(
                f,
                "nothing was committed: the configuration is unchanged, but the candidate may still hold \
                 the lines: discard them there (`{discard}`)"
            ),
            _ if *effect == LinesEffect::InDoubt => write!(
                f,
                "the commit was sent, and it is not known whether it took effect: either all {of} lines did, \
                 or none, and then the candidate may still hold them; read both to see their state"
            ),
            (Some(_), None, sent) if *sent == refused.len() => write!(f, "no line was applied"),
            (Some(first), None, sent) if first.number == *sent => {
                write!(
                    f,
                    "the lines before it were applied ({} of {of}), and no others: read the configuration to see its \
                     state",
                    sent - 1
                )
            }
            (Some(_), None, sent) => write!(
                f,
                "the lines before it, and those sent together with it, were applied ({} of {of}), and no others: read \
                 the configuration to see its state",
                sent - refused.len()
            ),
            (_, _, sent) => {
                write!(f, "{sent} of {of} lines were sent, the last ")?;
                match sent - answered {
                    0 | 1 => write!(f, "of them ")?,
                    unanswered => write!(f, "{unanswered} of them ")?,
                }
                write!(
                    f,
                    "perhaps without effect; they are not sent again: read the configuration to see its state"
                )
            }
        }
    }
}

impl std::error::Error for ConfigurationProblem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.interrupted.as_deref().map(|error| error as _)
    }
}

/// A candidate configuration with changes that somebody else made.
#[derive(Debug)]
pub struct CandidateInUse {
    /// The peer.
    pub peer: String,
    /// The command that shows the changes.
    pub command: String,
    /// The changes as the device shows them.
    pub changes: String,
}

impl fmt::Display for CandidateInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            command,
            changes,
        } = self;
        write!(
            f,
            "the candidate configuration of {peer} has changes that somebody else made and did not commit \
             (`{command}` shows `{}`): expected none, because a commit would activate them, too; commit or discard \
             them on the device",
            one_line(changes)
        )
    }
}

/// A commit, made by any session, that waits for its confirmation.
#[derive(Debug)]
pub struct PendingCommit {
    /// The peer.
    pub peer: String,
    /// The command that shows it.
    pub command: String,
    /// What the device says about it.
    pub shown: String,
}

impl fmt::Display for PendingCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            command,
            shown,
        } = self;
        write!(
            f,
            "a commit on {peer} waits for its confirmation (`{command}` shows `{}`): the device may roll it back, and \
             another commit would confirm it; confirm it or roll it back on the device, or try again later",
            one_line(shown)
        )
    }
}

/// A change that was made, but not confirmed.
#[derive(Debug)]
pub struct UnconfirmedChange {
    /// The peer.
    pub peer: String,
    /// Why it was not confirmed.
    pub why: Box<Error>,
    /// The outcome of the change.
    pub outcome: ChangeOutcome,
}

/// The outcome of a change that was not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It was reverted.
    RolledBack,
    /// The device reverts it by itself, at the latest after this time.
    WillRollBack(Duration),
    /// It was sent and not answered: it was not made, or the device reverts it by itself, at the latest after this
    /// time.
    Unanswered(Duration),
    /// The confirmation was sent and not answered: it remains in effect, or the device reverts it by itself, at the
    /// latest after this time.
    InDoubt(Duration),
    /// It remains in effect, because the device cannot revert changes.
    InEffect,
}

impl fmt::Display for UnconfirmedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, why, outcome } = self;
        write!(f, "the change on {peer} was not confirmed ({why}); ")?;
        match outcome {
            ChangeOutcome::RolledBack => {
                f.write_str("it was rolled back: the configuration is as it was before")
            }
            ChangeOutcome::WillRollBack(limit) => write!(
                f,
                "the device rolls it back by itself, within {} s (`confirm_timeout`)",
                seconds(*limit)
            ),
            ChangeOutcome::Unanswered(limit) => write!(
                f,
                "if it was made at all, the device rolls it back by itself, within {} s (`confirm_timeout`)",
                seconds(*limit)
            ),
            ChangeOutcome::InDoubt(limit) => write!(
                f,
                "the device keeps it, or rolls it back by itself within {} s (`confirm_timeout`): check the \
                 device after that time",
                seconds(*limit)
            ),
            ChangeOutcome::InEffect => f.write_str(
                "it stays, because the device cannot roll a change back: check the device",
            ),
        }
    }
}

impl std::error::Error for UnconfirmedChange {}
