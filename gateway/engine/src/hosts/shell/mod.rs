//! A host that is controlled through its shell, behind SSH or on this node as another user. A task's files are uploaded
//! once per run. Its input is never in a command line or on a disk. It is ended together with all its processes.
//!
//! Everything, from creating the run's directory to removing it, is done as the user under which tasks run.

mod access;
mod closing;
mod connections;
mod files;
mod forward_error;
mod hosted;
mod programs;
mod relay;
mod running_script;
mod running_task;
mod script;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use devgate_schemas::task::{Exit, Outcome};
use devgate_transports::Error;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use uuid::Uuid;

use self::access::{ShellAccess, Stdin};
pub(crate) use self::connections::SshConnections;
pub(crate) use self::forward_error::ForwardError;
use self::programs::{SHORT_SCRIPT_LIMIT, ShellPrograms};
use self::relay::{Interpreter, RELAY_LIMIT, Relays};
pub(crate) use self::relay::{Lend, RelayedClients, TaskSession};
use self::running_script::{RunningScript, ScriptError};
use self::running_task::RunningTask;
use self::script::Script;
use super::command_line::command_line;
use super::host_context::HostContext;
use super::settings::{TaskBudget, TaskHostSettings};
use super::{TaskControl, TaskNotRun, TaskOutput};
use crate::tasks::{Invocation, TaskError, TaskOutputs};

/// An open host, with the run's own directory.
pub(crate) struct Shell<'v> {
    host_context: Arc<HostContext<'v>>,
    settings: TaskHostSettings,
    programs: Arc<ShellPrograms>,
    /// The run's directory on the host.
    dir: String,
    /// What is known of the host, once the run's directory is there.
    preparation: OnceCell<Preparation>,
    /// Whether the run's directory may be on the host.
    may_have_dir: AtomicBool,
    /// The interpreters that are known to be on the host.
    found: Mutex<HashSet<String>>,
    /// The layouts that are on the host, by their digests.
    uploads: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    relays: Relays,
}

/// What a host says of itself.
#[derive(Debug, Default)]
struct Preparation {
    features: BTreeSet<String>,
    /// The interpreter for relays.
    interpreter: Option<Interpreter>,
}

/// The shortest time in which a host must be prepared, however short a task may take: `sh` may start slowly.
const MIN_PREPARE_LIMIT: Duration = Duration::from_secs(5);

impl<'v> Shell<'v> {
    /// Connects to a host behind SSH.
    ///
    /// # Errors
    /// Fails when no task can run there.
    pub(crate) async fn over_ssh(
        host_context: Arc<HostContext<'v>>,
        connections: Arc<SshConnections>,
        settings: TaskHostSettings,
    ) -> Result<Self, Failure> {
        let access = ShellAccess::Ssh(connections);
        let shell = Self::new(host_context, access, settings)?;
        shell
            .programs
            .access
            .connect(&shell.host_context.ctx())
            .await?;
        Ok(shell)
    }

    /// Creates a host for another user on this node, as the settings say.
    ///
    /// # Errors
    /// Fails when the settings cannot be used.
    pub(crate) fn for_local_user(
        host_context: Arc<HostContext<'v>>,
        settings: TaskHostSettings,
    ) -> Result<Self, Failure> {
        Self::new(host_context, ShellAccess::Local, settings)
    }

    fn new(
        host_context: Arc<HostContext<'v>>,
        access: ShellAccess,
        settings: TaskHostSettings,
    ) -> Result<Self, Failure> {
        let base = settings
            .tmpdir
            .as_deref()
            .unwrap_or_else(|| Path::new("/tmp"));
        let dir = format!("{}/devgate-{}", base.display(), Uuid::new_v4());
        if !dir.starts_with('/') || dir.contains('\n') {
            let message =
                format!("expected tmpdir to be an absolute path on one line, found {base:?}");
            return Err(Failure::new("devgate/invalid-connection-info", message));
        }
        Ok(Self {
            host_context,
            programs: Arc::new(ShellPrograms::new(access, settings.run_as.clone())),
            settings,
            dir,
            preparation: OnceCell::new(),
            may_have_dir: AtomicBool::new(false),
            found: Mutex::default(),
            uploads: Mutex::default(),
            relays: Relays::default(),
        })
    }

    /// Creates the run's directory and reads the host's features.
    ///
    /// # Errors
    /// Fails when no task can run there. The connection is closed then. `task_limit` is the time limit of a task.
    pub(crate) async fn prepare(&self, task_limit: Option<Duration>) -> Result<(), Failure> {
        let limit = task_limit.map_or(SHORT_SCRIPT_LIMIT, |limit| {
            limit.clamp(MIN_PREPARE_LIMIT, SHORT_SCRIPT_LIMIT)
        });
        // The connection is open already.
        let prepared = self.prepare_once(limit).await;
        if prepared.is_err() {
            self.programs.access.close(&self.host_context.ctx()).await;
        }
        prepared
    }

    /// Creates the run's directory and reads the host's features, unless this was done.
    ///
    /// # Errors
    /// Fails when nothing can run there.
    async fn prepare_once(&self, limit: Duration) -> Result<(), Failure> {
        let prepare = async || {
            self.may_have_dir.store(true, Ordering::Relaxed);
            let (ctx, script) = (self.host_context.ctx(), Script::prepare(&self.dir));
            let words = self.programs.run_within(&ctx, &script, limit).await;
            let words = words.map_err(|mut why| {
                if why.msg.contains(&self.dir) {
                    why.msg
                        .push_str("; set `tmpdir` to a folder where tasks may write and run");
                }
                why
            })?;
            let mut preparation = Preparation::read(&words);
            if self.settings.interpreter("ps1").is_some() {
                preparation.features.insert("powershell".to_owned());
            }
            Ok(preparation)
        };
        self.preparation.get_or_try_init(prepare).await.map(drop)
    }

    /// Returns the connections to the host, if it is behind SSH.
    pub(super) fn connections(&self) -> Option<&Arc<SshConnections>> {
        match &self.programs.access {
            ShellAccess::Ssh(connections) => Some(connections),
            ShellAccess::Local => None,
        }
    }

    pub(super) fn features(&self) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        let preparation = self.preparation.get();
        preparation.map_or(&NONE, |preparation| &preparation.features)
    }

    pub(super) fn budget(&self) -> &TaskBudget {
        &self.settings.budget
    }

    /// Runs a task.
    ///
    /// # Errors
    /// Fails when the task was not started, could not be executed, or did not run to its end.
    pub(super) async fn run(
        &self,
        invocation: &Invocation,
        control: TaskControl<'_>,
        session: TaskSession<'_>,
    ) -> Result<TaskOutput, TaskNotRun> {
        let task = invocation.task();
        let implementation = invocation.implementation();
        let dir = self.upload(task, implementation).await?;
        let executable = Path::new(&dir).join(&implementation.layout.executable().name);
        let installdir = implementation
            .layout
            .has_installdir()
            .then_some(Path::new(&dir));
        let input = invocation.input(installdir)?;
        let command_line: Vec<String> = command_line(implementation, &executable, &self.settings)
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let script = Script::run();
        let mark = script.mark.clone();
        let mut running = RunningTask::new(self, &mark);
        let limit = match session {
            TaskSession::None | TaskSession::Refused(_) => SHORT_SCRIPT_LIMIT,
            TaskSession::Relayed(_) => SHORT_SCRIPT_LIMIT + RELAY_LIMIT,
        };
        let starting = self.start_task(script, &command_line, input, session);
        let begun = tokio::select! {
            begun = timeout(limit, starting) => begun,
            () = control.stop.reaches(Stage::End) => {
                let ended = running.stop(task, None, control).await;
                return Err(ended(TaskOutputs::default()).into());
            }
        };
        let (mut running_script, relay) = match begun {
            Ok(Ok(begun)) => begun,
            Ok(Err(ScriptError::NotStarted(why))) => {
                running.mark_ended();
                return Err(TaskNotRun::NotStarted(why));
            }
            Ok(Err(ScriptError::Lost(error))) => {
                return Err(self
                    .connection_lost(task, &error, TaskOutputs::default())
                    .into());
            }
            Err(_) => {
                let ended = running.stop(task, Some(limit), control).await;
                return Err(ended(TaskOutputs::default()).into());
            }
        };
        running.set_group(running_script.group());
        let watching = running.watch(&mut running_script, task, control);
        let outcome = match (relay, session) {
            (Some(relay), TaskSession::Relayed(lend)) => {
                relay.serve_during(self, lend, watching).await?
            }
            (_, _) => watching.await?,
        };
        if let Some(reason) = exec_failure(&outcome, &mark) {
            return Err(TaskNotRun::Task(TaskError::Unexecutable {
                task: task.to_owned(),
                file: implementation.file_name().to_owned(),
                reason,
            }));
        }
        Ok(TaskOutput {
            exit: outcome.exit,
            stderr: outcome.stderr.text(),
            value: outcome.into_value(task),
        })
    }

    /// Starts a script, which waits for its input.
    async fn begin(&self, script: &Script) -> Result<(RunningScript, Stdin), ScriptError> {
        self.programs.begin(&self.host_context.ctx(), script).await
    }

    async fn start(&self, script: &Script) -> Result<RunningScript, ScriptError> {
        self.programs.start(&self.host_context.ctx(), script).await
    }

    /// Runs a short script and returns its output. `limit` is without the time for another connection.
    async fn run_short(&self, script: &Script, limit: Duration) -> Result<String, Failure> {
        let ctx = self.host_context.ctx();
        self.programs.run_short(&ctx, script, limit).await
    }

    /// Ends all processes of a task, and reports those that still live.
    async fn end(
        &self,
        mark: &str,
        group: Option<u32>,
        grace: Duration,
    ) -> Result<String, Failure> {
        let ctx = self.host_context.ctx();
        self.programs.end(&ctx, mark, group, grace).await
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<u32>>> {
        self.programs.running()
    }

    fn connection_lost(&self, task: &str, error: &Error, outputs: TaskOutputs) -> TaskError {
        TaskError::Lost {
            task: task.to_owned(),
            host: self.host_context.name().to_owned(),
            error: error.to_string(),
            outputs: Box::new(outputs),
        }
    }
}

impl Preparation {
    /// Reads the words that a host prints when it is prepared.
    fn read(words: &str) -> Self {
        let mut preparation = Self::default();
        for word in words.split(' ') {
            match word.strip_prefix('+') {
                Some(name) => preparation.interpreter = Interpreter::named(name),
                None => drop(preparation.features.insert(word.to_owned())),
            }
        }
        preparation
    }
}

impl std::fmt::Debug for Shell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("name", &self.host_context.name())
            .finish_non_exhaustive()
    }
}

/// Returns why the host's shell could not execute a task. The shell reports it with the mark in front.
fn exec_failure(outcome: &Outcome, mark: &str) -> Option<String> {
    if !matches!(outcome.exit, Exit::Code(126 | 127)) || !outcome.stdout.bytes.is_empty() {
        return None;
    }
    let stderr = String::from_utf8_lossy(&outcome.stderr.bytes);
    let (_, reason) = stderr.split_once(&format!("{mark}: "))?;
    let reason = reason.lines().next().unwrap_or_default();
    // The upload has made the file executable.
    let next = match outcome.exit {
        Exit::Code(126) => "; where `tmpdir` is mounted `noexec`, set it to another place",
        _ => "",
    };
    Some(format!("{reason}{next}"))
}
