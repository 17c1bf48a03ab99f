//! Test doubles: a session that records its input, and an event sink that records messages.

mod candidate;

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use devgate_schemas::{Event, EventSink, Facts};
use devgate_transports::error::{ConfigurationProblem, LinesEffect, RefusedLine};
use devgate_transports::{CommandLine, Context, Line, Transport};

pub(crate) use candidate::FakeCandidate;

/// A session that refuses lines containing a word, or is lost at a line containing one.
#[derive(Debug, Default)]
pub(crate) struct FakeSession {
    pub(crate) output: &'static str,
    pub(crate) refuses: Option<&'static str>,
    pub(crate) lost_at: Option<&'static str>,
    pub(crate) typed: Mutex<Vec<String>>,
}

#[async_trait]
impl CommandLine for FakeSession {
    async fn exec(&self, _: &Context<'_>, command: &str) -> devgate_transports::Result<String> {
        self.record(format!("> {command}"));
        if self.refuses.is_some_and(|word| command.contains(word)) {
            let (peer, command, message) = ("fake:22".into(), command.into(), "% no".into());
            return Err(devgate_transports::Error::CommandFailed {
                peer,
                command,
                message,
                hint: "",
            });
        }
        Ok(self.output.to_owned())
    }

    async fn exec_once(
        &self,
        ctx: &Context<'_>,
        line: &Line,
    ) -> devgate_transports::Result<String> {
        self.exec(ctx, &line.shown()).await
    }

    async fn configure(&self, _: &Context<'_>, lines: &[Line]) -> devgate_transports::Result<()> {
        self.record("configure".to_owned());
        for (number, line) in (1..).zip(lines) {
            let shown = line.shown();
            self.record(shown.clone());
            let contains = |word: Option<&str>| word.is_some_and(|word| shown.contains(word));
            if contains(self.refuses) || contains(self.lost_at) {
                let lost = devgate_transports::Error::Unsupported("lost".to_owned());
                let message = "% no".to_owned();
                let problem = ConfigurationProblem {
                    peer: "fake:22".to_owned(),
                    refused: contains(self.refuses)
                        .then(|| RefusedLine {
                            number,
                            line: shown.clone(),
                            message,
                        })
                        .into_iter()
                        .collect(),
                    sent: number,
                    answered: number - usize::from(contains(self.lost_at)),
                    of: lines.len(),
                    effect: LinesEffect::Each,
                    interrupted: contains(self.lost_at).then(|| Box::new(lost)),
                };
                return Err(devgate_transports::Error::Configuration(Box::new(problem)));
            }
        }
        Ok(())
    }

    async fn save(&self, _: &Context<'_>) -> devgate_transports::Result<()> {
        self.record("save".to_owned());
        Ok(())
    }
}

#[async_trait]
impl Transport for FakeSession {
    async fn verify(&self, _: &Context<'_>) -> devgate_transports::Result<()> {
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> devgate_transports::Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }
}

impl FakeSession {
    /// Creates a session that gives the same output for every command, except that it refuses commands
    /// containing a word.
    pub(crate) fn with_output(output: &'static str, refuses: &'static str) -> Self {
        Self {
            output,
            refuses: Some(refuses),
            ..Self::default()
        }
    }

    fn record(&self, text: String) {
        self.typed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    /// Returns what has been typed so far.
    pub(crate) fn typed(&self) -> Vec<String> {
        self.typed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The recorded messages with their levels.
#[derive(Default)]
pub(crate) struct EventLog(Mutex<Vec<String>>);

impl EventLog {
    /// Returns all messages except those of the debug level.
    pub(crate) fn into_lines(self) -> Vec<String> {
        let mut lines = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|line| !line.starts_with("debug: "));
        lines
    }
}

impl EventSink for EventLog {
    fn emit(&self, event: Event) {
        let text = format!("{}: {}", event.level, event.message);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }
}
