//! One program: what it is asked, and what it is told to do when it is started.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use devgate_schemas::task::CapturedOutput;
use devgate_schemas::{Hash, Sensitive, Value};
use devgate_transports::Error;
use devgate_transports::error::ProgramProblem;

use super::action::Action;
use super::results::{self, Problem};
use crate::process::{self, Failure, OutputLimit, ProcessLimits};
use devgate_core::cancel::CancelSource;

/// A program that is a transport, or manages a type of resource.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Where it was found.
    file: PathBuf,
    /// The same without links: two that are one file are asked in one process, where they stay.
    real: PathBuf,
    /// The resource type, if it is one.
    type_name: Option<String>,
    /// How its host is started, if it is none that is started itself.
    host: Option<Vec<OsString>>,
}

/// What came of asking a program.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) results: Result<Hash, Problem>,
    /// Its words to people.
    pub(super) stderr: CapturedOutput,
}

impl Program {
    pub(super) fn new(file: &Path, type_name: Option<&str>) -> Self {
        Self {
            file: file.to_owned(),
            real: file.canonicalize().unwrap_or_else(|_| file.to_owned()),
            type_name: type_name.map(str::to_owned),
            host: None,
        }
    }

    /// A file that another program serves, which is started by these words.
    pub(super) fn hosted(file: &Path, words: Vec<OsString>) -> Self {
        Self {
            host: Some(words),
            ..Self::new(file, None)
        }
    }

    /// Whether another program serves it.
    pub(super) fn is_hosted(&self) -> bool {
        self.host.is_some()
    }

    /// The same program, asked about a resource type.
    pub(super) fn of_type(&self, name: &str) -> Self {
        Self {
            type_name: Some(name.to_owned()),
            ..self.clone()
        }
    }

    /// Where it was found.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Where it is.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// Asks it one thing in a process of its own.
    pub(super) async fn once(&self, action: Action, input: Hash, limits: &ProcessLimits) -> Reply {
        let request = Value::Hash([("input", self.input(input))].into_iter().collect());
        let program = process::Program {
            stdin: Some(revealed(&request)),
            ..self.started(action)
        };
        // Who does not want to wait any longer drops this future, and the process is killed.
        let cancel_source = CancelSource::default();
        let excess = OutputLimit::over(limits.stdout);
        let stop = cancel_source.stop();
        let run = tokio::select! {
            run = process::run(&program, limits, &stop, &excess) => run,
            // It need not end by itself.
            () = excess.comes() => {
                let message = results::too_long(limits.stdout);
                return Reply::failed(message, CapturedOutput::default());
            }
        };
        match run {
            Ok(outcome) => Reply {
                results: results::of(&outcome),
                stderr: outcome.stderr,
            },
            Err(Failure::Start(error)) => {
                Reply::failed(self.not_started(&error), CapturedOutput::default())
            }
            Err(Failure::Ended(ended)) => Reply::failed(timed_out(action, limits), ended.stderr),
        }
    }

    /// How it is started to do something.
    pub(super) fn started(&self, action: Action) -> process::Program {
        let mut words = match (&self.host, action) {
            (Some(words), _) => words.clone(),
            (None, Action::Serve) => vec![self.real.clone().into()],
            (None, _) => vec![self.file.clone().into()],
        };
        words.push(action.name().into());
        process::Program {
            words,
            environment: Vec::new(),
            stdin: None,
        }
    }

    /// Why the operating system did not start it.
    pub(super) fn not_started(&self, error: &io::Error) -> String {
        if self.host.is_some() && error.kind() == io::ErrorKind::NotFound {
            return format!(
                "it cannot be started ({error}): Ruby modules need Ruby, Puppet and its Resource API; on \
                 Debian, `apt-get install puppet-agent ruby-puppet-resource-api`"
            );
        }
        process::not_started(error)
    }

    /// What it is asked about, and of which type.
    pub(super) fn input(&self, mut input: Hash) -> Value {
        if let Some(name) = &self.type_name {
            input.insert("type", Value::from(name.as_str()));
        }
        Value::Hash(input)
    }

    /// That it failed, or did not do as it must.
    pub(super) fn error(&self, action: Action, problem: Problem) -> Error {
        Error::Program(Box::new(ProgramProblem {
            program: self.file.display().to_string(),
            action: action.name().to_owned(),
            problem: problem.message,
            kind: problem.kind,
            details: problem.details,
        }))
    }
}

impl Reply {
    pub(super) fn failed(message: String, stderr: CapturedOutput) -> Self {
        Self {
            results: Err(Problem::new(message)),
            stderr,
        }
    }
}

/// A request as it is written to a program, with its secrets.
pub(super) fn revealed(request: &Value) -> Sensitive<Vec<u8>> {
    let mut line = request.reveal_json().to_string();
    line.push('\n');
    Sensitive::new(line.into_bytes())
}

/// That a program has taken longer than it may.
pub(super) fn timed_out(action: Action, limits: &ProcessLimits) -> String {
    let seconds = limits.time.unwrap_or_default().as_secs_f64();
    let (limit, hint) = if action == Action::Schema {
        ("", "its metadata must not depend on a device")
    } else {
        (" (`task-timeout`)", "changes that were made before stay")
    };
    format!(
        "it gave no results within {seconds} s{limit}, and was ended with all its processes; {hint}"
    )
}
