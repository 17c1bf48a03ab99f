//! This node as a host, under our own user: its processes run tasks, from files that are laid out once for a run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use devgate_core::cancel::CancelToken;
use devgate_core::trust;
use nix::errno::Errno;

use super::command_line::{PWSH, command_line};
use super::stage::{Cleanup, Stages};
use super::{TaskBudget, TaskControl, TaskHostSettings, TaskOutput};
use crate::process::{self, EndedProcess, ProcessFailure, Program, find_program};
use crate::tasks::{Invocation, TaskError, TaskOutputs};

/// This node, for the duration of one run.
#[derive(Debug)]
pub(crate) struct Local {
    settings: TaskHostSettings,
    features: BTreeSet<String>,
    stages: Stages,
}

impl Local {
    /// Creates the host. It detects its features: a shell, PowerShell, and Puppet's own Ruby.
    pub(crate) fn new(settings: TaskHostSettings) -> Self {
        let detected = [
            ("shell", Path::new("/bin/sh").exists()),
            (
                "powershell",
                find_program(PWSH).is_some() || settings.interpreter("ps1").is_some(),
            ),
            (
                "puppet-agent",
                Path::new("/opt/puppetlabs/puppet/bin/ruby").is_file(),
            ),
        ];
        let detected = detected.into_iter().filter(|(_, detected)| *detected);
        Self {
            settings,
            features: detected.map(|(feature, _)| feature.to_owned()).collect(),
            stages: Stages::default(),
        }
    }

    pub(super) fn features(&self) -> &BTreeSet<String> {
        &self.features
    }

    pub(super) fn budget(&self) -> &TaskBudget {
        &self.settings.budget
    }

    /// Runs a task on this node. When this future is dropped, the task's whole process group is killed.
    pub(super) async fn run(
        &self,
        invocation: Invocation,
        control: TaskControl<'_>,
    ) -> Result<TaskOutput, TaskError> {
        let task = invocation.task();
        let base = self
            .settings
            .tmpdir
            .clone()
            .unwrap_or_else(|| PathBuf::from("/tmp"));
        let cleanup = if self.settings.cleanup {
            Cleanup::Remove
        } else {
            Cleanup::Keep
        };
        let stage = self
            .stages
            .get_or_lay_out(invocation.implementation(), &base, cleanup)
            .await;
        let stage = stage.map_err(|error| TaskError::Copy {
            task: task.to_owned(),
            path: base,
            error,
        })?;
        let stage = stage.get().expect("it was laid out");
        let input = invocation.input(stage.installdir())?;
        let mut program = Program {
            argv: command_line(
                invocation.implementation(),
                stage.executable(),
                &self.settings,
            ),
            environment: input.environment,
            stdin: input.stdin,
        };
        let before = program
            .argv
            .iter()
            .take_while(|word| **word != *stage.executable());
        for path in before.filter_map(find_program) {
            trust::check(&path).map_err(|problem| TaskError::Files {
                kind: "devgate/untrusted",
                problems: vec![problem],
            })?;
        }
        let TaskControl { limits, stop, sink } = control;
        let mut ended = process::run(&program, limits, stop, sink).await;
        if let Err(ProcessFailure::Start(error)) = &ended
            && Errno::from_raw(error.raw_os_error().unwrap_or_default()) == Errno::ENOEXEC
            && program.argv.len() == 1
            && is_text(stage.executable())
        {
            // A script without a first line that names its interpreter is run by the shell, as a shell would do.
            program.argv.insert(0, OsString::from("/bin/sh"));
            ended = process::run(&program, limits, stop, sink).await;
        }
        let outcome = ended.map_err(|failure| match failure {
            ProcessFailure::Start(error) => {
                not_executable(&invocation, &program, stage.executable(), &error)
            }
            ProcessFailure::Ended(ended) => ended_early(task, *ended, control.stop),
        })?;
        Ok(TaskOutput {
            exit: outcome.exit,
            stderr: outcome.stderr.text(),
            value: outcome.into_value(task),
        })
    }
}

/// Returns the error of a task that was ended before it ended by itself.
fn ended_early(task: &str, ended: EndedProcess, stop: &CancelToken) -> TaskError {
    let EndedProcess {
        limit,
        stdout,
        stderr,
        left,
    } = ended;
    if !left.is_empty() {
        tracing::warn!(
            "task {task}: these processes cannot be killed, and are still running: {left:?}"
        );
    }
    let (task, outputs) = (task.to_owned(), TaskOutputs::new(stdout, stderr));
    match limit {
        Some(limit) => TaskError::TimedOut {
            task,
            limit,
            outputs,
        },
        None => TaskError::Stopped {
            task,
            stopped: stop.message_for_part(),
            outputs,
        },
    }
}

/// Returns why the operating system did not run a task, with the most frequent cause: the interpreter.
fn not_executable(
    invocation: &Invocation,
    program: &Program,
    executable: &Path,
    error: &io::Error,
) -> TaskError {
    let interpreter = match program.argv.as_slice() {
        [interpreter, _, ..] => Some(format!("its interpreter {}", interpreter.to_string_lossy())),
        _ => first_line(executable).map(|line| format!("its first line {line:?}")),
    };
    let reason = match (
        error.kind(),
        Errno::from_raw(error.raw_os_error().unwrap_or_default()),
    ) {
        (io::ErrorKind::NotFound, _) => match interpreter {
            Some(interpreter) => format!("{interpreter} names no program on this host"),
            None => error.to_string(),
        },
        (_, Errno::ENOEXEC) => "it is neither a script nor a program for this host".to_owned(),
        (_, Errno::E2BIG) => "its parameters together are too long for the environment; let the \
                              task use input_method stdin"
            .to_owned(),
        (io::ErrorKind::PermissionDenied, _) => format!(
            "{error}; is {} on a file system without programs (noexec)? Set tmpdir to another",
            executable.display()
        ),
        _ => error.to_string(),
    };
    TaskError::Unexecutable {
        task: invocation.task().to_owned(),
        file: invocation.implementation().file_name().to_owned(),
        reason,
    }
}

/// Returns a script's line `#!…`, if it is text.
fn first_line(executable: &Path) -> Option<String> {
    let read_head = read_head(executable);
    let line = read_head.split(|byte| *byte == b'\n').next()?;
    line.starts_with(b"#!")
        .then(|| String::from_utf8_lossy(line).into_owned())
}

/// Whether a file may be a script. Programs have NUL bytes at their beginning.
fn is_text(executable: &Path) -> bool {
    !read_head(executable).contains(&0)
}

fn read_head(executable: &Path) -> Vec<u8> {
    let mut read_head = Vec::new();
    let read =
        fs::File::open(executable).and_then(|file| file.take(256).read_to_end(&mut read_head));
    if read.is_err() {
        read_head.clear();
    }
    read_head
}
