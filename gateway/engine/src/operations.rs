//! Operations on targets. Each is one run, whichever front end submits it.

mod apply;
mod command;
mod facts;
mod inspect;
mod managed;
mod reports;
mod show;
mod splay;
mod task;
mod verify;

use std::sync::Arc;

use devgate_core::failure::Failure;

use crate::inventory::{Inventory, Target};
use crate::proxies::{HostUse, Hosts};
use crate::run::{Run, RunSummary};
use crate::session::Sessions;

pub use apply::{Apply, Changes, Rollback};
pub use command::{CommandKind, CommandOperation, CommandOutput, with_newline};
pub use facts::Facts;
pub use inspect::{DeviceResources, Inspect};
pub use managed::nothing_to_do;
pub use reports::{ReportFormat, Reports};
pub use show::{Parse, Show};
pub use splay::Splay;
pub use task::TaskOperation;
pub use verify::{Reached, Verify};

/// An operation on targets.
#[derive(Debug)]
pub enum Operation {
    /// Checks that the targets can be reached.
    Verify(Verify),
    /// Collects the facts of the targets.
    Facts(Facts),
    /// Runs a task on the targets.
    Task(Box<TaskOperation>),
    /// Sends commands or configuration to the targets.
    Command(CommandOperation),
    /// Brings the targets to a desired state.
    Apply(Apply),
    /// Shows the resources of the targets.
    Inspect(Inspect),
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Summary {
    /// The outcome of each target.
    pub targets: RunSummary,
    /// The changes to resources, if the operation could make any.
    pub changes: Changes,
}

impl Operation {
    /// Performs the operation on every target.
    ///
    /// # Errors
    /// Fails when the operation could not begin.
    pub async fn run(
        &self,
        run: &Run,
        inventory: &Inventory,
        targets: &[Arc<Target>],
    ) -> Result<Summary, Failure> {
        let usage = match self {
            Self::Task(operation) => HostUse::Tasks {
                limit: operation.timeout,
            },
            _ => HostUse::Sessions,
        };
        run.with_hosts(usage, inventory, async |hosts, sessions| {
            self.run_with(run, hosts, sessions, targets).await
        })
        .await
    }

    async fn run_with(
        &self,
        run: &Run,
        hosts: &Hosts<'_>,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> Result<Summary, Failure> {
        let mut changes = Changes::default();
        let targets = match self {
            Self::Verify(verify) => verify.run(run, sessions, targets).await,
            Self::Facts(facts) => facts.collect(run, sessions, targets).await,
            Self::Task(operation) => operation.run(run, hosts, sessions, targets).await,
            Self::Command(operation) => operation.run(run, sessions, targets).await?,
            Self::Inspect(inspect) => inspect.run(run, sessions, targets).await,
            Self::Apply(apply) => {
                let applied = apply.run(run, sessions, targets).await?;
                changes = applied.1;
                applied.0
            }
        };
        Ok(Summary { targets, changes })
    }
}
