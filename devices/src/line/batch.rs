//! Types the lines of several changes: all in one visit to configuration mode, as long as nothing is
//! refused.

use devgate_transports::error::{ConfigurationProblem, RefusedLine};
use devgate_transports::{self as transports, CommandLine, Context};

use super::Line;
use crate::Result;

/// The lines of several changes as they are typed, with what leaves modes in between.
struct Batch {
    lines: Vec<transports::Line>,
    /// For each line, the index of the change that it belongs to.
    owners: Vec<usize>,
}

/// Types changes, each of them some lines, and tells of each by its index that it was taken, or why
/// it was refused. The others go on, and nothing is sent twice.
///
/// # Errors
/// The loss of the session; what is not told as taken is not done then, or is in doubt.
pub(crate) async fn send(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    mut tell: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<()> {
    let mut first = 0;
    while first < changes.len() {
        let rest = &changes[first..];
        let batch = Batch::of(rest);
        let outcome = session.configure(ctx, &batch.lines).await;
        let done = match &outcome {
            Ok(()) => rest.len(),
            Err(error) => batch.done_before(error),
        };
        (first..first + done).for_each(|taken| tell(taken, Ok(())));
        if let Err(error) = outcome {
            let Some((problem, line)) = refused(&error) else {
                return Err(error.into());
            };
            tell(first + done, Err(refusal(problem, line, &rest[done])));
        }
        first += done + 1;
    }
    Ok(())
}

impl Batch {
    fn of(changes: &[Vec<Line>]) -> Self {
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        let mut last: Option<&Line> = None;
        for (owner, change) in changes.iter().enumerate() {
            for line in change {
                let leave = last.map(|last| last.leaving_for(line));
                lines.extend(leave.into_iter().flatten());
                lines.push(line.typed());
                owners.resize(lines.len(), owner);
                last = Some(line);
            }
        }
        Self { lines, owners }
    }

    /// How many changes were made in full before the one that is refused or in doubt: that of the
    /// last line that was sent.
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

/// The line that the device refused and what it said, if that is all that happened.
fn refused(error: &transports::Error) -> Option<(&ConfigurationProblem, &RefusedLine)> {
    match error {
        transports::Error::Configuration(problem) if problem.interrupted.is_none() => {
            problem.refused.as_ref().map(|line| (&**problem, line))
        }
        _ => None,
    }
}

/// What a refusal means for the change with these lines.
fn refusal(problem: &ConfigurationProblem, refused: &RefusedLine, lines: &[Line]) -> String {
    let said: Vec<&str> = refused
        .said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let before = lines
        .iter()
        .take_while(|line| line.typed().shown() != refused.line)
        .count();
    let stands = match (before, lines.len()) {
        (_, 1) => String::new(),
        (0, _) => "; its other lines were not sent".to_owned(),
        (before, all) => {
            format!("; {before} of its {all} lines were taken, those after were not sent")
        }
    };
    format!(
        "{} refuses `{}`: {}{stands}",
        problem.peer,
        refused.line,
        said.join(" / ")
    )
}
