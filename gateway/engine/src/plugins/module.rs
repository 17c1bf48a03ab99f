//! Plugins that are tasks: the plugin `task`, and modules that describe themselves as plugins.

use std::collections::BTreeMap;
use std::path::Path;

use devgate_core::cancel::CancelSource;
use devgate_schemas::{Hash, Mask, Value};
use devgate_transports::Mode;
use serde::Deserialize;
use tokio::task::yield_now;

use super::options::{Options, read};
use crate::hosts::{Host, TaskControl, TaskNotRun};
use crate::inventory::PluginError;
use crate::process::{DiscardOutput, ProcessLimits};
use crate::tasks::{Catalogue, Invocation, RunLocation, Task, TaskError};

/// The contents of a module's `bolt_plugin.json`.
#[derive(Debug, Default, Deserialize)]
struct Description {
    #[serde(default)]
    hooks: BTreeMap<String, Hook>,
}

/// The task of a hook.
#[derive(Debug, Deserialize)]
struct Hook {
    task: String,
}

/// A module that is a plugin.
pub(super) struct Module<'a> {
    /// The module's folder.
    pub(super) folder: &'a Path,
    /// The project's configuration of the plugin.
    pub(super) config: Hash,
    /// The project's folder.
    pub(super) project: &'a Path,
}

/// The hook for references.
const HOOK: &str = "resolve_reference";

/// Runs the task `task` with `parameters` on this node, and returns its `value`.
pub(super) async fn task(
    catalogue: &Catalogue,
    host: &Host<'_>,
    options: Options<'_>,
) -> Result<Value, PluginError> {
    options.refuse_unknown(&["task", "parameters"])?;
    let name = options.required("task")?;
    let task = catalogue.find(name);
    let task = task.map_err(|error| options.failed(message_of(error)))?;
    let parameters = match options.values.get("parameters") {
        None | Some(Value::Undef) => Hash::new(),
        Some(Value::Hash(parameters)) => parameters.clone(),
        Some(_) => return Err(options.invalid("expected `parameters` to be a hash")),
    };
    value(host, &options, &task, parameters, None).await
}

impl Module<'_> {
    /// Resolves a reference with the module's task. The task gets the reference's options, merged over the project's
    /// configuration as far as it has such parameters.
    pub(super) async fn resolve(
        self,
        catalogue: &Catalogue,
        host: &Host<'_>,
        options: Options<'_>,
    ) -> Result<Value, PluginError> {
        let task = self.task(catalogue, &options)?;
        let mut parameters = Hash::new();
        for (key, value) in self.config {
            let declared = task.metadata.parameters.as_ref();
            if declared.is_none_or(|declared| declared.contains_key(&key.to_string())) {
                parameters.insert(key, value);
            }
        }
        for (key, value) in options.values.iter() {
            parameters.insert(key.clone(), value.clone());
        }
        value(host, &options, &task, parameters, Some(self.project)).await
    }

    fn task(&self, catalogue: &Catalogue, options: &Options<'_>) -> Result<Task, PluginError> {
        let text = read(options, "the file", &self.folder.join("bolt_plugin.json"))?;
        let invalid = |message| PluginError::InvalidData {
            plugin: options.plugin.to_owned(),
            message,
        };
        let mut description: Description =
            serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
        let named = description.hooks.remove(HOOK).map(|hook| hook.task);
        let is_named = named.is_some();
        let name = named.unwrap_or_else(|| format!("{}::{HOOK}", options.plugin));
        catalogue.find(&name).map_err(|error| match error {
            TaskError::Unknown { .. } if !is_named => PluginError::UnsupportedHook {
                plugin: options.plugin.to_owned(),
            },
            error => invalid(message_of(error)),
        })
    }
}

/// Runs a task on this node, without data of the inventory. Returns its `value`, or the one in its `_sensitive`.
async fn value(
    host: &Host<'_>,
    options: &Options<'_>,
    task: &Task,
    parameters: Hash,
    boltdir: Option<&Path>,
) -> Result<Value, PluginError> {
    let why = |error| format!("task {}: {}", task.name, message_of(error));
    let failed = |error| options.failed(why(error));
    let misfit = |error| options.invalid(why(error));
    let parameters = task.parameters(parameters).map_err(misfit)?;
    let mask = Mask::new(parameters.secrets());
    let location = RunLocation::Normal {
        target: "localhost",
        features: host.features(),
    };
    let invocation = Invocation::new(task, location, parameters, Mode::Enforce).map_err(failed)?;
    let invocation = match boltdir {
        Some(folder) => invocation.with_boltdir(folder),
        None => invocation,
    };
    // If the caller drops this future, the task is killed.
    let cancel_source = CancelSource::default();
    let control = TaskControl {
        limits: &ProcessLimits::default(),
        stop: &cancel_source.token(),
        sink: &DiscardOutput,
    };
    // The first poll starts nothing: a front end listens for signals only once there is something to wait for.
    yield_now().await;
    let output = host.run(invocation, control).await;
    let output = output.map_err(|ended| match ended {
        TaskNotRun::Task(error) => failed(error),
        TaskNotRun::NotStarted(why) => options.failed(format!("task {}: {why}", task.name)),
    })?;
    let mut result = output.value;
    if let Some(error) = result.get("_error") {
        let message = error.as_hash().and_then(|error| error.get("msg"));
        let message = message.and_then(Value::as_str).unwrap_or("it failed");
        let message = format!("task {}: {}", task.name, mask.text(message));
        return Err(options.failed(message));
    }
    let value = result
        .remove("value")
        .or_else(|| result.remove("_sensitive"));
    value.ok_or_else(|| {
        let message = "expected a result with `value` (or `_sensitive`), it has neither";
        options.failed(format!("task {}: {message}", task.name))
    })
}

fn message_of(error: TaskError) -> String {
    let (_, message, _) = error.to_error();
    message
}
