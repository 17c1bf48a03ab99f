//! Work in a session that the pool lends.

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use devgate_transports::{Context, Mode, Transport};

use super::broker::{RetryScope, SessionBroker};
use super::connection_spec::ConnectionSpec;
use super::device::SessionAccess;
use super::sessions::Sessions;
use crate::job::TargetJob;

/// Performs `perform` in a session with the job's target that the pool lends. The session is returned in any case, even
/// when the run is cancelled before the work is done.
///
/// # Errors
/// Fails when the target cannot be reached, or as the work fails.
pub async fn with_session<T>(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    access: SessionAccess,
    work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let spec = ConnectionSpec::for_job(job)?;
    let dialer = sessions.dialer(job).await?;
    let ctx = job.context();
    let ctx = ctx.with_dialer(dialer.as_ref().map(|dialer| dialer as _));
    let lease = sessions.pool.lease(&spec);
    let working = async {
        let turn = tokio::select! {
            biased;
            () = job.stop().reaches(Stage::Finish) => return Err(job.interrupted(false)),
            turn = lease.turn(access) => turn,
        };
        tokio::select! {
            outcome = turn.perform(&ctx, work) => outcome,
            // A session that is left in the middle of a command can only be closed.
            () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
        }
    };
    let outcome = working.await;
    lease.release(&ctx).await;
    outcome
}

/// Performs `work` while a socket lends the session with the job's target. `work` gets the path of the socket.
///
/// # Errors
/// Fails when the target cannot be reached as a device, or when no proxy can be used.
pub async fn lend_session<T>(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    mode: Mode,
    work: impl AsyncFnOnce(Option<&str>) -> T,
) -> Result<T, Failure> {
    let spec = ConnectionSpec::for_job(job)?;
    let dialer = sessions.dialer(job).await?;
    let ctx = job.context();
    let ctx = ctx.with_dialer(dialer.as_ref().map(|dialer| dialer as _));
    let broker = SessionBroker::new(sessions.pool, RetryScope::Request);
    Ok(broker.lend(&ctx, &spec, mode, work).await)
}
