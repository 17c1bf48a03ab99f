//! This node as a host: a task's files laid out in a private directory, the process, its result.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use tempfile::TempDir;

use super::{Order, TaskOutput};
use crate::process::{self, Failure, Program};
use crate::tasks::{Implementation, Invocation, TaskError};

/// This node.
#[derive(Debug)]
pub(crate) struct Local {
    settings: LocalSettings,
    features: BTreeSet<String>,
}

/// How tasks are run on this node.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalSettings {
    /// Where the directories of tasks are made; the system's own place if nothing is said.
    pub(crate) tmpdir: Option<PathBuf>,
    /// The program that runs files with an extension, `.rb` or `rb`; others run by themselves.
    pub(crate) interpreters: BTreeMap<String, PathBuf>,
}

/// A task's private directory: removed when this is dropped.
struct Stage {
    dir: TempDir,
    executable: PathBuf,
    installdir: Option<PathBuf>,
}

impl Local {
    /// This node; its features are what is there: a shell, and Puppet's own Ruby.
    pub(crate) fn new(settings: LocalSettings) -> Self {
        let ruby = Path::new("/opt/puppetlabs/puppet/bin/ruby");
        let puppet = ruby.is_file().then(|| "puppet-agent".to_owned());
        let features = puppet.into_iter().chain(["shell".to_owned()]).collect();
        Self { settings, features }
    }

    pub(super) fn features(&self) -> &BTreeSet<String> {
        &self.features
    }

    /// Runs a task on this node. When this future is dropped, the task's whole process group is
    /// killed and its directory removed.
    pub(super) async fn run(
        &self,
        invocation: Invocation,
        order: Order<'_>,
    ) -> Result<TaskOutput, TaskError> {
        let stage = Stage::set(&invocation, self.settings.tmpdir.as_deref()).await?;
        let input = invocation.input(stage.installdir.as_deref())?;
        let mut program = Program {
            words: words(&stage.executable, &self.settings),
            environment: input.environment,
            stdin: input.stdin,
        };
        let Order { limits, stop, hear } = order;
        let mut ended = process::run(&program, limits, stop, hear).await;
        if let Err(Failure::Start(error)) = &ended
            && Errno::from_raw(error.raw_os_error().unwrap_or_default()) == Errno::ENOEXEC
            && program.words.len() == 1
            && is_text(&stage.executable)
        {
            // A script without a first line that names its interpreter is the shell's, as it would
            // be had a shell been asked to run it.
            program.words.insert(0, OsString::from("/bin/sh"));
            ended = process::run(&program, limits, stop, hear).await;
        }
        let task = invocation.task();
        let outcome = ended.map_err(|failure| match failure {
            Failure::Start(error) => unexecutable(&invocation, &program, &stage.executable, &error),
            Failure::TimedOut(limit) => TaskError::TimedOut {
                task: task.to_owned(),
                limit,
            },
            Failure::Stopped => TaskError::Stopped {
                task: task.to_owned(),
            },
        })?;
        stage.clear(task);
        Ok(TaskOutput {
            exit: outcome.exit,
            stderr: String::from_utf8_lossy(&outcome.stderr.bytes).into_owned(),
            value: outcome.into_value(task),
        })
    }
}

impl Stage {
    async fn set(invocation: &Invocation, tmpdir: Option<&Path>) -> Result<Self, TaskError> {
        let base = tmpdir.map_or_else(std::env::temp_dir, Path::to_owned);
        let implementation = invocation.implementation().clone();
        let failed = {
            let (task, path) = (invocation.task().to_owned(), base.clone());
            |error| TaskError::Copy { task, path, error }
        };
        tokio::task::spawn_blocking(move || Self::lay_out(&implementation, &base))
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(failed)
    }

    /// Without further files the executable stands in the directory itself; with them, it and they
    /// stand below it as in their modules, and the directory is `_installdir` (Task Specification,
    /// "Metaparameter Examples").
    fn lay_out(implementation: &Implementation, base: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("devgate-task-")
            .permissions(Permissions::from_mode(0o700))
            // A task may change its directory, and must find `_installdir` all the same.
            .tempdir_in(std::path::absolute(base)?)?;
        let (executable, installdir) = if implementation.files.is_empty() {
            (dir.path().join(implementation.file_name()), None)
        } else {
            for file in &implementation.files {
                copy(&file.path, &dir.path().join(&file.name))?;
            }
            (
                dir.path().join(&implementation.file.name),
                Some(dir.path().to_owned()),
            )
        };
        copy(&implementation.file.path, &executable)?;
        let mode = fs::metadata(&executable)?.permissions().mode();
        fs::set_permissions(&executable, Permissions::from_mode(mode | 0o500))?;
        Ok(Self {
            dir,
            executable,
            installdir,
        })
    }

    fn clear(self, task: &str) {
        let path = self.dir.path().to_owned();
        if let Err(error) = self.dir.close() {
            tracing::warn!(task, "{} could not be removed: {error}", path.display());
        }
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let name =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", from.display()));
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(name)?;
    }
    // A directory in `files` may hold the executable too.
    if to.exists() {
        return Ok(());
    }
    let _writing = process::writing_executables();
    fs::copy(from, to).map_err(name)?;
    Ok(())
}

fn words(executable: &Path, settings: &LocalSettings) -> Vec<OsString> {
    let extension = executable.extension().unwrap_or_default().to_string_lossy();
    let interpreter = settings
        .interpreters
        .iter()
        .find(|(key, _)| !extension.is_empty() && key.trim_start_matches('.') == extension);
    interpreter
        .map(|(_, program)| OsString::from(program))
        .into_iter()
        .chain([OsString::from(executable)])
        .collect()
}

/// Why the operating system did not run a task, with the most frequent cause: the interpreter.
fn unexecutable(
    invocation: &Invocation,
    program: &Program,
    executable: &Path,
    error: &io::Error,
) -> TaskError {
    let interpreter = match program.words.as_slice() {
        [interpreter, _] => Some(format!("its interpreter {}", interpreter.to_string_lossy())),
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

/// A script's line `#!…`, as far as it is text.
fn first_line(executable: &Path) -> Option<String> {
    let head = head(executable);
    let line = head.split(|byte| *byte == b'\n').next()?;
    line.starts_with(b"#!")
        .then(|| String::from_utf8_lossy(line).into_owned())
}

/// Whether a file may be a script: programs have NUL bytes at their beginning.
fn is_text(executable: &Path) -> bool {
    !head(executable).contains(&0)
}

fn head(executable: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    let read = fs::File::open(executable).and_then(|file| file.take(256).read_to_end(&mut head));
    if read.is_err() {
        head.clear();
    }
    head
}
