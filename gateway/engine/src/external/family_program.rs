//! One program: its requests, and how it is started.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_core::cancel::CancelSource;
use devgate_schemas::task::CapturedOutput;
use devgate_schemas::{Hash, Sensitive, Value};
use devgate_transports::Error;
use devgate_transports::error::ProgramProblem;

use super::action::Action;
use super::family_files::FamilyFiles;
use super::results::{self, ProgramFailure};
use crate::process::{self, OutputLimit, ProcessFailure, ProcessLimits};

/// A program that is a transport or manages a resource type.
#[derive(Clone, Debug)]
pub(super) struct FamilyProgram {
    /// The path at which it was found.
    file: PathBuf,
    /// The path without links. Names of the same file share a process, if it is persistent.
    real_path: PathBuf,
    /// The resource type, if it manages one.
    type_name: Option<String>,
    /// The files that it needs on a proxy.
    files: Arc<FamilyFiles>,
    /// The host that serves it, if it is not started itself.
    ruby: Option<Arc<RubyHost>>,
}

/// How the host of Ruby modules is started.
#[derive(Debug)]
pub(super) struct RubyHost {
    /// The words on this node.
    pub(super) argv: Vec<OsString>,
    /// The name of its main file on a proxy.
    pub(super) start_file: String,
    /// The transport.
    pub(super) transport: String,
    /// The names of the modules' `lib` folders on a proxy.
    pub(super) libs: Vec<String>,
}

/// The reply of a program.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) results: Result<Hash, ProgramFailure>,
    /// Its messages for people.
    pub(super) stderr: CapturedOutput,
}

impl FamilyProgram {
    pub(super) fn new(file: &Path, type_name: Option<&str>, files: &Arc<FamilyFiles>) -> Self {
        Self {
            file: file.to_owned(),
            real_path: file.canonicalize().unwrap_or_else(|_| file.to_owned()),
            type_name: type_name.map(str::to_owned),
            files: Arc::clone(files),
            ruby: None,
        }
    }

    /// Creates the program for a file that the host of Ruby modules serves.
    pub(super) fn of_ruby(file: &Path, host: RubyHost, files: FamilyFiles) -> Self {
        Self {
            ruby: Some(Arc::new(host)),
            ..Self::new(file, None, &Arc::new(files))
        }
    }

    /// Returns the host that serves it, if it is not started itself.
    pub(super) fn ruby(&self) -> Option<&RubyHost> {
        self.ruby.as_deref()
    }

    /// Returns the files that it needs on a proxy.
    pub(super) fn files(&self) -> &FamilyFiles {
        &self.files
    }

    /// Returns the file that is started for an action.
    pub(super) fn file_for(&self, action: Action) -> &Path {
        match action {
            Action::Serve => &self.real_path,
            _ => &self.file,
        }
    }

    /// Whether a host serves it.
    pub(super) fn is_hosted(&self) -> bool {
        self.ruby.is_some()
    }

    /// Returns the same program for a resource type.
    pub(super) fn of_type(&self, name: &str) -> Self {
        Self {
            type_name: Some(name.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the path at which it was found.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the path without links.
    pub(super) fn real_path(&self) -> &Path {
        &self.real_path
    }

    /// Sends one request to a process of its own.
    pub(super) async fn run_once(
        &self,
        action: Action,
        input: Hash,
        limits: &ProcessLimits,
    ) -> Reply {
        let request = Value::Hash([("input", self.input(input))].into_iter().collect());
        let program = process::Program {
            stdin: Some(encode_request(&request)),
            ..self.process_program(action)
        };
        // If the caller drops this future, the process is killed.
        let cancel_source = CancelSource::default();
        let excess = OutputLimit::new(limits.stdout);
        let stop = cancel_source.token();
        let run = tokio::select! {
            run = process::run(&program, limits, &stop, &excess) => run,
            // The program need not end by itself.
            () = excess.exceeded() => {
                let message = results::too_long(limits.stdout);
                return Reply::failed(message, CapturedOutput::default());
            }
        };
        match run {
            Ok(outcome) => Reply {
                results: results::of(&outcome),
                stderr: outcome.stderr,
            },
            Err(ProcessFailure::Start(error)) => {
                Reply::failed(self.start_failure(&error), CapturedOutput::default())
            }
            Err(ProcessFailure::Ended(ended)) => {
                Reply::failed(timed_out(action, limits), ended.stderr)
            }
        }
    }

    /// Returns how it is started for an action.
    pub(super) fn process_program(&self, action: Action) -> process::Program {
        let mut argv = match &self.ruby {
            Some(host) => host.argv.clone(),
            None => vec![self.file_for(action).into()],
        };
        argv.push(action.name().into());
        process::Program {
            argv,
            environment: Vec::new(),
            stdin: None,
        }
    }

    /// Returns why the operating system did not start it.
    pub(super) fn start_failure(&self, error: &io::Error) -> String {
        if self.ruby.is_some() && error.kind() == io::ErrorKind::NotFound {
            return format!(
                "it cannot be started ({error}): Ruby modules need Ruby, Puppet and its Resource API; on \
                 Debian, `apt-get install puppet-agent ruby-puppet-resource-api`"
            );
        }
        process::start_failure(error)
    }

    /// Adds the resource type to the input of a request.
    pub(super) fn input(&self, mut input: Hash) -> Value {
        if let Some(name) = &self.type_name {
            input.insert("type", Value::from(name.as_str()));
        }
        Value::Hash(input)
    }

    /// Returns the error of a program that failed or violated its contract.
    pub(super) fn error(&self, action: Action, problem: ProgramFailure) -> Error {
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
            results: Err(ProgramFailure::new(message)),
            stderr,
        }
    }
}

/// Encodes a request for a program, with its secrets.
pub(super) fn encode_request(request: &Value) -> Sensitive<Vec<u8>> {
    let mut line = request.reveal_json().to_string();
    line.push('\n');
    Sensitive::new(line.into_bytes())
}

/// Returns the message for a program that took too long.
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
