//! Types the lines of several changes: all in one configuration session, as long as nothing is refused.

use std::collections::VecDeque;

use devgate_transports::error::{ConfigurationProblem, LinesEffect, RefusedLine};
use devgate_transports::{self as transports, CommandLine, Context};

use super::Line;
use crate::Result;

/// The lines of several changes as they are typed, including the lines between them that leave modes.
struct Batch {
    lines: Vec<transports::Line>,
    /// For each line, the index of its change.
    owners: Vec<usize>,
}

/// What the lines are typed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To take effect.
    Change,
    /// To see what they would change.
    Preview,
}

/// Types changes, each of which consists of lines; `mode_exit` leaves a mode. Calls `report` for each change with its index and whether
/// it was accepted or why it was refused. After a refusal the other changes continue. Nothing that may be in effect is
/// sent twice.
///
/// # Errors
/// Fails when the session is lost. A change that was not reported as accepted is then not done, or is in
/// doubt.
pub(crate) async fn send(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    mode_exit: Option<&str>,
    report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<()> {
    let sent = type_all(ctx, session, changes, mode_exit, Purpose::Change, report);
    sent.await.map(drop)
}

/// Returns what the device says that changes would change, which is empty if it cannot tell. Calls `report` as
/// [`send`] does. Nothing takes effect.
///
/// # Errors
/// Fails when the candidate of the device cannot be used, or when the session is lost.
pub(crate) async fn preview(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    mode_exit: Option<&str>,
    report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<Vec<String>> {
    type_all(ctx, session, changes, mode_exit, Purpose::Preview, report).await
}

/// Types changes, all at once if possible. If none took effect, the refused one is left out, and the rest is typed
/// again; if it is not known which one is refused, halves of them are tried. Returns what the device shows of
/// them.
async fn type_all(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    mode_exit: Option<&str>,
    purpose: Purpose,
    mut report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<Vec<String>> {
    let mut shown = Vec::new();
    let mut groups = VecDeque::from([(0..changes.len()).collect::<Vec<usize>>()]);
    while let Some(mut group) = groups.pop_front() {
        if group.is_empty() {
            continue;
        }
        let changes_of_group = group.iter().map(|&index| &changes[index]);
        let batch = Batch::new(changes_of_group, mode_exit);
        let outcome = match purpose {
            Purpose::Change => session.configure(ctx, &batch.lines).await.map(|()| None),
            Purpose::Preview => session.preview(ctx, &batch.lines).await,
        };
        let error = match outcome {
            Ok(diff) => {
                shown.extend(diff);
                group.into_iter().for_each(|index| report(index, Ok(())));
                continue;
            }
            Err(error) => error,
        };
        let transports::Error::Configuration(problem) = &error else {
            return Err(error.into());
        };
        let last = batch.last_sent(problem);
        if !problem.nothing_changed() && problem.effect == LinesEffect::Each {
            let done = group.drain(..last);
            done.for_each(|index| report(index, Ok(())));
        }
        // The refused change is now the first one, if those before it are in effect.
        let at = if problem.nothing_changed() { last } else { 0 };
        match &problem.refused {
            Some(line) if problem.interrupted.is_none() => {
                let refused = group.remove(at);
                report(refused, Err(refusal(problem, line, &changes[refused])));
                groups.push_front(group);
            }
            _ if problem.is_refused_as_a_whole() => match group.as_slice() {
                [one] => report(*one, Err(problem.to_string())),
                _ => {
                    let second = group.split_off(group.len() / 2);
                    groups.push_front(second);
                    groups.push_front(group);
                }
            },
            _ => return Err(error.into()),
        }
    }
    Ok(shown)
}

impl Batch {
    fn new<'l>(changes: impl Iterator<Item = &'l Vec<Line>>, mode_exit: Option<&str>) -> Self {
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        let mut last: Option<&Line> = None;
        for (owner, change) in changes.enumerate() {
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

    /// Returns the index of the change whose line was sent last. Only those before it are complete.
    fn last_sent(&self, problem: &ConfigurationProblem) -> usize {
        let last = problem.sent.checked_sub(1);
        last.and_then(|last| self.owners.get(last))
            .copied()
            .unwrap_or(0)
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
        _ if let LinesEffect::InCandidate(discard) = &problem.effect => format!(
            "; nothing of it is in effect, but the candidate may still hold it: discard it there (`{discard}`)"
        ),
        _ if problem.nothing_changed() => "; nothing of it is in effect".to_owned(),
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
