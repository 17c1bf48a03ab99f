//! Types the lines of several changes: all in one configuration session, as long as nothing is refused.

#[cfg(test)]
mod tests;

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
    /// Whether the first and the last line begin and end a transaction. They belong to the first and the last change.
    is_transaction: bool,
}

/// What the lines are typed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To take effect.
    Change,
    /// To see what they would change.
    Preview,
}

/// How the lines of changes are typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typing<'a> {
    /// The line that leaves a mode.
    pub(crate) mode_exit: Option<&'a str>,
    /// The number of lines that may be sent before the first of them is answered.
    pub(crate) window: usize,
    /// What several changes are put between, to take effect together.
    pub(crate) transaction: Option<&'a Transaction>,
}

/// The lines that begin and end a transaction. If the device refuses the end, nothing of it is in effect.
#[derive(Debug)]
pub(crate) struct Transaction {
    /// The line that begins it. A device that refuses it gets single changes.
    pub(crate) begin: String,
    /// The line that puts the lines since then into effect.
    pub(crate) end: String,
}

/// Types changes, each of which consists of lines. Calls `report` for each change with its index and whether it was
/// accepted or why it was refused. After a refusal the other changes continue. Nothing that may be in effect is sent
/// twice.
///
/// # Errors
/// Fails when the session is lost. A change that was not reported as accepted is then not done, or is in
/// doubt.
pub(crate) async fn send(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    typing: Typing<'_>,
    report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<()> {
    let sent = type_all(ctx, session, changes, typing, Purpose::Change, report);
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
    typing: Typing<'_>,
    report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<Vec<String>> {
    type_all(ctx, session, changes, typing, Purpose::Preview, report).await
}

/// Types changes, all at once if possible. If none took effect, the refused one is left out, and the rest is typed
/// again; if it is not known which one is refused, halves of them are tried. Returns what the device shows of
/// them.
async fn type_all(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    changes: &[Vec<Line>],
    typing: Typing<'_>,
    purpose: Purpose,
    mut report: impl FnMut(usize, std::result::Result<(), String>) + Send,
) -> Result<Vec<String>> {
    let mut shown = Vec::new();
    let mut typing = typing;
    if purpose == Purpose::Preview {
        typing.transaction = None;
    }
    let mut groups = VecDeque::from([(0..changes.len()).collect::<Vec<usize>>()]);
    while let Some(mut group) = groups.pop_front() {
        if group.is_empty() {
            continue;
        }
        let changes_of_group = group.iter().map(|&index| &changes[index]);
        let batch = Batch::new(changes_of_group, typing);
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
        match batch.transaction_outcome(problem) {
            Some(TransactionOutcome::Unknown) => return Err(error.into()),
            Some(TransactionOutcome::Unavailable) => {
                typing.transaction = None;
                groups.push_front(group);
                continue;
            }
            Some(TransactionOutcome::Refused) => {
                let second = group.split_off(group.len() / 2);
                groups.push_front(second);
                groups.push_front(group);
                continue;
            }
            None => {}
        }
        let mut at = 0;
        group.retain(|&index| {
            let outcome = batch.outcome(problem, at, &changes[index]);
            at += 1;
            outcome.map(|outcome| report(index, outcome)).is_none()
        });
        match problem.interrupted {
            // The next lines would join those in the candidate.
            None if matches!(problem.effect, LinesEffect::InCandidate(_)) => {
                return Err(error.into());
            }
            None if !problem.refused.is_empty() => groups.push_front(group),
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
    fn new<'l>(changes: impl Iterator<Item = &'l Vec<Line>>, typing: Typing<'_>) -> Self {
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        let mut last: Option<&Line> = None;
        let mut changes = changes.peekable();
        let first = changes.next();
        // A single change needs none.
        let transaction = typing.transaction.filter(|_| changes.peek().is_some());
        lines.extend(transaction.map(|transaction| transports::Line::new(&transaction.begin)));
        // The number of lines in the window that the next line may join.
        let mut in_window = 0;
        for (owner, change) in first.into_iter().chain(changes).enumerate() {
            for (at, line) in change.iter().enumerate() {
                let exits = last.map(|last| last.mode_exits_before(line, typing.mode_exit));
                let before = lines.len();
                lines.extend(exits.into_iter().flatten());
                let stays = last.is_none_or(|last| last.depth == line.depth);
                // A change begins a window if it would not end in this one.
                let wanted = if at == 0 { change.len() } else { 1 };
                let joins = stays && in_window > 0 && in_window + wanted <= typing.window;
                let line_to_type = line.to_transport();
                lines.push(match joins && lines.len() == before {
                    true => line_to_type.with_previous(),
                    false => line_to_type,
                });
                owners.resize(lines.len(), owner);
                let opens = change
                    .get(at + 1)
                    .is_some_and(|next| next.depth > line.depth);
                in_window = match opens {
                    true => 0,
                    false if joins => in_window + 1,
                    false => 1,
                };
                last = Some(line);
            }
        }
        if let Some(transaction) = transaction {
            lines.push(transports::Line::new(&transaction.end).closing());
            owners.extend(owners.last().copied());
        }
        Self {
            lines,
            owners,
            is_transaction: transaction.is_some(),
        }
    }

    /// Returns what became of the transaction, if it did not take effect. If a line in it was refused, the end was typed
    /// all the same, for those before it.
    fn transaction_outcome(&self, problem: &ConfigurationProblem) -> Option<TransactionOutcome> {
        if !self.is_transaction {
            return None;
        }
        let refused = problem.refused.last().map(|line| line.number);
        match (&problem.interrupted, refused) {
            (Some(_), _) => Some(TransactionOutcome::Unknown),
            (None, Some(1)) => Some(TransactionOutcome::Unavailable),
            (None, Some(number)) if number == self.lines.len() => Some(TransactionOutcome::Refused),
            (None, _) => None,
        }
    }

    /// Returns what became of a change of the group: whether it is in effect, or why it has failed. `None` if it is not in
    /// effect and may be typed again, or if that is unknown.
    fn outcome(
        &self,
        problem: &ConfigurationProblem,
        change: usize,
        lines: &[Line],
    ) -> Option<std::result::Result<(), String>> {
        let takes_effect = !problem.nothing_changed() && problem.effect == LinesEffect::Each;
        let first = self.owners.partition_point(|owner| *owner < change);
        let end = self.owners.partition_point(|owner| *owner <= change);
        let around = usize::from(self.is_transaction);
        let (first, end) = (first.max(around), end.min(self.lines.len() - around));
        let own = problem.refused.iter();
        let own = own.filter(|line| (first..end).contains(&(line.number - 1)));
        let own: Vec<&RefusedLine> = own.collect();
        let answered = problem.answered.clamp(first, end);
        if !own.is_empty() {
            let is_known = problem.interrupted.is_none() || takes_effect;
            return is_known.then(|| Err(refusal(problem, &own, answered, lines)));
        }
        if !takes_effect {
            return None;
        }
        match (problem.refused.first(), &problem.interrupted) {
            _ if answered == end => Some(Ok(())),
            // The rest of it did not fit in the window of the refused line.
            (Some(refused), None) if answered > first => Some(Err(format!(
                "{} of its {} lines were taken, those after were not sent: {} refuses `{}`, which was sent together \
                 with them",
                answered - first,
                end - first,
                problem.peer,
                refused.line
            ))),
            _ => None,
        }
    }
}

/// Why a transaction did not take effect.
enum TransactionOutcome {
    /// The device does not have transactions.
    Unavailable,
    /// Nothing of it is in effect, because one of its changes is refused.
    Refused,
    /// It is not known whether it is in effect.
    Unknown,
}

/// Describes the refusal of lines for the change that they belong to. `answered` is the number of the batch's lines up to
/// its last one that was answered.
fn refusal(
    problem: &ConfigurationProblem,
    refused: &[&RefusedLine],
    answered: usize,
    lines: &[Line],
) -> String {
    let one = |refused: &&RefusedLine| {
        let message = refused.message.lines().map(str::trim);
        let message: Vec<&str> = message.filter(|line| !line.is_empty()).collect();
        format!("`{}`: {}", refused.line, message.join(" / "))
    };
    let all: Vec<String> = refused.iter().map(one).collect();
    let first = refused[0];
    let is_first = |line: &&Line| line.to_transport().shown() == first.line;
    let before = lines.iter().take_while(|line| !is_first(line)).count();
    let after = answered - first.number - (refused.len() - 1);
    let progress = match (before, after, lines.len()) {
        _ if let LinesEffect::InCandidate(discard) = &problem.effect => format!(
            "; nothing of it is in effect, but the candidate may still hold it: discard it there (`{discard}`)"
        ),
        _ if problem.nothing_changed() => "; nothing of it is in effect".to_owned(),
        (_, _, 1) => String::new(),
        (0, 0, _) => "; its other lines were not sent".to_owned(),
        (before, 0, all) if before + refused.len() == all => {
            format!("; {before} of its {all} lines were taken")
        }
        (before, 0, all) => {
            format!("; {before} of its {all} lines were taken, those after were not sent")
        }
        (before, after, all) => format!(
            "; {} of its {all} lines were taken, also {after} after it that were sent together with it",
            before + after
        ),
    };
    format!("{} refuses {}{progress}", problem.peer, all.join("; and "))
}
