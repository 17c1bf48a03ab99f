//! Rollback: a restore point is created before the first change of a run, and restored after a failure.

use devgate_devices::{DeviceRollback, RestorePoint};
use devgate_schemas::{Report, RunStatus};
use devgate_transports::Context;

/// The rollback of one run, if it is requested.
pub(super) struct WayBack<'a> {
    rollback: Option<&'a dyn DeviceRollback>,
    mark: Option<RestorePoint>,
}

impl<'a> WayBack<'a> {
    pub(super) fn new(rollback: Option<&'a dyn DeviceRollback>) -> Self {
        Self {
            rollback,
            mark: None,
        }
    }

    /// Creates the restore point before the first change, unless that was done.
    ///
    /// # Errors
    /// Fails when there is no restore point, so that nothing may be changed.
    pub(super) async fn mark(&mut self, ctx: &Context<'_>) -> Result<(), String> {
        if let (Some(rollback), None) = (self.rollback, &self.mark) {
            let mark = rollback.begin(ctx).await;
            let refused = |error| {
                format!("nothing was changed, because a rollback would not be possible: {error}")
            };
            self.mark = Some(mark.map_err(refused)?);
        }
        Ok(())
    }

    /// Restores the device if the run has failed, or else keeps its changes, and records the outcome.
    pub(super) async fn end(self, ctx: &Context<'_>, report: &mut Report) {
        let (Some(rollback), Some(mark)) = (self.rollback, self.mark) else {
            return;
        };
        if report.status != RunStatus::Failed {
            let Err(error) = rollback.keep(ctx, &mark).await else {
                return;
            };
            add(
                report,
                format!("the device does not keep the changes: {error}"),
            );
        }
        ctx.notice("a change has failed: rolling back the device");
        match rollback.restore(ctx, mark).await {
            Ok(()) => {
                report.rolled_back = true;
                for resource in report.resources.iter_mut().filter(|one| one.changed) {
                    resource.changed = false;
                    let message = "rolled back: the device has its state from before the run";
                    resource.messages.push(message.to_owned());
                }
            }
            Err(error) => add(
                report,
                format!(
                    "the rollback has failed, and the state of the device is not known: \
                                               {error}"
                ),
            ),
        }
    }
}

fn add(report: &mut Report, problem: String) {
    let known = report.problem.take();
    report.problem =
        Some(known.map_or_else(|| problem.clone(), |known| format!("{known}\n{problem}")));
}
