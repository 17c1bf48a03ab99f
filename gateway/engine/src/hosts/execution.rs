//! The limits of one task on a host, and its result.

use devgate_schemas::Hash;
use devgate_schemas::task::Exit;

use crate::process::{OutputSink, ProcessLimits};
use crate::tasks::TaskError;
use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;

/// Why a task has no output.
#[derive(Debug)]
pub enum TaskNotRun {
    /// The host could not start it: nothing of it has run, and another host may.
    NotStarted(Failure),
    /// It cannot be run anywhere, or was ended, or what it did is not known.
    Task(TaskError),
}

/// What one task on a host is subject to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskControl<'a> {
    /// How long it may take and how much it may write.
    pub limits: &'a ProcessLimits,
    /// How it learns that it is to end.
    pub stop: &'a CancelToken,
    /// Receives its output while it runs.
    pub sink: &'a dyn OutputSink,
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

impl From<TaskError> for TaskNotRun {
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
