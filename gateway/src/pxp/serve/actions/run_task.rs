//! `run_task`: one task on many targets.

use std::num::NonZeroU32;
use std::time::Duration;

use devgate_schemas::Hash;
use devgate_transports::Mode;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{Action, Operation, Setting, Value, Whom};
use crate::operations::TaskOrder;
use crate::pxp::serve::schema::{count, flag, open, text, word};

#[derive(Deserialize)]
pub(super) struct RunTask {
    #[serde(flatten)]
    whom: Whom,
    task: String,
    #[serde(default)]
    parameters: Map<String, Json>,
    #[serde(default)]
    noop: bool,
    timeout: Option<NonZeroU32>,
}

impl Action for RunTask {
    const NAME: &str = "run_task";
    const ABOUT: &str =
        "Runs a task on targets: a remote task here, with the target's connection info";
    const ITEMS: &str = "task";
    const REQUIRED: &[&str] = &["task"];

    fn input() -> Json {
        json!({
            "task": word("The task's name"),
            "parameters": open("Its parameters, as its metadata have them", json!({})),
            "noop": flag("Tell the task to change nothing; refused by tasks that do not support it"),
            "timeout": count("How many seconds it may take on a target", 1),
        })
    }

    fn value() -> Value {
        Value::Open("What the task answers; with `_error` where it failed")
    }

    fn item() -> Json {
        json!({ "object": text("The task's name") })
    }

    fn operation(self, setting: &Setting) -> anyhow::Result<(Whom, Operation)> {
        let task = setting.workspace.catalogue().find(&self.task)?;
        let given: Hash = self
            .parameters
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        let parameters = task.parameters(task.metadata.hide_sensitive(given))?;
        let order = TaskOrder {
            task,
            parameters,
            mode: if self.noop { Mode::Noop } else { Mode::Enforce },
            timeout: self
                .timeout
                .map(|seconds| Duration::from_secs(seconds.get().into())),
            explain: false,
            stream: false,
        };
        Ok((self.whom, Operation::Task(Box::new(order))))
    }
}
