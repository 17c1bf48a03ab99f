//! A host, whichever kind it is.

use std::collections::BTreeSet;

use super::local::Local;
use super::shell::Shell;
use super::{TaskBudget, TaskControl, TaskHostSettings, TaskNotRun, TaskOutput};
use crate::tasks::Invocation;

/// A place that runs tasks, for as long as one run of devgate.
#[derive(Debug)]
pub(crate) enum Host<'v> {
    /// This node, as who we are.
    Local(Box<Local>),
    /// A host behind SSH, or this node as another user.
    Shell(Box<Shell<'v>>),
}

impl Host<'_> {
    /// This node, as who we are.
    pub(crate) fn local(settings: TaskHostSettings) -> Self {
        Self::Local(Box::new(Local::new(settings)))
    }

    /// What tasks may require of it.
    pub(crate) fn features(&self) -> &BTreeSet<String> {
        match self {
            Self::Local(local) => local.features(),
            Self::Shell(shell) => shell.features(),
        }
    }

    /// What each task on it may take.
    pub(crate) fn budget(&self) -> &TaskBudget {
        match self {
            Self::Local(local) => local.budget(),
            Self::Shell(shell) => shell.budget(),
        }
    }

    /// Whether its tasks can use a session that this process holds: its socket is of this node, and
    /// of our own user.
    pub(crate) fn shares_sessions(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// Runs a task. When this future is dropped, the task's processes are killed: at once on this
    /// node, when it is left on another or of another user.
    ///
    /// # Errors
    /// The task could not be started or executed, or took longer than it may. That it failed by
    /// itself is in its output.
    pub(crate) async fn run(
        &self,
        invocation: Invocation,
        order: TaskControl<'_>,
    ) -> Result<TaskOutput, TaskNotRun> {
        match self {
            Self::Local(local) => Ok(local.run(invocation, order).await?),
            // Boxed, so that a task of this node does not carry the room for one behind a shell.
            Self::Shell(shell) => Box::pin(shell.run(&invocation, order)).await,
        }
    }

    /// Leaves it, and nothing of this run on it.
    pub(crate) async fn close(&self) {
        match self {
            // What was laid out on this node is removed when it is forgotten.
            Self::Local(_) => {}
            Self::Shell(shell) => shell.close().await,
        }
    }
}
