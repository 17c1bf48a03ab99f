//! The invocation of a task: its stdin and its environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_schemas::task::InputMethod;
use devgate_schemas::{Hash, Sensitive, Value};
use devgate_transports::Mode;

use super::{Implementation, Parameters, RunLocation, Task, TaskError};

/// The invocation of a task, before its files are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    task: String,
    implementation: Arc<Implementation>,
    parameters: Hash,
    mode: Mode,
    target: Option<Hash>,
    session: Option<String>,
    boltdir: Option<PathBuf>,
}

/// The input of a task.
pub(crate) struct Input {
    /// One JSON object, unless the task reads only its environment.
    pub stdin: Option<Sensitive<Vec<u8>>>,
    /// The environment variables.
    pub environment: Vec<(String, Sensitive<String>)>,
}

/// The environment variable with the socket path of the session that is lent to a task.
pub const SESSION_VARIABLE: &str = "DEVGATE_SESSION";

/// Linux accepts no `NAME=value` of this many bytes or more, including the final NUL (MAX_ARG_STRLEN).
const LONGEST_VARIABLE: usize = 128 * 1024;

impl Invocation {
    /// Creates the invocation of a task at a location, with its parameters and the first suitable implementation.
    ///
    /// # Errors
    /// Fails as [`Task::select`].
    pub(crate) fn new(
        task: &Task,
        location: RunLocation<'_>,
        parameters: Parameters,
        mode: Mode,
    ) -> Result<Self, TaskError> {
        Ok(Self {
            task: task.name.to_string(),
            implementation: task.select(location, mode)?,
            parameters: parameters.into_hash(),
            mode,
            target: None,
            session: None,
            boltdir: None,
        })
    }

    /// Adds `_target`, the checked connection info of the remote target. It is added nowhere else (Task Specification,
    /// "Executing Remote Tasks").
    pub(crate) fn with_target(self, target: Hash) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// Adds the socket path of the session that is lent to the task.
    pub(crate) fn with_session(self, socket: Option<&str>) -> Self {
        Self {
            session: socket.map(str::to_owned),
            ..self
        }
    }

    /// Adds `_boltdir`, the project's folder, for tasks of plugins.
    pub(crate) fn with_boltdir(self, folder: &Path) -> Self {
        Self {
            boltdir: Some(folder.to_owned()),
            ..self
        }
    }

    /// Returns the task's name.
    pub(crate) fn task(&self) -> &str {
        &self.task
    }

    /// Returns the implementation.
    pub(crate) fn implementation(&self) -> &Arc<Implementation> {
        &self.implementation
    }

    /// Returns the input, with the files installed in this directory. Secrets stay wrapped until the process is
    /// started.
    ///
    /// `_target` is in the environment only if the task reads nothing else, so that passwords do not appear in `/proc`.
    /// An `undef` has no variable, because a script could not tell it from a text. If a value is too long for a
    /// variable and the task also reads stdin, it is only there, and a warning is reported.
    ///
    /// # Errors
    /// Fails when a value cannot be a variable and the task reads nothing else.
    pub(crate) fn input(&self, installdir: Option<&Path>) -> Result<Input, TaskError> {
        let all_parameters = self.with_metaparameters(installdir);
        let method = self.implementation.input_method;
        let stdin = match method {
            InputMethod::Environment => None,
            InputMethod::Stdin | InputMethod::Both | InputMethod::Powershell => {
                let json = Value::Hash(all_parameters.clone()).reveal_json();
                Some(Sensitive::new(json.to_string().into_bytes()))
            }
        };
        let session = self.session.iter();
        let mut environment: Vec<_> = session
            .map(|socket| (SESSION_VARIABLE.to_owned(), Sensitive::new(socket.clone())))
            .collect();
        if matches!(method, InputMethod::Environment | InputMethod::Both) {
            for (key, value) in all_parameters.iter() {
                let name = key.to_string();
                if value.is_undef() || (name == "_target" && stdin.is_some()) {
                    continue;
                }
                match variable(&name, value) {
                    Ok(variable) => environment.push(variable),
                    Err(reason) if stdin.is_some() => tracing::warn!(
                        "task {}: parameter '{name}' {reason}: the task finds it on stdin only",
                        self.task
                    ),
                    Err(reason) => {
                        let task = self.task.clone();
                        return Err(TaskError::Environment {
                            task,
                            parameter: name,
                            reason,
                        });
                    }
                }
            }
        }
        Ok(Input { stdin, environment })
    }

    /// Returns the parameters with the metaparameters (Task Specification, "Metaparameters").
    pub(crate) fn with_metaparameters(&self, installdir: Option<&Path>) -> Hash {
        let mut all_parameters = self.parameters.clone();
        all_parameters.insert("_task", Value::from(self.task.as_str()));
        if self.mode == Mode::Noop {
            all_parameters.insert("_noop", Value::from(true));
        }
        if let Some(dir) = installdir {
            all_parameters.insert(
                "_installdir",
                Value::from(dir.to_string_lossy().into_owned()),
            );
        }
        if let Some(folder) = &self.boltdir {
            let folder = folder.to_string_lossy().into_owned();
            all_parameters.insert("_boltdir", Value::from(folder));
        }
        if let Some(target) = &self.target {
            let set = target
                .clone()
                .into_iter()
                .filter(|(_, value)| !value.is_undef());
            all_parameters.insert("_target", Value::Hash(set.collect()));
        }
        all_parameters
    }
}

/// Returns the variable of a parameter: a text as it is, any other value as JSON. Fails with why there can be none.
fn variable(name: &str, value: &Value) -> Result<(String, Sensitive<String>), String> {
    let text = match value.reveal_json() {
        serde_json::Value::String(text) => text,
        json => json.to_string(),
    };
    let name = format!("PT_{name}");
    // Two more bytes: `=` in between, and NUL at the end.
    let size = name.len() + text.len() + 2;
    if text.contains('\0') {
        Err("holds a NUL character, which no environment variable can".to_owned())
    } else if size > LONGEST_VARIABLE {
        Err(format!(
            "has {} bytes, which is too long for an environment variable",
            text.len()
        ))
    } else {
        Ok((name, Sensitive::new(text)))
    }
}
