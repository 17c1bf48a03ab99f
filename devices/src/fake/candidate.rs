//! A session with a device whose lines take effect with a commit.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use devgate_schemas::{Facts, REDACTED};
use devgate_transports::error::{ConfigurationProblem, LinesEffect, RefusedLine};
use devgate_transports::{CommandLine, Context, Error, Line, Result, Transport};

/// A device that keeps the lines `set …`, until `delete …` takes them away. It refuses lines with one word, and commits of
/// lines with another.
#[derive(Debug, Default)]
pub(crate) struct FakeCandidate {
    pub(crate) refuses: Option<&'static str>,
    pub(crate) refuses_commit_of: Option<&'static str>,
    /// Whether somebody else has locked the candidate.
    pub(crate) is_locked: bool,
    /// Whether a commit is not answered.
    pub(crate) is_lost: bool,
    pub(crate) state: Mutex<FakeState>,
}

#[derive(Debug, Default)]
pub(crate) struct FakeState {
    running: Vec<String>,
    /// What it held at first. The lines that restore it are hidden.
    initial: Vec<String>,
    /// The number of lines in each visit to configuration mode.
    visits: Vec<usize>,
}

impl FakeCandidate {
    pub(crate) fn with_running(lines: &[&str]) -> Self {
        let device = Self::default();
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        device.with(|state| (state.running, state.initial) = (lines.clone(), lines));
        device
    }

    pub(crate) fn running(&self) -> Vec<String> {
        self.with(|state| state.running.clone())
    }

    pub(crate) fn visits(&self) -> Vec<usize> {
        self.with(|state| state.visits.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut FakeState) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Types lines into a candidate, and returns it.
    fn candidate(&self, lines: &[Line]) -> Result<Vec<String>> {
        self.with(|state| state.visits.push(lines.len()));
        let mut problem = ConfigurationProblem {
            peer: "fake:22".to_owned(),
            refused: Vec::new(),
            sent: 0,
            answered: 0,
            of: lines.len(),
            effect: LinesEffect::NotCommitted,
            interrupted: None,
        };
        if self.is_locked {
            let locked = failed("configure exclusive", "error: locked by: joe");
            problem.interrupted = Some(Box::new(locked));
            return Err(Error::Configuration(Box::new(problem)));
        }
        let mut candidate = self.running();
        for line in lines {
            problem.sent += 1;
            problem.answered += 1;
            let line = line.shown();
            if self.refuses.is_some_and(|word| line.contains(word)) {
                problem.refused.push(RefusedLine {
                    number: problem.sent,
                    line,
                    message: "syntax error.".to_owned(),
                });
                return Err(Error::Configuration(Box::new(problem)));
            }
            match line.strip_prefix("delete ") {
                _ if line == REDACTED => candidate = self.with(|state| state.initial.clone()),
                Some(gone) => candidate.retain(|line| line != &format!("set {gone}")),
                None => candidate.push(line),
            }
        }
        Ok(candidate)
    }
}

fn failed(command: &str, message: &str) -> Error {
    Error::CommandFailed {
        peer: "fake:22".to_owned(),
        command: command.to_owned(),
        message: message.to_owned(),
        hint: "",
    }
}

#[async_trait]
impl CommandLine for FakeCandidate {
    async fn exec(&self, _: &Context<'_>, _: &str) -> Result<String> {
        Ok(self.running().join("\n"))
    }

    async fn exec_once(&self, ctx: &Context<'_>, line: &Line) -> Result<String> {
        self.exec(ctx, &line.shown()).await
    }

    async fn configure(&self, _: &Context<'_>, lines: &[Line]) -> Result<()> {
        let candidate = self.candidate(lines)?;
        let mut problem = ConfigurationProblem {
            peer: "fake:22".to_owned(),
            refused: Vec::new(),
            sent: lines.len(),
            answered: lines.len(),
            of: lines.len(),
            effect: LinesEffect::NotCommitted,
            interrupted: None,
        };
        let is_bad = |line: &String| {
            let word = self.refuses_commit_of;
            word.is_some_and(|word| line.contains(word))
        };
        if self.is_lost {
            problem.effect = LinesEffect::InDoubt;
            problem.interrupted = Some(Box::new(Error::Unsupported("lost".to_owned())));
        } else if candidate.iter().any(is_bad) {
            let message = "error: it does not fit\nerror: check-out failed";
            problem.interrupted = Some(Box::new(failed("commit", message)));
        } else {
            self.with(|state| state.running = candidate);
            return Ok(());
        }
        Err(Error::Configuration(Box::new(problem)))
    }

    async fn preview(&self, _: &Context<'_>, lines: &[Line]) -> Result<Option<String>> {
        let (candidate, running) = (self.candidate(lines)?, self.running());
        let new = candidate.iter().filter(|line| !running.contains(line));
        let shown: Vec<String> = new.map(|line| format!("+ {line}")).collect();
        Ok(Some(shown.join("\n")))
    }

    async fn save(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Transport for FakeCandidate {
    async fn verify(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }
}
