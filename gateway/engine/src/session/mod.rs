//! Sessions with devices: lent by one pool, to a piece of work of ours, or to a program for as long
//! as that runs.

mod ask;
mod borrow;
mod claim;
mod device;
mod kept;
mod lend;
mod pool;
mod reach;
mod socket;
#[cfg(test)]
mod tests;
mod wire;

use devgate_transports::{Context, Transport};

use crate::run::TargetJob;
use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;

pub use ask::{Asked, own};
pub use borrow::Borrowed;
pub use claim::Busy;
pub(crate) use claim::Claims;
pub use device::Access;
pub use lend::{Bound, Lender};
pub(crate) use pool::Pool;
pub(crate) use reach::no_transport;
pub use reach::{Reach, judged};

use reach::Key;

/// Does the work in a session with the job's target, which the pool lends; gives it back in any
/// case: also when the run is to end before the work is done.
///
/// # Errors
/// Why the target cannot be reached, or what the work failed with.
pub async fn within<T>(
    job: &TargetJob<'_>,
    access: Access,
    work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let ctx = job.context();
    let reach = Reach::from_here(job)?;
    let lease = job.run.engine.sessions.lease(&reach);
    let working = async {
        let turn = tokio::select! {
            biased;
            () = job.stop().reaches(Stage::Finish) => return Err(job.interrupted(false)),
            turn = lease.turn(access) => turn,
        };
        tokio::select! {
            outcome = turn.work(&ctx, work) => outcome,
            // A session that is left in the middle of a command is only ever closed.
            () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
        }
    };
    let outcome = working.await;
    lease.end(&ctx).await;
    outcome
}
