//! Hosts: where programs run. This node is one; every normal target is one, for its own tasks and,
//! as a proxy, for those of remote targets.

mod local;
mod settings;
mod stage;
mod words;

use std::collections::BTreeSet;

use devgate_schemas::Hash;
use devgate_schemas::task::Exit;

use crate::process::{Hear, Limits};
use crate::stop::Stop;
use crate::tasks::{Invocation, TaskError};

pub(crate) use local::Local;
pub(crate) use settings::{Budget, Settings};

/// A place that runs tasks, for as long as one run of devgate.
#[derive(Debug)]
pub(crate) enum Host {
    /// This node.
    Local(Local),
}

/// What one task on a host is subject to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// How long it may take and how much it may write.
    pub(crate) limits: &'a Limits,
    /// How it learns that it is to end.
    pub(crate) stop: &'a Stop,
    /// Who hears its output while it runs.
    pub(crate) hear: &'a dyn Hear,
}

/// What a task has given.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    /// The result; a failure is in its `_error`, what the task called `_sensitive` is hidden.
    pub(crate) value: Hash,
    /// How its process ended.
    pub(crate) exit: Exit,
    /// What it wrote to stderr, for the log. It has not been masked.
    pub(crate) stderr: String,
}

impl Host {
    /// What tasks may require of it.
    pub(crate) fn features(&self) -> &BTreeSet<String> {
        match self {
            Self::Local(local) => local.features(),
        }
    }

    /// Runs a task. When this future is dropped, the task's processes are killed.
    ///
    /// # Errors
    /// The task could not be laid out or executed, or took longer than it may. That it failed by
    /// itself is in its output.
    pub(crate) async fn run(
        &self,
        invocation: Invocation,
        order: Order<'_>,
    ) -> Result<TaskOutput, TaskError> {
        match self {
            Self::Local(local) => local.run(invocation, order).await,
        }
    }
}

impl TaskOutput {
    /// Whether the task failed (Task Specification, "Exitcode").
    pub(crate) fn is_failure(&self) -> bool {
        self.value.get("_error").is_some()
    }
}
