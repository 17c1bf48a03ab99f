//! A task with all that it is given: what goes to its stdin and into its environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_schemas::task::InputMethod;
use devgate_schemas::{Hash, Sensitive, Value};
use devgate_transports::Mode;

use super::{Implementation, Parameters, Task, TaskError, TaskPlace};

/// One run of a task, before it has a place on disk.
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

/// What a task reads.
pub(crate) struct Input {
    /// One JSON object, unless the task reads its environment alone.
    pub stdin: Option<Sensitive<Vec<u8>>>,
    /// The variables.
    pub environment: Vec<(String, Sensitive<String>)>,
}

/// The environment variable that names the socket of the session that a task is lent.
pub const SESSION_VARIABLE: &str = "DEVGATE_SESSION";

/// Linux takes no `NAME=value` of this many bytes or more, its closing NUL counted (MAX_ARG_STRLEN).
const LONGEST_VARIABLE: usize = 128 * 1024;

impl Invocation {
    /// A run of a task at a place, with its parameters: by the first implementation that fits.
    ///
    /// # Errors
    /// Those of [`Task::choose`].
    pub(crate) fn new(
        task: &Task,
        place: TaskPlace<'_>,
        parameters: Parameters,
        mode: Mode,
    ) -> Result<Self, TaskError> {
        Ok(Self {
            task: task.name.to_string(),
            implementation: task.choose(place, mode)?,
            parameters: parameters.into_hash(),
            mode,
            target: None,
            session: None,
            boltdir: None,
        })
    }

    /// Adds `_target`, the checked connection information of the remote target. It is added here
    /// and nowhere else (Task Specification, "Executing Remote Tasks").
    pub(crate) fn with_target(self, target: Hash) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// Lends the task a session with its target: the path of a socket.
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

    /// The task's name.
    pub(crate) fn task(&self) -> &str {
        &self.task
    }

    /// What is run.
    pub(crate) fn implementation(&self) -> &Arc<Implementation> {
        &self.implementation
    }

    /// What the task is given, files being installed in this directory. The secrets stay hidden in
    /// their bytes until the process takes them.
    ///
    /// `_target` is in the environment only where the task reads nothing else, so that passwords
    /// are not in `/proc`. An `undef` is in no variable: a script could not tell it from a text.
    /// A value too long for a variable is on stdin only where the task reads both, and a warning
    /// says so.
    ///
    /// # Errors
    /// A value fits no variable, and the task reads nothing else.
    pub(crate) fn input(&self, installdir: Option<&Path>) -> Result<Input, TaskError> {
        let given = self.given(installdir);
        let method = self.implementation.input_method;
        let stdin = match method {
            InputMethod::Environment => None,
            InputMethod::Stdin | InputMethod::Both | InputMethod::Powershell => {
                let json = Value::Hash(given.clone()).reveal_json();
                Some(Sensitive::new(json.to_string().into_bytes()))
            }
        };
        let session = self.session.iter();
        let mut environment: Vec<_> = session
            .map(|socket| (SESSION_VARIABLE.to_owned(), Sensitive::new(socket.clone())))
            .collect();
        if matches!(method, InputMethod::Environment | InputMethod::Both) {
            for (key, value) in given.iter() {
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

    /// The parameters with the metaparameters (Task Specification, "Metaparameters").
    pub(crate) fn given(&self, installdir: Option<&Path>) -> Hash {
        let mut given = self.parameters.clone();
        given.insert("_task", Value::from(self.task.as_str()));
        if self.mode == Mode::Noop {
            given.insert("_noop", Value::from(true));
        }
        if let Some(dir) = installdir {
            given.insert(
                "_installdir",
                Value::from(dir.to_string_lossy().into_owned()),
            );
        }
        if let Some(folder) = &self.boltdir {
            let folder = folder.to_string_lossy().into_owned();
            given.insert("_boltdir", Value::from(folder));
        }
        if let Some(target) = &self.target {
            let set = target
                .clone()
                .into_iter()
                .filter(|(_, value)| !value.is_undef());
            given.insert("_target", Value::Hash(set.collect()));
        }
        given
    }
}

/// The variable of a parameter: a text as it is, anything else as JSON; or why there can be none.
fn variable(name: &str, value: &Value) -> Result<(String, Sensitive<String>), String> {
    let text = match value.reveal_json() {
        serde_json::Value::String(text) => text,
        json => json.to_string(),
    };
    let name = format!("PT_{name}");
    // Between them stands a `=`, behind them a NUL.
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
