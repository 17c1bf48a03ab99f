//! Operations on targets. Each is one run, whichever front end submits it.

mod apply;
mod command;
mod facts;
mod inspect;
mod managed;
mod reports;
mod splay;
mod task;
mod verify;

use std::sync::Arc;

use crate::inventory::{Inventory, Target};
use crate::run::{Run, RunSummary};
use devgate_core::failure::Failure;

pub use apply::{Apply, Changes, Rollback};
pub use command::{CommandKind, CommandOrder, CommandOutput, ended};
pub use facts::{Facts, shown};
pub use inspect::{Held, Inspect};
pub use managed::nothing_to_do;
pub use reports::{ReportFormat, Reports};
pub use splay::Splay;
pub use task::TaskOrder;
pub use verify::Reached;
use verify::verify;

/// What is asked of targets.
#[derive(Debug)]
pub enum Operation {
    /// Checks that they can be reached.
    Verify,
    /// Collects their facts.
    Facts(Facts),
    /// Runs a task on them.
    Task(Box<TaskOrder>),
    /// Types commands or configuration.
    Command(CommandOrder),
    /// Brings them to a desired state.
    Apply(Apply),
    /// Shows their resources.
    Inspect(Inspect),
}

/// How a run has gone.
#[derive(Debug)]
pub struct Summary {
    /// What has become of each target.
    pub ran: RunSummary,
    /// What has become of resources, where they were to be changed.
    pub changes: Changes,
}

impl Operation {
    /// Does it on every target.
    ///
    /// # Errors
    /// Why nothing could be begun.
    pub async fn run(
        &self,
        run: &Run,
        inventory: &Inventory,
        targets: &[Arc<Target>],
    ) -> Result<Summary, Failure> {
        let mut changes = Changes::default();
        let ran = match self {
            Self::Verify => verify(run, targets).await,
            Self::Facts(facts) => facts.collect(run, targets).await,
            Self::Task(order) => order.run(run, inventory, targets).await,
            Self::Command(typing) => typing.run(run, targets).await,
            Self::Inspect(inspect) => inspect.run(run, targets).await,
            Self::Apply(apply) => {
                let applied = apply.run(run, targets).await?;
                changes = applied.1;
                applied.0
            }
        };
        Ok(Summary { ran, changes })
    }
}
