//! Persistent programs: one process for each, for the time of a session, with requests as lines of JSON.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use devgate_core::lock::locked;
use devgate_schemas::task::CapturedOutput;
use devgate_schemas::{Hash, MAX_VALUES, Value, read_json, values};
use devgate_transports::ssh_host::Exit;
use futures_util::future::join_all;
use tokio::sync::Mutex as Turn;
use tokio::time::timeout;

use super::action::Action;
use super::program::{Program, Reply, revealed, timed_out};
use super::results::{self, Problem};
use crate::process::{Broken, Dialogue, ProcessLimits};

/// The processes of a session, by their files.
#[derive(Debug, Default)]
pub(super) struct Talks(Mutex<HashMap<PathBuf, Arc<Turn<Option<Talk>>>>>);

/// A process that answers requests one after another.
#[derive(Debug)]
struct Talk {
    dialogue: Dialogue,
    /// The number of the last request.
    last: i64,
}

const EXPECTED: &str = "expected a line of JSON, `{id, event}`, `{id, results}` or `{id, error}`, with the \
                        request's id; words for people go to stderr";

impl Talks {
    /// Sends a request to the program's process, which is started if it does not run. `tell` receives its events.
    pub(super) async fn ask(
        &self,
        program: &Program,
        action: Action,
        input: Hash,
        limits: &ProcessLimits,
        tell: impl FnMut(&Value) -> Result<(), String>,
    ) -> Reply {
        let place = locked(&self.0)
            .entry(program.real().to_owned())
            .or_default()
            .clone();
        let mut place = place.lock().await;
        // The process is put back after its answer. One that was left in the middle gets no further request.
        let mut talk = match Talk::going(place.take(), program).await {
            Ok(talk) => talk,
            Err(error) => {
                return Reply::failed(program.not_started(&error), CapturedOutput::default());
            }
        };
        let asked = talk.ask(action, program.input(input), limits, tell);
        let answer = match limits.time {
            None => Ok(asked.await),
            Some(limit) => timeout(limit, asked).await,
        };
        let stderr = talk.dialogue.stderr();
        match answer {
            Ok(Ok(answer)) => {
                *place = Some(talk);
                Reply {
                    results: answer,
                    stderr,
                }
            }
            Ok(Err(why)) => {
                let message = why.told(&stderr, limits);
                talk.dialogue.kill().await;
                Reply::failed(message, stderr)
            }
            Err(_) => {
                talk.dialogue.kill().await;
                Reply::failed(timed_out(action, limits), stderr)
            }
        }
    }

    /// Ends all processes.
    pub(super) async fn end(self) {
        let places = self.0.into_inner();
        let places = places.unwrap_or_else(PoisonError::into_inner);
        let ends = places.into_values().map(|place| async move {
            if let Some(talk) = place.lock().await.take() {
                talk.dialogue.end().await;
            }
        });
        join_all(ends).await;
    }
}

/// Why a process cannot be used any more.
#[derive(Debug)]
enum Why {
    Broken(Broken),
    /// It violated the contract.
    Misfit(String),
}

impl Talk {
    /// Returns the known process if it still runs, or else starts a new one.
    async fn going(known: Option<Self>, program: &Program) -> io::Result<Self> {
        if let Some(mut known) = known
            && !known.dialogue.has_ended()
        {
            return Ok(known);
        }
        let dialogue = Dialogue::begin(&program.started(Action::Serve)).await?;
        Ok(Self { dialogue, last: 0 })
    }

    /// Sends a request. The answer may be a failure.
    async fn ask(
        &mut self,
        action: Action,
        input: Value,
        limits: &ProcessLimits,
        mut tell: impl FnMut(&Value) -> Result<(), String>,
    ) -> Result<Result<Hash, Problem>, Why> {
        self.last += 1;
        let id = self.last;
        let request = [
            ("id", Value::from(id)),
            ("action", Value::from(action.name())),
            ("input", input),
        ];
        let request = revealed(&Value::Hash(request.into_iter().collect()));
        let hear = |line: &[u8]| match Line::read(line, id) {
            Ok(Line::Event(event)) => tell(&event).err().map(Err),
            Ok(Line::Answer(answer)) => Some(Ok(answer)),
            Err(problem) => Some(Err(problem)),
        };
        match self.dialogue.ask(&request, limits, hear).await {
            Ok(answer) => answer.map_err(Why::Misfit),
            Err(broken) => Err(Why::Broken(broken)),
        }
    }
}

impl Why {
    fn told(self, stderr: &CapturedOutput, limits: &ProcessLimits) -> String {
        match self {
            Self::Misfit(problem) => problem,
            Self::Broken(Broken::TooLong) => format!(
                "it wrote a line of more than {} bytes (`output-limit`)",
                limits.stdout
            ),
            Self::Broken(Broken::RawConnectionInfo) => {
                "it answered before it had read the request to its end".to_owned()
            }
            Self::Broken(Broken::Ended(exit)) => {
                let how = match exit {
                    Exit::Code(code) => format!("it ended with exit code {code}"),
                    Exit::Signal(signal) => format!("it was ended by SIG{signal}"),
                    Exit::Unsaid => "it ended".to_owned(),
                };
                results::ended(&format!("{how} instead of answering"), stderr)
            }
        }
    }
}

/// A line of a program's output.
#[derive(Debug)]
enum Line {
    Event(Value),
    Answer(Result<Hash, Problem>),
}

impl Line {
    /// Parses a line that concerns the request with this number.
    ///
    /// # Errors
    /// Fails with what was expected. The line is not quoted, because it may contain a secret.
    fn read(line: &[u8], id: i64) -> Result<Self, String> {
        if values(line) > MAX_VALUES {
            return Err(format!("{EXPECTED}; it has more than {MAX_VALUES} values"));
        }
        let Ok(Value::Hash(mut said)) = read_json(line).map(Value::from) else {
            return Err(EXPECTED.to_owned());
        };
        match said.get("id") {
            Some(Value::Integer(said)) if *said == id => {}
            _ => {
                return Err(format!(
                    "{EXPECTED}: the request is {id}, the line has another"
                ));
            }
        }
        let parts = ["event", "results", "error"].map(|key| said.remove(key));
        match parts {
            [Some(event), None, None] => Ok(Self::Event(event)),
            [None, Some(Value::Hash(results)), None] => Ok(Self::Answer(Ok(results))),
            [None, None, Some(error)] => Ok(Self::Answer(Err(results::said(&error)))),
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_event_an_answer_or_an_error_with_the_requests_number() {
        let read = |line: &str| Line::read(line.as_bytes(), 7);
        assert!(matches!(
            read(r#"{"id": 7, "event": {}}"#),
            Ok(Line::Event(_))
        ));
        assert!(matches!(
            read(r#"{"id": 7, "results": {}}"#),
            Ok(Line::Answer(Ok(_)))
        ));
        match read(r#"{"id": 7, "error": {"msg": "no", "kind": "a/b"}}"#) {
            Ok(Line::Answer(Err(problem))) => {
                assert_eq!(
                    (problem.message.as_str(), problem.kind.as_deref()),
                    ("no", Some("a/b"))
                );
            }
            other => panic!("expected an error, got {other:?}"),
        }
        for wrong in [
            "",
            "canary",
            "{\"id\": 7, \"canary",
            "[7]",
            r#"{"results": {}}"#,
            r#"{"id": "7", "results": {}}"#,
            r#"{"id": 6, "results": {}}"#,
            r#"{"id": 7}"#,
            r#"{"id": 7, "results": ["canary"]}"#,
            r#"{"id": 7, "results": {}, "event": {}}"#,
        ] {
            let problem = read(wrong).expect_err(wrong);
            assert!(
                problem.contains("line of JSON") && !problem.contains("canary"),
                "{problem}"
            );
        }
    }
}
