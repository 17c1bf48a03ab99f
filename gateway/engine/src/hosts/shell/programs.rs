//! The programs of one host: how they are started and ended through its shell, and which may still run.
//!
//! This does not belong to a run, so that a session can keep a program for longer than one call.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::task::CapturedOutput;
use devgate_transports::ssh_host;
use devgate_transports::{Context, RetryBudget};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::access::{ShellAccess, Stdin};
use super::running_script::{RunningScript, ScriptError, how_ended};
use super::script::Script;
use crate::hosts::settings::RunAs;
use crate::process::Stream;

/// Access to a host's shell, and the programs that were started through it.
pub(super) struct ShellPrograms {
    pub(super) access: ShellAccess,
    run_as: Option<RunAs>,
    /// The programs that may still run: their marks and process groups.
    running: Mutex<HashMap<String, Option<u32>>>,
}

/// The longest time that a short script may take. Sudo waits a few seconds before it refuses.
pub(super) const SHORT_SCRIPT_LIMIT: Duration = Duration::from_secs(30);

/// The longest output of a short script, in bytes.
const MAX_SHORT_OUTPUT: usize = 4096;

/// How long more output of a short script is awaited after it has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How long killed processes are waited for, in addition to their grace period.
const KILL_WAIT: Duration = Duration::from_secs(10);

impl ShellPrograms {
    pub(super) fn new(access: ShellAccess, run_as: Option<RunAs>) -> Self {
        Self {
            access,
            run_as,
            running: Mutex::default(),
        }
    }

    /// Starts a script as the user under which tasks run.
    pub(super) async fn start(
        &self,
        ctx: &Context<'_>,
        script: &Script,
    ) -> Result<RunningScript, ScriptError> {
        RunningScript::start(&self.access, ctx, script, self.run_as.as_ref()).await
    }

    /// Starts a script, which waits for its input.
    pub(super) async fn begin(
        &self,
        ctx: &Context<'_>,
        script: &Script,
    ) -> Result<(RunningScript, Stdin), ScriptError> {
        RunningScript::begin(&self.access, ctx, script, self.run_as.as_ref()).await
    }

    /// Starts a script as [`start`](Self::start) does, and keeps its input open.
    pub(super) async fn start_open(
        &self,
        ctx: &Context<'_>,
        script: &Script,
    ) -> Result<(RunningScript, JoinHandle<Stdin>), ScriptError> {
        RunningScript::start_open(&self.access, ctx, script, self.run_as.as_ref()).await
    }

    /// Runs a short script and returns its output. `limit` is without the time for another connection.
    pub(super) async fn run_short(
        &self,
        ctx: &Context<'_>,
        script: &Script,
        limit: Duration,
    ) -> Result<String, Failure> {
        // Connecting has limits of its own.
        self.run_within(ctx, script, limit + RetryBudget::LIMIT)
            .await
    }

    /// Runs a short script as [`run_short`](Self::run_short) does. `limit` covers everything.
    pub(super) async fn run_within(
        &self,
        ctx: &Context<'_>,
        script: &Script,
        limit: Duration,
    ) -> Result<String, Failure> {
        let running_script = async {
            let mut running_script = self.start(ctx, script).await?;
            let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
            let capture = |stream, bytes: &[u8]| match stream {
                Stream::Stdout => stdout.keep(bytes, MAX_SHORT_OUTPUT),
                Stream::Stderr => stderr.keep(bytes, MAX_SHORT_OUTPUT),
            };
            let ended = running_script.end(DRAIN, capture).await;
            let [output, complaint] =
                [stdout, stderr].map(|output| output.text().trim().to_owned());
            match ended {
                Ok(ssh_host::Exit::Code(0)) => Ok(output),
                Ok(exit) => Err(ScriptError::NotStarted(Failure::new(
                    "puppetlabs.tasks/remote-task-error",
                    match complaint.is_empty() {
                        true => format!("its shell did not do it: {}", how_ended(&exit)),
                        false => complaint,
                    },
                ))),
                Err(error) => Err(ScriptError::Lost(error)),
            }
        };
        match timeout(limit, running_script).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(ScriptError::NotStarted(why))) => Err(why),
            Ok(Err(ScriptError::Lost(error))) => Err(error.into()),
            Err(_) => Err(no_answer(limit, self.run_as.as_ref())),
        }
    }

    /// Ends all processes of a program, and returns those that still live.
    pub(super) async fn end(
        &self,
        ctx: &Context<'_>,
        mark: &str,
        group: Option<u32>,
        grace: Duration,
    ) -> Result<String, Failure> {
        let tenths = u64::try_from(grace.as_millis() / 100).unwrap_or_default();
        let script = Script::end(group, mark, tenths);
        self.run_short(ctx, &script, grace + KILL_WAIT).await
    }

    /// Returns the programs that may still run.
    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<String, Option<u32>>> {
        locked(&self.running)
    }
}

/// Returns the error for a host whose shell does not answer, although it was started.
fn no_answer(limit: Duration, run_as: Option<&RunAs>) -> Failure {
    let next = match run_as {
        Some(RunAs { user, .. }) => format!("check `run-as`: does a command as {user} end there?"),
        None => "check `user` and its login shell: does `ssh HOST true` end?".to_owned(),
    };
    Failure::new(
        "puppetlabs.tasks/connect-error",
        format!(
            "it accepted the login, but its shell gave no answer within {limit:?} (at most `--timeout`): {next}"
        ),
    )
}
