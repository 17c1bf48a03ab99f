//! Hosts: where programs run. This node is one; every normal target is one, for its own tasks and,
//! as a proxy, for those of remote targets.

mod local;
mod member;
mod pool;
mod registry;
mod run_on;
mod settings;
mod shell;
mod stage;
mod teller;
mod words;

use std::collections::BTreeSet;

use devgate_schemas::Hash;
use devgate_schemas::task::Exit;

use crate::process::{Hear, Limits};
use crate::tasks::{Invocation, TaskError};
use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;

use local::Local;
pub(crate) use member::{Outlook, Seat};
pub(crate) use registry::Hosts;
pub(crate) use settings::Budget;
pub use settings::Settings;
use shell::Shell;

/// A place that runs tasks, for as long as one run of devgate.
#[derive(Debug)]
pub(crate) enum Host<'v> {
    /// This node, as who we are.
    Local(Box<Local>),
    /// A host behind SSH, or this node as another user.
    Shell(Box<Shell<'v>>),
}

/// Why a host gives no output of a task.
#[derive(Debug)]
pub enum Ended {
    /// The host could not start it: nothing of it has run, and another host may.
    NotStarted(Failure),
    /// It cannot be run anywhere, or was ended, or what it did is not known.
    Task(TaskError),
}

/// What one task on a host is subject to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// How long it may take and how much it may write.
    pub limits: &'a Limits,
    /// How it learns that it is to end.
    pub stop: &'a CancelToken,
    /// Who hears its output while it runs.
    pub hear: &'a dyn Hear,
}

/// What a task has given.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    /// The result; a failure is in its `_error`, what the task called `_sensitive` is hidden.
    pub value: Hash,
    /// How its process ended.
    pub exit: Exit,
    /// What it wrote to stderr, for the log. It has not been masked.
    pub stderr: String,
}

impl Host<'_> {
    /// This node, as who we are.
    pub(crate) fn local(settings: Settings) -> Self {
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
    pub(crate) fn budget(&self) -> &Budget {
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
        order: Order<'_>,
    ) -> Result<TaskOutput, Ended> {
        match self {
            Self::Local(local) => Ok(local.run(invocation, order).await?),
            // Boxed, so that a task of this node does not carry the room for one behind a shell.
            Self::Shell(shell) => Box::pin(shell.run(&invocation, order)).await,
        }
    }

    /// Leaves it, and nothing of this run on it.
    async fn close(&self) {
        match self {
            // What was laid out on this node is removed when it is forgotten.
            Self::Local(_) => {}
            Self::Shell(shell) => shell.close().await,
        }
    }
}

impl From<TaskError> for Ended {
    fn from(error: TaskError) -> Self {
        Self::Task(error)
    }
}

impl TaskOutput {
    /// Whether the task failed (Task Specification, "Exitcode").
    pub(crate) fn is_failure(&self) -> bool {
        self.value.get("_error").is_some()
    }
}
