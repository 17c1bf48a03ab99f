//! The limits of one task on a host, and its result.

use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_schemas::Hash;
use devgate_schemas::task::Exit;

use crate::process::{OutputSink, ProcessLimits};
use crate::tasks::TaskError;

/// Why a task has no output.
#[derive(Debug)]
pub enum TaskNotRun {
    /// The host could not start the task. Nothing of it has run, and another host may run it.
    NotStarted(Failure),
    /// The task cannot run anywhere, it was ended, or its effects are not known.
    Task(TaskError),
}

/// The limits of one task on a host, its cancellation and its output sink.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskControl<'a> {
    /// How long the task may take and how much it may write.
    pub limits: &'a ProcessLimits,
    /// The token that tells the task's runner to end it.
    pub stop: &'a CancelToken,
    /// Receives the output while the task runs.
    pub sink: &'a dyn OutputSink,
}

/// The output of a task.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    /// The result. A failure is in its `_error`; what the task returned as `_sensitive` is hidden.
    pub value: Hash,
    /// How the process ended.
    pub exit: Exit,
    /// The stderr of the task, for the log. It has not been masked.
    pub stderr: String,
}

impl From<Failure> for TaskNotRun {
    fn from(why: Failure) -> Self {
        Self::NotStarted(why)
    }
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
