//! A task on one target: refused or chosen, given its input, run where it belongs.

use std::time::Duration;

use devgate_schemas::{Hash, Value};
use devgate_transports::Mode;

use crate::failure::Failure;
use crate::hosts::{Host, Order};
use crate::inventory::{Kind, Listed, Target};
use crate::output::Output;
use crate::process::{Deaf, Limits};
use crate::registry::Registry;
use crate::results::{Answer, Status};
use crate::run::Job;
use crate::session::{Lender, Reach};
use crate::stream::Streamed;
use crate::tasks::{Invocation, Parameters, Place, Task};
use crate::voice::Voice;

/// One task, asked of many targets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRun<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) task: &'a Task,
    pub(crate) parameters: &'a Parameters,
    pub(crate) mode: Mode,
    /// How long it may take on each.
    pub(crate) timeout: Option<Duration>,
    /// Where what it writes is shown while it runs.
    pub(crate) stream: Option<(&'a Output, &'a Voice)>,
    /// Where it runs.
    pub(crate) host: &'a Host,
    /// Who lends it the session with its target.
    pub(crate) lender: &'a Lender,
}

/// The only place where tasks run: this node.
const LOCALHOST: &str = "localhost";

impl TaskRun<'_> {
    /// Runs the task on the job's target and gives its result.
    ///
    /// # Errors
    /// Why it was not run, or could not be.
    pub(crate) async fn on(&self, job: &Job<'_>) -> Result<Answer, Failure> {
        let target = job.target;
        job.hide(self.parameters.secrets());
        let ctx = job.context();
        let host = self.host;
        let mut features = host.features().clone();
        features.extend(target.features.iter().cloned());
        let place = match &target.kind {
            Kind::Local => Place::Normal {
                target: &target.name,
                features: &features,
            },
            Kind::Remote { run_on, .. } if run_on == LOCALHOST => Place::Remote {
                target: &target.name,
                proxy: run_on,
                features: &features,
            },
            Kind::Remote { run_on, .. } => return Err(no_proxy(target, run_on)),
            Kind::Ssh | Kind::Other(_) => return Err(no_runner(target)),
        };
        let invocation = Invocation::new(self.task, place, self.parameters.clone(), self.mode)?;
        let (invocation, reach) = match &target.kind {
            Kind::Remote { .. } => {
                let (target, reach) = self.target(job)?;
                job.hide(target.secrets());
                (invocation.with_target(target), reach)
            }
            Kind::Local | Kind::Ssh | Kind::Other(_) => (invocation, None),
        };
        ctx.debug(format!("running task {} on {LOCALHOST}", self.task.name));
        let streamed = self
            .stream
            .map(|(output, voice)| Streamed::new(job, output, voice));
        let limits = Limits {
            time: self.timeout,
            ..Limits::default()
        };
        let order = Order {
            limits: &limits,
            stop: job.stop(),
            hear: streamed.as_ref().map_or(&Deaf, |streamed| streamed),
        };
        let run = async |socket: Option<&str>| {
            let invocation = invocation.with_session(socket);
            host.run(invocation, order).await
        };
        let output = match &reach {
            Some(reach) => self.lender.lend(&ctx, reach, self.mode, run).await?,
            None => run(None).await?,
        };
        drop(streamed);
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
        Ok(Answer {
            status,
            ..Answer::success(Value::Hash(output.value).to_json())
        })
    }

    /// What the task gets as `_target`: all that the inventory says, checked and with its defaults
    /// where the transport is known, its secrets wrapped; and how the target is reached, then.
    fn target(&self, job: &Job<'_>) -> Result<(Hash, Option<Reach<'_>>), Failure> {
        let (target, ctx) = (job.target, job.context());
        let raw = target.connection_info();
        let known = target
            .remote_transport()
            .map(|name| self.registry.known(name));
        match known.transpose()?.flatten() {
            Some(connect) => {
                let reach = Reach::by(connect, job)?;
                Ok((connect.schema().target(raw), Some(reach)))
            }
            None => {
                let name = target.remote_transport().unwrap_or("none");
                ctx.notice(format!(
                    "transport `{name}` is not known here: its connection info goes to the task \
                     unchecked, and only `password` is kept secret"
                ));
                Ok((raw.into_target(), None))
            }
        }
    }
}

fn no_proxy(target: &Target, run_on: &str) -> Failure {
    let message = format!(
        "{}: `run-on: {run_on}` is no place where tasks can run: the proxy of a remote target is \
         this node; leave `run-on` out, or set it to {LOCALHOST}",
        target.name
    );
    Failure::new("devgate/no-proxy", message)
}

fn no_runner(target: &Target) -> Failure {
    if target.listed == Listed::No {
        return Failure::unknown_target(target);
    }
    let message = format!(
        "{} has the transport `{}`: tasks run on this node only, for {LOCALHOST} and for targets \
         with `transport: remote`",
        target.name,
        target.kind.name()
    );
    Failure::new("devgate/no-runner", message)
}
