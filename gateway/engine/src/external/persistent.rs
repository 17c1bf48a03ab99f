//! Persistent programs: one process for each, for the time of a session, with requests as lines of JSON.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use devgate_core::lock::locked;
use devgate_schemas::task::CapturedOutput;
use devgate_schemas::{Hash, MAX_VALUES, Value, read_json, values};
use devgate_transports::ssh_host::Exit;
use devgate_transports::{Context, Error};
use futures_util::future::join_all;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;

use super::action::Action;
use super::family_program::{FamilyProgram, Reply, encode_request, timed_out};
use super::on_proxy::{Place, StartFailure};
use super::results::{self, ProgramFailure};
use crate::process::{Dialogue, DialogueError, ProcessLimits};

/// The processes of a session, by their files.
#[derive(Debug, Default)]
pub(super) struct PersistentPrograms(
    Mutex<HashMap<PathBuf, Arc<AsyncMutex<Option<PersistentProgram>>>>>,
);

/// A request to a persistent program.
#[derive(Debug)]
pub(super) struct PersistentRequest<'a> {
    pub(super) program: &'a FamilyProgram,
    pub(super) action: Action,
    pub(super) input: Hash,
    pub(super) limits: &'a ProcessLimits,
}

/// A process that answers requests one after another.
#[derive(Debug)]
struct PersistentProgram {
    dialogue: Dialogue,
    /// The number of the last request.
    last: i64,
}

const EXPECTED: &str = "expected a line of JSON, `{id, event}`, `{id, results}` or `{id, error}`, with the \
                        request's id; words for people go to stderr";

impl PersistentPrograms {
    /// Sends a request to the program's process, which is started if it does not run. `on_event` receives its events.
    ///
    /// # Errors
    /// Fails when no proxy can be used, or when it was lost. Every other failure is in the reply.
    pub(super) async fn request(
        &self,
        ctx: &Context<'_>,
        place: Place<'_>,
        request: PersistentRequest<'_>,
        on_event: impl FnMut(&Value) -> Result<(), String>,
    ) -> Result<Reply, Error> {
        let PersistentRequest {
            program,
            action,
            input,
            limits,
        } = request;
        let slot = locked(&self.0)
            .entry(program.real_path().to_owned())
            .or_default()
            .clone();
        let mut slot = slot.lock().await;
        // The process is put back after its answer. One that was left in the middle gets no further request.
        let mut process = match slot.take().and_then(PersistentProgram::if_it_runs) {
            Some(process) => process,
            None => match PersistentProgram::start(ctx, place, program).await {
                Ok(process) => process,
                Err(why) => return why.into_reply(),
            },
        };
        let request = process.request(action, program.input(input), limits, on_event);
        let answer = match limits.time {
            None => Ok(request.await),
            Some(limit) => timeout(limit, request).await,
        };
        let stderr = process.dialogue.stderr();
        match answer {
            Ok(Ok(answer)) => {
                *slot = Some(process);
                Ok(Reply {
                    results: answer,
                    stderr,
                })
            }
            Ok(Err(RequestFailure::Dialogue(DialogueError::Lost(proxy)))) => {
                Err(program.lost(action, &proxy))
            }
            Ok(Err(why)) => {
                let message = why.describe(&stderr, limits);
                process.dialogue.kill(ctx).await;
                Ok(Reply::failed(message, stderr))
            }
            Err(_) => {
                process.dialogue.kill(ctx).await;
                Ok(Reply::failed(timed_out(action, limits), stderr))
            }
        }
    }

    /// Ends all processes.
    pub(super) async fn end(self, ctx: &Context<'_>) {
        let slots = self.0.into_inner();
        let slots = slots.unwrap_or_else(PoisonError::into_inner);
        let ends = slots.into_values().map(|slot| async move {
            if let Some(process) = slot.lock().await.take() {
                process.dialogue.end(ctx).await;
            }
        });
        join_all(ends).await;
    }
}

/// Why a process cannot be used any more.
#[derive(Debug)]
enum RequestFailure {
    Dialogue(DialogueError),
    /// It violated the contract.
    ContractViolation(String),
}

impl PersistentProgram {
    fn if_it_runs(mut self) -> Option<Self> {
        (!self.dialogue.has_ended()).then_some(self)
    }

    async fn start(
        ctx: &Context<'_>,
        place: Place<'_>,
        program: &FamilyProgram,
    ) -> Result<Self, StartFailure> {
        let dialogue = match program.start_at(ctx, place, Action::Serve).await? {
            Some(process) => Dialogue::with_hosted(process),
            None => {
                let started = Dialogue::start(&program.process_program(Action::Serve)).await;
                started.map_err(|error| StartFailure::Program(program.start_failure(&error)))?
            }
        };
        Ok(Self { dialogue, last: 0 })
    }

    /// Sends a request. The answer may be a failure.
    async fn request(
        &mut self,
        action: Action,
        input: Value,
        limits: &ProcessLimits,
        mut on_event: impl FnMut(&Value) -> Result<(), String>,
    ) -> Result<Result<Hash, ProgramFailure>, RequestFailure> {
        self.last += 1;
        let id = self.last;
        let request = [
            ("id", Value::from(id)),
            ("action", Value::from(action.name())),
            ("input", input),
        ];
        let request = encode_request(&Value::Hash(request.into_iter().collect()));
        let on_line = |line: &[u8]| match OutputLine::read(line, id) {
            Ok(OutputLine::Event(event)) => on_event(&event).err().map(Err),
            Ok(OutputLine::Answer(answer)) => Some(Ok(answer)),
            Err(problem) => Some(Err(problem)),
        };
        match self.dialogue.request(&request, limits, on_line).await {
            Ok(answer) => answer.map_err(RequestFailure::ContractViolation),
            Err(broken) => Err(RequestFailure::Dialogue(broken)),
        }
    }
}

impl RequestFailure {
    fn describe(self, stderr: &CapturedOutput, limits: &ProcessLimits) -> String {
        match self {
            Self::ContractViolation(problem) => problem,
            Self::Dialogue(DialogueError::TooLong) => format!(
                "it wrote a line of more than {} bytes (`output-limit`)",
                limits.stdout
            ),
            Self::Dialogue(DialogueError::Lost(proxy)) => format!("the proxy {proxy} was lost"),
            Self::Dialogue(DialogueError::AnsweredEarly) => {
                "it answered before it had read the request to its end".to_owned()
            }
            Self::Dialogue(DialogueError::Ended(exit)) => {
                let how = match exit {
                    Exit::Code(code) => format!("it ended with exit code {code}"),
                    Exit::Signal(signal) => format!("it was ended by SIG{signal}"),
                    Exit::Unsaid => "it ended".to_owned(),
                };
                results::describe_end(&format!("{how} instead of answering"), stderr)
            }
        }
    }
}

/// A line of a program's output.
#[derive(Debug)]
enum OutputLine {
    Event(Value),
    Answer(Result<Hash, ProgramFailure>),
}

impl OutputLine {
    /// Parses a line that concerns the request with this number.
    ///
    /// # Errors
    /// Fails with what was expected. The line is not quoted, because it may contain a secret.
    fn read(line: &[u8], id: i64) -> Result<Self, String> {
        if values(line) > MAX_VALUES {
            return Err(format!("{EXPECTED}; it has more than {MAX_VALUES} values"));
        }
        let Ok(Value::Hash(mut fields)) = read_json(line).map(Value::from) else {
            return Err(EXPECTED.to_owned());
        };
        match fields.get("id") {
            Some(Value::Integer(number)) if *number == id => {}
            _ => {
                return Err(format!(
                    "{EXPECTED}: the request is {id}, the line has another"
                ));
            }
        }
        let parts = ["event", "results", "error"].map(|key| fields.remove(key));
        match parts {
            [Some(event), None, None] => Ok(Self::Event(event)),
            [None, Some(Value::Hash(results)), None] => Ok(Self::Answer(Ok(results))),
            [None, None, Some(error)] => Ok(Self::Answer(Err(results::failure_of(&error)))),
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_event_an_answer_or_an_error_with_the_requests_number() {
        let read = |line: &str| OutputLine::read(line.as_bytes(), 7);
        assert!(matches!(
            read(r#"{"id": 7, "event": {}}"#),
            Ok(OutputLine::Event(_))
        ));
        assert!(matches!(
            read(r#"{"id": 7, "results": {}}"#),
            Ok(OutputLine::Answer(Ok(_)))
        ));
        match read(r#"{"id": 7, "error": {"msg": "no", "kind": "a/b"}}"#) {
            Ok(OutputLine::Answer(Err(problem))) => {
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
