//! `run_task`: one task on many targets.

use std::num::NonZeroU32;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_engine::operations::{Operation, TaskOperation};
use devgate_front::command_context::CommandContext;
use devgate_schemas::Hash;
use devgate_transports::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::module::actions::action::Action;
use crate::module::actions::targets::TargetSelection;

/// Runs a task on targets: a remote task here, with the target's connection info.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RunTask {
    #[serde(flatten)]
    selection: TargetSelection,
    /// The task's name.
    #[schemars(length(min = 1))]
    task: String,
    /// Its parameters, as its metadata have them.
    #[serde(default)]
    parameters: Map<String, Json>,
    /// Tell the task to change nothing; refused by tasks that do not support it.
    #[serde(default)]
    noop: bool,
    /// How many seconds it may take on a target.
    #[schemars(range(max = u32::MAX))]
    timeout: Option<NonZeroU32>,
}

impl Action for RunTask {
    const NAME: &str = "run_task";
    const ITEMS: &str = "task";
    const ADDITIONAL_KEYS: &[&str] = &["object"];
    const VALUE: &str = "What the task answers; with `_error` where it failed";
    type Value = Map<String, Json>;

    fn operation(self, context: &CommandContext) -> Result<(TargetSelection, Operation), Failure> {
        let task = context.workspace.catalogue().find(&self.task)?;
        let given: Hash = self
            .parameters
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        let parameters = task.parameters(task.metadata.hide_sensitive(given))?;
        let order = TaskOperation {
            task,
            parameters,
            mode: if self.noop { Mode::Noop } else { Mode::Enforce },
            timeout: self
                .timeout
                .map(|seconds| Duration::from_secs(seconds.get().into())),
            explain: false,
            stream: false,
        };
        Ok((self.selection, Operation::Task(Box::new(order))))
    }
}
