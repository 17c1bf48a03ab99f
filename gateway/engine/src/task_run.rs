//! Runs a task on one target: chooses the implementation, prepares the input, and runs it on its host.

mod explain;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use devgate_core::results::{Status, TargetResult};
use devgate_schemas::{Hash, Value};
use devgate_transports::Mode;

use crate::hosts::{
    Lend, LendingWay, TaskBudget, TaskControl, TaskNotRun, TaskOutput, TaskSession,
};
use crate::inventory::{Listed, Target, TargetKind};
use crate::job::TargetJob;
use crate::process::{DiscardOutput, ProcessLimits};
use crate::proxies::{HostSlot, Hosts, SlotDialer};
use crate::session::{ConnectionSpec, SessionBroker};
use crate::stream::TaskOutputStream;
use crate::tasks::{Invocation, Parameters, RunLocation, Task, TaskError};

/// One task for many targets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRun<'a, 'v> {
    pub task: &'a Task,
    pub parameters: &'a Parameters,
    pub mode: Mode,
    /// The time limit on each target.
    pub timeout: Option<Duration>,
    /// Whether the output is reported while the task runs.
    pub stream: bool,
    /// The hosts on which the task runs.
    pub hosts: &'a Hosts<'v>,
    /// Lends the task the session with its target.
    pub broker: &'a SessionBroker<'a>,
    /// The transports that were reported because they are unknown: each is reported once for all targets.
    pub reported_transports: &'a RefCell<BTreeSet<String>>,
}

/// A remote target's `_target`, and how it is reached if its transport is known.
type TargetInput<'r> = (Hash, Option<ConnectionSpec<'r>>);

impl TaskRun<'_, '_> {
    /// Runs the task on the job's target and returns its result.
    ///
    /// # Errors
    /// Fails when the task was refused or could not be run.
    pub(crate) async fn on(&self, job: &TargetJob<'_>) -> Result<TargetResult, Failure> {
        job.hide(self.parameters.secrets());
        let target = job.target;
        let (target_input, budget) = self.target_input(job)?;
        self.admit(job)?;
        let pool = unless_stopping(job, self.hosts.pool(target)).await??;
        // The turn at the device comes first, so that a waiting task takes no slot on a proxy.
        let _device = match &target_input {
            Some(_) => {
                Some(unless_stopping(job, self.hosts.device_turn(job.device_key(), &budget)).await?)
            }
            None => None,
        };
        loop {
            let slot = unless_stopping(job, pool.slot()).await??;
            match self
                .run_in_slot(&slot, job, target_input.as_ref(), &budget)
                .await
            {
                Ok(output) => return Ok(self.result_of(job, output)),
                Err(TaskNotRun::NotStarted(why)) => slot.mark_host_down(why),
                Err(TaskNotRun::Task(error)) => return Err(error.into()),
            }
        }
    }

    /// Returns the `_target` of a remote target, and its limits for tasks.
    fn target_input<'j>(
        &self,
        job: &TargetJob<'j>,
    ) -> Result<(Option<TargetInput<'j>>, TaskBudget), Failure> {
        match &job.target.kind {
            TargetKind::Remote { .. } => {
                let target_input = self.target(job)?;
                job.hide(target_input.0.secrets());
                Ok((Some(target_input), budget_of(job.target)?))
            }
            TargetKind::Local | TargetKind::Ssh | TargetKind::Other(_) => {
                Ok((None, TaskBudget::default()))
            }
        }
    }

    /// Checks whether the task can run on the job's target at all.
    fn admit(&self, job: &TargetJob<'_>) -> Result<(), Failure> {
        let (target, none) = (job.target, BTreeSet::new());
        let location = location(job, target.run_on(), &none);
        self.task
            .admit(location, self.mode)
            .map_err(|why| match why {
                // Most likely, it is the mistyped name of a remote target.
                TaskError::RemoteTaskOnNormalTarget { .. } if target.listed == Listed::No => {
                    crate::inventory::unknown_target(target)
                }
                why => why.into(),
            })
    }

    /// Runs the task in a slot of a host.
    async fn run_in_slot(
        &self,
        slot: &HostSlot<'_>,
        job: &TargetJob<'_>,
        target_input: Option<&TargetInput<'_>>,
        budget: &TaskBudget,
    ) -> Result<TaskOutput, TaskNotRun> {
        let (target, host, ctx) = (job.target, slot.host(), job.context());
        let mut features = host.features().clone();
        features.extend(target.features.iter().cloned());
        let location = location(job, slot.name(), &features);
        let mut invocation =
            Invocation::new(self.task, location, self.parameters.clone(), self.mode)?;
        if let Some((info, _)) = target_input {
            invocation = invocation.with_target(info.clone());
        }
        ctx.debug(format!(
            "running task {} on {}",
            self.task.name,
            slot.name()
        ));
        let streamed = self.stream.then(|| TaskOutputStream::new(job));
        let control = TaskControl {
            limits: &limits([host.budget(), budget], self.timeout),
            stop: job.stop(),
            sink: streamed
                .as_ref()
                .map_or(&DiscardOutput, |streamed| streamed),
        };
        let spec = target_input.and_then(|(_, spec)| spec.as_ref());
        match (spec, host.lending_way()) {
            (Some(spec), LendingWay::Socket) => {
                let run = async |socket: Option<&str>| {
                    let invocation = invocation.with_session(socket);
                    host.run(invocation, control).await
                };
                self.broker.lend(&ctx, spec, self.mode, run).await
            }
            (Some(spec), LendingWay::Relay) => {
                let dialer = SlotDialer(slot);
                let ctx = ctx.with_dialer(Some(&dialer));
                let run = async |lend: &dyn Lend| {
                    let session = TaskSession::Relayed(lend);
                    host.run_with(invocation, control, session).await
                };
                let lending = self.broker.lend_elsewhere(&ctx, spec, self.mode, run);
                lending.await
            }
            (Some(_), LendingWay::None) => {
                let session = TaskSession::Refused(
                    "it runs as another user of this node, who does not get devgate's sessions",
                );
                host.run_with(invocation, control, session).await
            }
            (None, _) => host.run(invocation, control).await,
        }
    }

    fn result_of(&self, job: &TargetJob<'_>, output: TaskOutput) -> TargetResult {
        let ctx = job.context();
        // A sensitive value in the result may also occur in other output.
        job.hide(output.value.secrets());
        for line in output.stderr.lines() {
            ctx.info(format!("stderr: {line}"));
        }
        ctx.debug(format!(
            "task {} ended with exit code {}",
            self.task.name,
            output.exit.code()
        ));
        let status = if output.is_failure() {
            Status::Failure
        } else {
            Status::Success
        };
        TargetResult {
            status,
            ..TargetResult::success(Value::Hash(output.value).to_json())
        }
    }

    /// Returns the `_target` of the job's target. If the transport is known, its connection info is checked and
    /// completed with defaults, its secrets are wrapped, and the [`ConnectionSpec`] is returned, too.
    fn target<'j>(&self, job: &TargetJob<'j>) -> Result<TargetInput<'j>, Failure> {
        let (target, ctx) = (job.target, job.context());
        let raw = target.connection_info();
        let transport = target
            .remote_transport()
            .map(|name| job.run.registry.find_transport(name));
        match transport.transpose()?.flatten() {
            Some(connect) => {
                let spec = ConnectionSpec::with_transport(connect, job)?;
                Ok((connect.schema().target(raw), Some(spec)))
            }
            None => {
                let name = target.remote_transport().unwrap_or("none");
                if self
                    .reported_transports
                    .borrow_mut()
                    .insert(name.to_owned())
                {
                    ctx.notice(format!(
                        "transport `{name}` is not known: its connection info is passed to the task unchecked, and \
                         only `password` is kept secret, also on other targets"
                    ));
                }
                Ok((raw.into_target(), None))
            }
        }
    }
}

/// Returns the limits for tasks in a remote target's own options.
fn budget_of(target: &Target) -> Result<TaskBudget, Failure> {
    TaskBudget::remote(target)
        .map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))
}

/// Returns where the job's task is to run: a remote target's tasks run on this proxy.
fn location<'a>(
    job: &'a TargetJob<'_>,
    proxy: &'a str,
    features: &'a BTreeSet<String>,
) -> RunLocation<'a> {
    let target = &job.target.name;
    match &job.target.kind {
        TargetKind::Remote { .. } => RunLocation::Remote {
            target,
            proxy,
            features,
        },
        TargetKind::Local | TargetKind::Ssh | TargetKind::Other(_) => {
            RunLocation::Normal { target, features }
        }
    }
}

/// Waits for a precondition of a task, unless the run starts no new work.
async fn unless_stopping<T>(
    job: &TargetJob<'_>,
    wait: impl Future<Output = T>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = job.stop().reaches(Stage::Finish) => Err(job.interrupted(false)),
        waited = wait => Ok(waited),
    }
}

/// Returns the lowest of the limits of the host, of the target behind it, and of the run.
fn limits(budgets: [&TaskBudget; 2], timeout: Option<Duration>) -> ProcessLimits {
    let default = ProcessLimits::default();
    let output = budgets.into_iter().filter_map(|budget| budget.output).min();
    let time = budgets.into_iter().filter_map(|budget| budget.time);
    ProcessLimits {
        time: time.chain(timeout).min(),
        stdout: output.unwrap_or(default.stdout),
        ..default
    }
}
