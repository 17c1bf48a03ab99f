//! A session with one target: for the length of one piece of work of ours, or lent to a program for
//! as long as that runs.

mod ask;
mod borrow;
mod held;
mod lend;
mod socket;
#[cfg(test)]
mod tests;
mod wire;

use devgate_schemas::ConnectionInfo;
use devgate_transports::{Connect, Context, Transport};

use crate::failure::Failure;
use crate::inventory::{Listed, Target};
use crate::registry::Registry;
use crate::run::{Job, interrupted};
use crate::stop::Stage;

pub(crate) use ask::{Asked, own};
pub(crate) use borrow::Borrowed;
pub(crate) use lend::Lender;
pub(crate) use wire::VARIABLE;

/// How a target is reached: its transport, and its checked connection info.
#[derive(Debug)]
pub(crate) struct Reach<'r> {
    connect: &'r dyn Connect,
    info: ConnectionInfo,
}

/// Connects to the job's target, does the work, and closes in any case: also when the run is to end
/// before the work is done.
///
/// # Errors
/// Why the target cannot be reached, or what the work failed with.
pub(crate) async fn within<T>(
    registry: &Registry,
    job: &Job<'_>,
    work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let ctx = job.context();
    let reach = Reach::of(registry, job)?;
    let transport = tokio::select! {
        transport = reach.connect(&ctx) => transport?,
        () = job.stop().reaches(Stage::End) => return Err(interrupted(true)),
    };
    let over = ctx.over(&*transport);
    let outcome = tokio::select! {
        outcome = work(&over, &*transport) => outcome,
        // A session that is left in the middle of a command is only ever closed.
        () = job.stop().reaches(Stage::End) => Err(interrupted(true)),
    };
    transport.close(&ctx).await;
    outcome
}

impl<'r> Reach<'r> {
    /// How the job's target is reached; its secrets are hidden from now on.
    ///
    /// # Errors
    /// That it is no remote target, that nobody knows its transport, or what is wrong with its info.
    pub(crate) fn of(registry: &'r Registry, job: &Job<'_>) -> Result<Self, Failure> {
        let target = job.target;
        let name = target
            .remote_transport()
            .ok_or_else(|| no_transport(target))?;
        Self::by(registry.transport(name)?, job)
    }

    /// The same, by a transport that was found already.
    ///
    /// # Errors
    /// What is wrong with the target's info.
    pub(crate) fn by(connect: &'r dyn Connect, job: &Job<'_>) -> Result<Self, Failure> {
        let (target, ctx) = (job.target, job.context());
        let info = connect
            .schema()
            .read(target.connection_info(), |level, message| {
                ctx.say(level, message)
            })
            .map_err(|invalid| Failure::invalid_connection_info(target, &invalid))?;
        job.hide(info.secrets());
        Ok(Self { connect, info })
    }

    /// The transport's name.
    pub(crate) fn transport(&self) -> &str {
        self.connect.schema().name()
    }

    async fn connect(&self, ctx: &Context<'_>) -> devgate_transports::Result<Box<dyn Transport>> {
        self.connect.connect(ctx, &self.info).await
    }
}

/// That a target cannot be reached as a device.
pub(crate) fn no_transport(target: &Target) -> Failure {
    if target.listed == Listed::No {
        return Failure::unknown_target(target);
    }
    let message = format!(
        "{} is no remote target with a transport: give it `config: {{transport: remote, remote: \
         {{remote-transport: FAMILY}}}}` in the inventory; `devgate transport list` names the \
         transports",
        target.name
    );
    Failure::new("devgate/not-a-device", message)
}
