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

use crate::hosts::{TaskBudget, TaskControl, TaskNotRun, TaskOutput};
use crate::inventory::{Kind, Listed, Target};
use crate::job::TargetJob;
use crate::process::{DiscardOutput, ProcessLimits};
use crate::proxies::{Hosts, TaskSlot};
use crate::session::{ConnectionSpec, SessionBroker};
use crate::stream::TaskOutputStream;
use crate::tasks::{Invocation, Parameters, Task, TaskError, TaskPlace};

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
    pub lender: &'a SessionBroker<'a>,
    /// The unknown transports that were reported, so that each is reported once for all targets.
    pub unknown: &'a RefCell<BTreeSet<String>>,
}

/// A remote target's `_target`, and how it is reached if its transport is known.
type Given<'r> = (Hash, Option<ConnectionSpec<'r>>);

impl TaskRun<'_, '_> {
    /// Runs the task on the job's target and returns its result.
    ///
    /// # Errors
    /// Fails when the task was refused or could not be run.
    pub(crate) async fn on(&self, job: &TargetJob<'_>) -> Result<TargetResult, Failure> {
        job.hide(self.parameters.secrets());
        let target = job.target;
        let (given, budget) = self.given(job)?;
        self.admit(job)?;
        let pool = not_begun(job, self.hosts.pool(target)).await??;
        // The turn at the device comes first, so that a waiting task takes no slot on a proxy.
        let _device = match &given {
            Some(_) => Some(not_begun(job, self.hosts.device(job.place(), &budget)).await?),
            None => None,
        };
        loop {
            let slot = not_begun(job, pool.slot()).await??;
            match self.at(&slot, job, given.as_ref(), &budget).await {
                Ok(output) => return Ok(self.answer(job, output)),
                Err(TaskNotRun::NotStarted(why)) => slot.give_up(why),
                Err(TaskNotRun::Task(error)) => return Err(error.into()),
            }
        }
    }

    /// Returns the `_target` of a remote target, and its limits for tasks.
    fn given<'j>(&self, job: &TargetJob<'j>) -> Result<(Option<Given<'j>>, TaskBudget), Failure> {
        match &job.target.kind {
            Kind::Remote { .. } => {
                let given = self.target(job)?;
                job.hide(given.0.secrets());
                Ok((Some(given), budget_of(job.target)?))
            }
            Kind::Local | Kind::Ssh | Kind::Other(_) => Ok((None, TaskBudget::default())),
        }
    }

    /// Checks whether the task can run on the job's target at all.
    fn admit(&self, job: &TargetJob<'_>) -> Result<(), Failure> {
        let (target, none) = (job.target, BTreeSet::new());
        let place = place(job, target.run_on(), &none);
        self.task.admit(place, self.mode).map_err(|why| match why {
            // Most likely, it is the mistyped name of a remote target.
            TaskError::RemoteTaskOnNormalTarget { .. } if target.listed == Listed::No => {
                crate::inventory::unknown_target(target)
            }
            why => why.into(),
        })
    }

    /// Runs the task in a slot of a host.
    async fn at(
        &self,
        slot: &TaskSlot<'_>,
        job: &TargetJob<'_>,
        given: Option<&Given<'_>>,
        budget: &TaskBudget,
    ) -> Result<TaskOutput, TaskNotRun> {
        let (target, host, ctx) = (job.target, slot.host(), job.context());
        let mut features = host.features().clone();
        features.extend(target.features.iter().cloned());
        let place = place(job, slot.name(), &features);
        let mut invocation = Invocation::new(self.task, place, self.parameters.clone(), self.mode)?;
        if let Some((info, _)) = given {
            invocation = invocation.with_target(info.clone());
        }
        ctx.debug(format!(
            "running task {} on {}",
            self.task.name,
            slot.name()
        ));
        let streamed = self.stream.then(|| TaskOutputStream::new(job));
        let order = TaskControl {
            limits: &limits([host.budget(), budget], self.timeout),
            stop: job.stop(),
            sink: streamed
                .as_ref()
                .map_or(&DiscardOutput, |streamed| streamed),
        };
        let run = async |socket: Option<&str>| {
            let invocation = invocation.with_session(socket);
            host.run(invocation, order).await
        };
        match given {
            Some((_, Some(spec))) if host.shares_sessions() => {
                self.lender.lend(&ctx, spec, self.mode, run).await
            }
            Some(_) | None => run(None).await,
        }
    }

    fn answer(&self, job: &TargetJob<'_>, output: TaskOutput) -> TargetResult {
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
    fn target<'j>(&self, job: &TargetJob<'j>) -> Result<Given<'j>, Failure> {
        let (target, ctx) = (job.target, job.context());
        let raw = target.connection_info();
        let known = target
            .remote_transport()
            .map(|name| job.run.registry.known(name));
        match known.transpose()?.flatten() {
            Some(connect) => {
                let spec = ConnectionSpec::by(connect, job)?;
                Ok((connect.schema().target(raw), Some(spec)))
            }
            None => {
                let name = target.remote_transport().unwrap_or("none");
                if self.unknown.borrow_mut().insert(name.to_owned()) {
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

/// Returns the place where the job's task is to run; a remote target's is this proxy.
fn place<'a>(
    job: &'a TargetJob<'_>,
    proxy: &'a str,
    features: &'a BTreeSet<String>,
) -> TaskPlace<'a> {
    let target = &job.target.name;
    match &job.target.kind {
        Kind::Remote { .. } => TaskPlace::Remote {
            target,
            proxy,
            features,
        },
        Kind::Local | Kind::Ssh | Kind::Other(_) => TaskPlace::Normal { target, features },
    }
}

/// Waits for a precondition of a task, unless the run starts no new work.
async fn not_begun<T>(job: &TargetJob<'_>, wait: impl Future<Output = T>) -> Result<T, Failure> {
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
