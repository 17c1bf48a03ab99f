//! A task on many targets.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::results::{Action, EXPLAIN};
use devgate_transports::Mode;

use crate::inventory::Target;
use crate::proxies::Hosts;
use crate::run::{Run, RunSummary};
use crate::session::{RetryScope, SessionBroker, Sessions};
use crate::task_run::TaskRun;
use crate::tasks::{Parameters, Task};

/// A task to run, and how to run it.
#[derive(Debug)]
pub struct TaskOperation {
    /// The task.
    pub task: Task,
    /// The checked parameters.
    pub parameters: Parameters,
    /// Whether the task may change anything.
    pub mode: Mode,
    /// The longest time on each target. Without it, the inventory decides.
    pub timeout: Option<Duration>,
    /// Whether the task is only explained, not run.
    pub explain: bool,
    /// Whether the output is reported while the task runs.
    pub stream: bool,
}

impl TaskOperation {
    /// Runs the task on every target.
    pub(crate) async fn run(
        &self,
        run: &Run,
        hosts: &Hosts<'_>,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> RunSummary {
        let task = TaskRun {
            hosts,
            broker: &SessionBroker::new(sessions.pool(), RetryScope::Run),
            reported_transports: &RefCell::default(),
            task: &self.task,
            parameters: &self.parameters,
            mode: self.mode,
            timeout: self.timeout,
            stream: self.stream,
        };
        let action = Action {
            name: if self.explain { EXPLAIN } else { "task" },
            is_document: false,
            object: Some(self.task.name.to_string()),
        };
        let ran = run.on_targets(targets, action, async |job| {
            if self.explain {
                task.explain(job, sessions).await
            } else {
                task.on(job).await
            }
        });
        ran.await
    }
}
