//! Rollback: a restore point is created before the first change of a run, and restored after a failure.

use devgate_devices::{DeviceRollback, RestorePoint};
use devgate_schemas::{Report, RunStatus};
use devgate_transports::Context;

/// The rollback of one run, if it is requested.
pub(super) struct RunRollback<'a> {
    rollback: Option<&'a dyn DeviceRollback>,
    restore_point: Option<RestorePoint>,
}

impl<'a> RunRollback<'a> {
    pub(super) fn new(rollback: Option<&'a dyn DeviceRollback>) -> Self {
        Self {
            rollback,
            restore_point: None,
        }
    }

    /// Creates the restore point before the first change, unless that was done.
    ///
    /// # Errors
    /// Fails when there is no restore point, so that nothing may be changed.
    pub(super) async fn create_restore_point(&mut self, ctx: &Context<'_>) -> Result<(), String> {
        if let (Some(rollback), None) = (self.rollback, &self.restore_point) {
            let restore_point = rollback.begin(ctx).await;
            let refused = |error| {
                format!("nothing was changed, because a rollback would not be possible: {error}")
            };
            self.restore_point = Some(restore_point.map_err(refused)?);
        }
        Ok(())
    }

    /// Restores the device if the run has failed, or else keeps its changes, and records the outcome.
    pub(super) async fn finish(self, ctx: &Context<'_>, report: &mut Report) {
        let (Some(rollback), Some(restore_point)) = (self.rollback, self.restore_point) else {
            return;
        };
        if report.status != RunStatus::Failed {
            let Err(error) = rollback.keep(ctx, &restore_point).await else {
                return;
            };
            report.add_problem(format!("the device does not keep the changes: {error}"));
        }
        ctx.notice("a change has failed: rolling back the device");
        match rollback.restore(ctx, restore_point).await {
            Ok(()) => {
                report.rolled_back = true;
                for resource in report.resources.iter_mut().filter(|one| one.changed) {
                    resource.changed = false;
                    let message = "rolled back: the device has its state from before the run";
                    resource.messages.push(message.to_owned());
                }
            }
            Err(error) => report.add_problem(format!(
                "the rollback has failed, and the state of the device is not known: {error}"
            )),
        }
    }
}
