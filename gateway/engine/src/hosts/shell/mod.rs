//! A host that is controlled through its shell, behind SSH or on this node as another user. A task's files are uploaded
//! once per run. Its input is never in a command line or on a disk. It is ended together with all its processes.
//!
//! Everything, from creating the run's directory to removing it, is done as the user under which tasks run.

mod files;
mod lines;
mod running;
mod script;
mod talk;
mod way;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use devgate_transports::ssh_host;
use devgate_transports::{Error, RetryBudget};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use uuid::Uuid;

pub(crate) use self::lines::Lines;
use self::running::Running;
use self::script::Script;
use self::talk::{Stuck, Talk};
use self::way::Way;
use super::host_context::HostContext;
use super::settings::{TaskBudget, TaskHostSettings};
use super::words::words;
use super::{TaskControl, TaskNotRun, TaskOutput};
use crate::process::Stream;
use crate::tasks::{Invocation, TaskError, TaskOutputs};

/// An open host, with the run's own directory.
pub(crate) struct Shell<'v> {
    teller: Arc<HostContext<'v>>,
    settings: TaskHostSettings,
    way: Way,
    /// The run's directory on the host.
    dir: String,
    features: BTreeSet<String>,
    /// The layouts that are on the host, by their digests.
    uploads: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    /// Tasks that are not known to have ended: their marks and process groups.
    running: Mutex<HashMap<String, Option<u32>>>,
}

/// The longest time that a short script may take. Sudo waits a few seconds before it refuses.
const SHORT: Duration = Duration::from_secs(30);

/// The longest output of a short script, in bytes.
const MOST_SAID: usize = 4096;

/// How long more output of a short script is awaited after it has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How long killed processes are waited for, in addition to their grace period.
const KILLING: Duration = Duration::from_secs(10);

/// The longest time that closing the host may take.
const LEAVING: Duration = Duration::from_secs(10);

impl<'v> Shell<'v> {
    /// Connects to a host behind SSH.
    ///
    /// # Errors
    /// Fails when no task can run there.
    pub(crate) async fn over_ssh(
        teller: Arc<HostContext<'v>>,
        lines: Arc<Lines>,
        settings: TaskHostSettings,
    ) -> Result<Self, Failure> {
        let way = Way::Ssh(lines);
        let shell = Self::new(teller, way, settings)?;
        shell.way.reach(&shell.teller.ctx()).await?;
        Ok(shell)
    }

    /// Creates a host for another user on this node, as the settings say.
    ///
    /// # Errors
    /// Fails when the settings cannot be used.
    pub(crate) fn here(
        teller: Arc<HostContext<'v>>,
        settings: TaskHostSettings,
    ) -> Result<Self, Failure> {
        Self::new(teller, Way::Here, settings)
    }

    fn new(
        teller: Arc<HostContext<'v>>,
        way: Way,
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
            teller,
            settings,
            way,
            dir,
            features: BTreeSet::new(),
            uploads: Mutex::default(),
            running: Mutex::default(),
        })
    }

    /// Creates the run's directory and reads the host's features.
    ///
    /// # Errors
    /// Fails when no task can run there. The connection is closed then.
    pub(crate) async fn prepare(&mut self) -> Result<(), Failure> {
        match self.ask(&Script::prepare(&self.dir), SHORT).await {
            Ok(features) => {
                self.features = features.split(' ').map(str::to_owned).collect();
                if self.settings.interpreter("ps1").is_some() {
                    self.features.insert("powershell".to_owned());
                }
                Ok(())
            }
            Err(mut why) => {
                self.way.close(&self.teller.ctx()).await;
                if why.msg.contains(&self.dir) {
                    why.msg
                        .push_str("; set `tmpdir` to a folder where tasks may write and run");
                }
                Err(why)
            }
        }
    }

    /// Returns the connections to the host, where it is behind SSH.
    pub(super) fn lines(&self) -> Option<&Lines> {
        match &self.way {
            Way::Ssh(lines) => Some(lines),
            Way::Here => None,
        }
    }

    pub(super) fn features(&self) -> &BTreeSet<String> {
        &self.features
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
        order: TaskControl<'_>,
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
        let words: Vec<String> = words(implementation, &executable, &self.settings)
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let script = Script::run(&words, &input.environment, input.stdin.as_ref());
        let mut running = Running::new(self, &script.mark);
        let begun = tokio::select! {
            begun = timeout(SHORT, self.begin(&script)) => begun,
            () = order.stop.reaches(Stage::End) => {
                let ended = running.stop(task, None, order).await;
                return Err(ended(TaskOutputs::default()).into());
            }
        };
        let mut talk = match begun {
            Ok(Ok(talk)) => talk,
            Ok(Err(Stuck::NotBegun(why))) => {
                running.is_over();
                return Err(TaskNotRun::NotStarted(why));
            }
            Ok(Err(Stuck::Lost(error))) => {
                return Err(self.lost(task, &error, TaskOutputs::default()).into());
            }
            Err(_) => {
                let ended = running.stop(task, Some(SHORT), order).await;
                return Err(ended(TaskOutputs::default()).into());
            }
        };
        running.in_group(&talk.first);
        let outcome = running.watch(&mut talk, task, order).await?;
        if let Some(reason) = refused(&outcome, &script.mark) {
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

    async fn begin(&self, script: &Script) -> Result<Talk<'_>, Stuck> {
        let run_as = self.settings.run_as.as_ref();
        Talk::begin(&self.way, &self.teller.ctx(), script, run_as).await
    }

    /// Runs a short script and returns its output.
    async fn ask(&self, script: &Script, limit: Duration) -> Result<String, Failure> {
        let talk = async {
            let mut talk = self.begin(script).await?;
            let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
            let said = |stream, bytes: &[u8]| match stream {
                Stream::Stdout => stdout.keep(bytes, MOST_SAID),
                Stream::Stderr => stderr.keep(bytes, MOST_SAID),
            };
            let ended = talk.end(DRAIN, said).await;
            let [said, complaint] = [stdout, stderr].map(|output| output.text().trim().to_owned());
            match ended {
                Ok(ssh_host::Exit::Code(0)) => Ok(said),
                Ok(_) => Err(Stuck::NotBegun(Failure::new(
                    "puppetlabs.tasks/remote-task-error",
                    complaint,
                ))),
                Err(error) => Err(Stuck::Lost(error)),
            }
        };
        // Connecting has limits of its own.
        match timeout(limit + RetryBudget::LIMIT, talk).await {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(Stuck::NotBegun(why))) => Err(why),
            Ok(Err(Stuck::Lost(error))) => Err(error.into()),
            Err(_) => Err(self.slow()),
        }
    }

    /// Ends the tasks that still run, removes the run's directory and closes the connections.
    pub(super) async fn close(&self) {
        let ctx = self.teller.ctx();
        let work = async {
            let running: Vec<_> = self.running().drain().collect();
            for (mark, group) in running {
                match self.end(&mark, group, Duration::ZERO).await {
                    Ok(left) if left.is_empty() => {}
                    Ok(left) => {
                        ctx.warning(format!("processes of a task are still running: {left}"))
                    }
                    Err(why) => {
                        ctx.warning(format!("processes of a task may still be running: {why}"))
                    }
                }
            }
            if !self.settings.cleanup {
                ctx.notice(format!("{} is kept: `cleanup` is false", self.dir));
            } else if let Err(why) = self.ask(&Script::remove(&self.dir), SHORT).await {
                ctx.warning(format!("{} could not be removed: {why}", self.dir));
            }
        };
        if timeout(LEAVING, work).await.is_err() {
            ctx.warning(format!(
                "{} may still be there: the host has not answered for {LEAVING:?}",
                self.dir
            ));
        }
        self.way.close(&ctx).await;
    }

    /// Ends all processes of a task, and reports those that still live.
    async fn end(
        &self,
        mark: &str,
        group: Option<u32>,
        grace: Duration,
    ) -> Result<String, Failure> {
        let tenths = u64::try_from(grace.as_millis() / 100).unwrap_or_default();
        let script = Script::end(group, mark, tenths);
        self.ask(&script, grace + KILLING).await
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<u32>>> {
        locked(&self.running)
    }

    fn slow(&self) -> Failure {
        Failure::new(
            "puppetlabs.tasks/connect-error",
            format!("it did not start the request within {SHORT:?}"),
        )
    }

    fn lost(&self, task: &str, error: &Error, said: TaskOutputs) -> TaskError {
        TaskError::Lost {
            task: task.to_owned(),
            host: self.teller.name().to_owned(),
            error: error.to_string(),
            said: Box::new(said),
        }
    }
}

impl std::fmt::Debug for Shell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("name", &self.teller.name())
            .finish_non_exhaustive()
    }
}

/// Returns why the host's shell could not execute a task. The shell reports it with the mark in front.
fn refused(outcome: &Outcome, mark: &str) -> Option<String> {
    if !matches!(outcome.exit, Exit::Code(126 | 127)) || !outcome.stdout.bytes.is_empty() {
        return None;
    }
    let said = String::from_utf8_lossy(&outcome.stderr.bytes);
    let (_, reason) = said.split_once(&format!("{mark}: "))?;
    let reason = reason.lines().next().unwrap_or_default();
    // The upload has made the file executable.
    let next = match outcome.exit {
        Exit::Code(126) => "; where `tmpdir` is mounted `noexec`, set it to another place",
        _ => "",
    };
    Some(format!("{reason}{next}"))
}
