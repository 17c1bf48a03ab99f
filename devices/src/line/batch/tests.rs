//! Tests of windows and transactions.

use std::sync::Mutex;

use async_trait::async_trait;
use devgate_transports::RetryBudget;

use super::*;
use crate::fake::EventLog;
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
        transaction: None,
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
        transaction: None,
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
        transaction: None,
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

/// A device that puts lines into effect by transactions.
#[derive(Default)]
struct Router {
    has_transactions: bool,
    /// Whether the connection is lost at the end of a transaction.
    is_lost: bool,
    state: Mutex<RouterState>,
}

#[derive(Default)]
struct RouterState {
    running: Vec<String>,
    sessions: usize,
}

#[async_trait]
impl CommandLine for Router {
    async fn exec(&self, _: &Context<'_>, _: &str) -> transports::Result<String> {
        Ok(String::new())
    }

    async fn exec_once(
        &self,
        ctx: &Context<'_>,
        line: &transports::Line,
    ) -> transports::Result<String> {
        self.exec(ctx, &line.shown()).await
    }

    async fn configure(
        &self,
        _: &Context<'_>,
        lines: &[transports::Line],
    ) -> transports::Result<()> {
        let mut state = self.state.lock().expect("no poison");
        state.sessions += 1;
        let mut pending = Vec::new();
        let mut problem = ConfigurationProblem {
            peer: "r1".to_owned(),
            refused: Vec::new(),
            sent: 0,
            answered: 0,
            of: lines.len(),
            effect: LinesEffect::Each,
            interrupted: None,
        };
        for line in lines {
            problem.sent += 1;
            let shown = line.shown();
            let is_end = shown == "COMMIT";
            if is_end && self.is_lost {
                let lost = transports::Error::Unsupported("lost".to_owned());
                problem.interrupted = Some(Box::new(lost));
                break;
            }
            problem.answered += 1;
            let message = match shown.as_str() {
                "BEGIN" if !self.has_transactions => "unknown command",
                "COMMIT" if pending.iter().any(|line: &String| line.contains("unfit")) => {
                    pending.clear();
                    "it does not fit"
                }
                line if line.contains("unknown") => "unknown command",
                line if line.contains("unfit") && lines[0].shown() != "BEGIN" => "it does not fit",
                _ => "",
            };
            if !message.is_empty() {
                problem.refused.push(RefusedLine {
                    number: problem.sent,
                    line: shown,
                    message: message.to_owned(),
                });
                break;
            }
            if !["BEGIN", "COMMIT"].contains(&shown.as_str()) {
                pending.push(shown);
            }
        }
        let in_transaction = lines[0].shown() == "BEGIN" && self.has_transactions;
        if in_transaction && !problem.refused.is_empty() && problem.sent < lines.len() {
            // A session types the end all the same.
            if pending.iter().any(|line| line.contains("unfit")) {
                pending.clear();
                problem.effect = LinesEffect::RolledBack;
            }
        } else if in_transaction && !problem.refused.is_empty() {
            pending.clear();
        }
        state.running.append(&mut pending);
        if problem.refused.is_empty() && problem.interrupted.is_none() {
            return Ok(());
        }
        Err(transports::Error::Configuration(Box::new(problem)))
    }

    async fn save(&self, _: &Context<'_>) -> transports::Result<()> {
        Ok(())
    }
}

/// Returns what is reported of changes, whether all was answered, what is in effect, and the number of sessions.
async fn in_transactions(
    router: Router,
    texts: &[&str],
) -> (Vec<String>, bool, Vec<String>, usize) {
    let (log, budget) = (EventLog::default(), RetryBudget::default());
    let transaction = Transaction {
        begin: "BEGIN".to_owned(),
        end: "COMMIT".to_owned(),
    };
    let typing = Typing {
        mode_exit: None,
        window: 1,
        transaction: Some(&transaction),
    };
    let changes = changes(texts);
    let mut said = vec![String::new(); texts.len()];
    let ctx = Context::new("r1", &log, &budget);
    let sent = send(&ctx, &router, &changes, typing, |at, outcome| {
        assert_eq!(said[at], "", "it is reported once");
        said[at] = outcome.err().unwrap_or_else(|| "done".to_owned());
    });
    let is_answered = sent.await.is_ok();
    let state = router.state.into_inner().expect("no poison");
    (said, is_answered, state.running, state.sessions)
}

fn router() -> Router {
    Router {
        has_transactions: true,
        ..Router::default()
    }
}

#[tokio::test]
async fn several_changes_take_effect_in_one_transaction() {
    let (said, _, running, sessions) = in_transactions(router(), &["a", "b", "c"]).await;
    assert_eq!((said, sessions), (vec!["done".to_owned(); 3], 1));
    assert_eq!(running, ["a", "b", "c"]);
}

#[tokio::test]
async fn of_a_refused_transaction_only_the_change_that_does_not_fit_fails() {
    let texts = ["a", "b", "unfit 1", "c", "d"];
    let (said, _, mut running, _) = in_transactions(router(), &texts).await;
    running.sort();
    assert_eq!(running, ["a", "b", "c", "d"]);
    assert_eq!(
        said,
        [
            "done",
            "done",
            "r1 refuses `unfit 1`: it does not fit",
            "done",
            "done"
        ]
    );
}

#[tokio::test]
async fn a_line_that_is_refused_at_once_fails_alone() {
    let texts = ["a", "unknown", "b", "c"];
    let (said, _, running, _) = in_transactions(router(), &texts).await;
    assert_eq!(running, ["a", "b", "c"]);
    assert_eq!(
        said,
        [
            "done",
            "r1 refuses `unknown`: unknown command",
            "done",
            "done"
        ]
    );
}

#[tokio::test]
async fn a_refused_line_takes_no_other_change_with_it_even_if_the_rest_is_refused_as_a_whole() {
    let texts = ["a", "unfit", "unknown", "b"];
    let (said, _, mut running, _) = in_transactions(router(), &texts).await;
    running.sort();
    assert_eq!(running, ["a", "b"]);
    assert_eq!(said[0], "done");
    assert_eq!(said[1], "r1 refuses `unfit`: it does not fit");
    assert_eq!(
        said[2],
        "r1 refuses `unknown`: unknown command; nothing of it is in effect"
    );
    assert_eq!(said[3], "done");
}

#[tokio::test]
async fn a_device_without_transactions_gets_single_changes() {
    let (said, _, running, _) = in_transactions(Router::default(), &["a", "unfit", "b"]).await;
    assert_eq!(running, ["a", "b"]);
    assert_eq!(
        said,
        ["done", "r1 refuses `unfit`: it does not fit", "done"]
    );
}

#[tokio::test]
async fn what_became_of_a_transaction_without_an_answer_is_not_guessed() {
    let router = Router {
        is_lost: true,
        ..router()
    };
    let (said, is_answered, ..) = in_transactions(router, &["a", "b"]).await;
    assert!(!is_answered);
    assert_eq!(said, ["", ""]);
}
