//! A session with one target, for the length of one piece of work.

use devgate_schemas::ConnectionInfo;
use devgate_transports::{Connect, Context, Transport};

use crate::failure::Failure;
use crate::inventory::{Listed, Target};
use crate::registry::Registry;
use crate::run::{Job, interrupted};
use crate::stop::Stage;

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
    let (connect, info) = read(registry, job.target, &ctx)?;
    job.hide(info.secrets());
    let transport = tokio::select! {
        transport = connect.connect(&ctx, &info) => transport?,
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

/// How a target is reached, and its checked connection info.
///
/// # Errors
/// That it is no remote target, that nobody knows its transport, or what is wrong with its info.
pub(crate) fn read<'r>(
    registry: &'r Registry,
    target: &Target,
    ctx: &Context<'_>,
) -> Result<(&'r dyn Connect, ConnectionInfo), Failure> {
    let name = target
        .remote_transport()
        .ok_or_else(|| no_transport(target))?;
    let connect = registry.transport(name)?;
    let info = connect
        .schema()
        .read(target.connection_info(), |level, message| {
            ctx.say(level, message)
        })
        .map_err(|invalid| Failure::invalid_connection_info(target, &invalid))?;
    Ok((connect, info))
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
