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

/// How the lines of changes are typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typing<'a> {
    /// The line that leaves a mode.
    pub(crate) mode_exit: Option<&'a str>,
    /// The number of lines that may be sent before the first of them is answered.
    pub(crate) window: usize,
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
        // The number of lines in the window that the next line may join.
        let mut in_window = 0;
        for (owner, change) in changes.enumerate() {
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
        Self { lines, owners }
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
        let mut refused = problem.refused.iter();
        let own = refused
            .clone()
            .filter(|line| (first..end).contains(&(line.number - 1)));
        let own: Vec<&RefusedLine> = own.collect();
        let answered = problem.answered.clamp(first, end);
        if !own.is_empty() {
            let is_known = problem.interrupted.is_none() || takes_effect;
            return is_known.then(|| Err(refusal(problem, &own, answered, lines)));
        }
        if !takes_effect {
            return None;
        }
        match (refused.next(), &problem.interrupted) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Secrets;

    fn changes(texts: &[&str]) -> Vec<Vec<Line>> {
        let lines = |text: &&str| Line::all(text, &Secrets::default(), None).expect("lines");
        texts.iter().map(lines).collect()
    }

    /// Returns the lines of a batch; those that travel with the line before begin with `+`.
    fn typed(texts: &[&str], window: usize) -> Vec<String> {
        let typing = Typing {
            mode_exit: Some("exit"),
            window,
        };
        let batch = Batch::new(changes(texts).iter(), typing);
        let shown = |line: &transports::Line| match line.is_with_previous() {
            true => format!("+{}", line.shown()),
            false => line.shown(),
        };
        batch.lines.iter().map(shown).collect()
    }

    /// Returns what becomes of changes of which a device refuses the lines with `bad`, and the lines that it receives.
    /// Lines that travel together are all received.
    fn outcomes(texts: &[&str], window: usize) -> (Vec<Option<String>>, Vec<String>) {
        let changes = changes(texts);
        let typing = Typing {
            mode_exit: None,
            window,
        };
        let batch = Batch::new(changes.iter(), typing);
        let mut problem = ConfigurationProblem {
            peer: "r1".to_owned(),
            refused: Vec::new(),
            sent: 0,
            answered: 0,
            of: batch.lines.len(),
            effect: LinesEffect::Each,
            interrupted: None,
        };
        let mut received = Vec::new();
        for line in &batch.lines {
            if !problem.refused.is_empty() && !line.is_with_previous() {
                break;
            }
            problem.sent += 1;
            received.push(line.shown());
            if line.shown().contains("bad") {
                problem.refused.push(RefusedLine {
                    number: problem.sent,
                    line: line.shown(),
                    message: "no".to_owned(),
                });
            }
        }
        problem.answered = problem.sent;
        let outcome = |(at, lines): (usize, &Vec<Line>)| {
            let outcome = batch.outcome(&problem, at, lines);
            outcome.map(|outcome| outcome.err().unwrap_or_default())
        };
        (changes.iter().enumerate().map(outcome).collect(), received)
    }

    #[test]
    fn lines_of_one_mode_travel_together_and_no_change_is_cut_by_the_end_of_a_window() {
        assert_eq!(typed(&["a\nb", "c"], 1), ["a", "b", "c"]);
        assert_eq!(typed(&["a\nb", "c", "d"], 3), ["a", "+b", "+c", "d"]);
        assert_eq!(
            typed(&["a", "b\nc\nd", "e"], 3),
            ["a", "b", "+c", "+d", "e"]
        );
        assert_eq!(typed(&["a\nb\nc\nd", "e"], 3), ["a", "+b", "+c", "d", "+e"]);
        assert_eq!(
            typed(&["mode\n a\n b", "mode 2\n c", "d", "e"], 9),
            ["mode", "a", "+b", "exit", "mode 2", "c", "exit", "d", "+e"]
        );
    }

    #[test]
    fn every_change_of_a_window_has_its_own_outcome() {
        let done = || Some(String::new());
        let (outcomes_of, received) = outcomes(&["a", "bad 1", "c\nbad 2\nd\nbad 3", "e", "f"], 7);
        assert_eq!(received, ["a", "bad 1", "c", "bad 2", "d", "bad 3", "e"]);
        let refused = "r1 refuses `bad 1`: no".to_owned();
        let several = "r1 refuses `bad 2`: no; and `bad 3`: no; 2 of its 4 lines were taken, also 1 after it that \
                       were sent together with it";
        assert_eq!(
            outcomes_of,
            [
                done(),
                Some(refused),
                Some(several.to_owned()),
                done(),
                None
            ]
        );
    }

    #[test]
    fn what_the_device_took_of_a_change_that_is_cut_off_is_told() {
        let (outcomes_of, received) = outcomes(&["bad", "a"], 1);
        assert_eq!((outcomes_of.len(), received.len()), (2, 1));
        assert_eq!(outcomes_of[1], None);
        // A session may cut a window, where a line is long.
        let changes = changes(&["bad", "a\nb"]);
        let typing = Typing {
            mode_exit: None,
            window: 5,
        };
        let batch = Batch::new(changes.iter(), typing);
        let problem = ConfigurationProblem {
            peer: "r1".to_owned(),
            refused: vec![RefusedLine {
                number: 1,
                line: "bad".to_owned(),
                message: "no".to_owned(),
            }],
            sent: 2,
            answered: 2,
            of: 3,
            effect: LinesEffect::Each,
            interrupted: None,
        };
        let outcome = batch.outcome(&problem, 1, &changes[1]).expect("known");
        assert_eq!(
            outcome.expect_err("not done"),
            "1 of its 2 lines were taken, those after were not sent: r1 refuses `bad`, which was sent together with \
             them"
        );
    }
}
