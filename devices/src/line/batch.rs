//! Types the lines of several changes: all in one configuration session, as long as nothing is refused.

use devgate_transports::error::{ConfigurationProblem, RefusedLine};
use devgate_transports::{self as transports, CommandLine, Context};

use super::Line;
use crate::Result;

/// The lines of several changes as they are typed, including the lines between them that leave modes.
struct Batch {
    lines: Vec<transports::Line>,
    /// For each line, the index of its change.
    owners: Vec<usize>,
}

/// Types changes, each of which consists of lines; `mode_exit` leaves a mode. Calls `report` for each change with its index and whether
/// it was accepted or why it was refused. After a refusal the other changes continue, and nothing is sent
/// twice.
///
/// # Errors
/// Fails when the session is lost. A change that was not reported as accepted is then not done, or is in
/// doubt.
pub(crate) async fn send(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    mode_exit: Option<&str>,
    mut report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<()> {
    let mut first = 0;
    while first < changes.len() {
        let rest = &changes[first..];
        let batch = Batch::new(rest, mode_exit);
        let outcome = session.configure(ctx, &batch.lines).await;
        let done = match &outcome {
            Ok(()) => rest.len(),
            Err(error) => batch.done_before(error),
        };
        (first..first + done).for_each(|index| report(index, Ok(())));
        if let Err(error) = outcome {
            let Some((problem, line)) = refused(&error) else {
                return Err(error.into());
            };
            report(first + done, Err(refusal(problem, line, &rest[done])));
        }
        first += done + 1;
    }
    Ok(())
}

impl Batch {
    fn new(changes: &[Vec<Line>], mode_exit: Option<&str>) -> Self {
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        let mut last: Option<&Line> = None;
        for (owner, change) in changes.iter().enumerate() {
            for line in change {
                let exits = last.map(|last| last.mode_exits_before(line, mode_exit));
                lines.extend(exits.into_iter().flatten());
                lines.push(line.to_transport());
                owners.resize(lines.len(), owner);
                last = Some(line);
            }
        }
        Self { lines, owners }
    }

    /// Returns the number of changes that were completed before the one that is refused or in doubt, which
    /// is the change of the last line that was sent.
    fn done_before(&self, error: &transports::Error) -> usize {
        let transports::Error::Configuration(problem) = error else {
            return 0;
        };
        let last = problem.sent.checked_sub(1);
        last.and_then(|last| self.owners.get(last))
            .copied()
            .unwrap_or(0)
    }
}

/// Returns the refused line and the device's message, if nothing else went wrong.
fn refused(error: &transports::Error) -> Option<(&ConfigurationProblem, &RefusedLine)> {
    match error {
        transports::Error::Configuration(problem) if problem.interrupted.is_none() => {
            problem.refused.as_ref().map(|line| (&**problem, line))
        }
        _ => None,
    }
}

/// Describes the refusal of a line for the change that it belongs to.
fn refusal(problem: &ConfigurationProblem, refused: &RefusedLine, lines: &[Line]) -> String {
    let message: Vec<&str> = refused
        .message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let before = lines
        .iter()
        .take_while(|line| line.to_transport().shown() != refused.line)
        .count();
    let progress = match (before, lines.len()) {
        (_, 1) => String::new(),
        (0, _) => "; its other lines were not sent".to_owned(),
        (before, all) => {
            format!("; {before} of its {all} lines were taken, those after were not sent")
        }
    };
    format!(
        "{} refuses `{}`: {}{progress}",
        problem.peer,
        refused.line,
        message.join(" / ")
    )
}
