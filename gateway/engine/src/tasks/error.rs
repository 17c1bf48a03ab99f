//! The errors that prevent a task from running, with the kinds of Puppet and Bolt.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_schemas::task::{CapturedOutput, InvalidParameters, MetadataError};
use serde_json::{Value as Json, json};

/// Why a task was not found, was refused or could not be run. A task that ran and failed is not an error but a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The name is not a valid task name.
    #[error("{0}")]
    InvalidName(String),
    /// No module has a task of this name.
    #[error(
        "Could not find a task named '{name}'. For a list of available tasks, run 'devgate task \
         show'.{}", did_you_mean(nearest.as_deref())
    )]
    Unknown {
        name: String,
        nearest: Option<String>,
    },
    /// The task is in a module that the project hides.
    #[error(
        "Could not find a task named '{name}': the project is named '{project}' in bolt-project.yaml \
         and is the module of this name itself, which hides {}; give the project another name, or move \
         the task to the project's own folder tasks/", hidden.display()
    )]
    Hidden {
        name: String,
        project: String,
        hidden: PathBuf,
    },
    /// A file or directory of a module cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// The metadata file is invalid.
    #[error("{} cannot be used: {error}", path.display())]
    Metadata { path: PathBuf, error: MetadataError },
    /// The metadata name invalid files. There is one message for each.
    #[error("{}", problems.join("\n"))]
    Files {
        kind: &'static str,
        problems: Vec<String>,
    },
    /// The metadata name an implementation that does not exist.
    #[error("Task metadata for task {task} specifies missing implementation {file}")]
    MissingImplementation { task: String, file: String },
    /// There are metadata and no executable.
    #[error(
        "No source besides task metadata was found in directory {} for task {task}",
        directory.display()
    )]
    NoImplementation { task: String, directory: PathBuf },
    /// Several files could be the task.
    #[error(
        "Multiple executables were found in directory {} for task {task} ({}); define \
         'implementations' in metadata to differentiate between them",
        directory.display(), files.join(", ")
    )]
    MultipleImplementations {
        task: String,
        directory: PathBuf,
        files: Vec<String>,
    },
    /// The parameters are invalid.
    #[error("{0}")]
    InvalidParameters(InvalidParameters),
    /// Parameters were given both as words and as JSON.
    #[error(
        "Parameters must be specified through either the --params option or param=value pairs, \
         not both"
    )]
    BothForms,
    /// A word is not of the form `name=value`. It is not quoted, because it may be a value.
    #[error(
        "parameter {position} on the command line has no '=': write name=value; name targets with -t"
    )]
    NoPair { position: usize },
    /// A parameter has two values. They are not quoted.
    #[error("the parameter {name} is given twice on the command line: give it once")]
    GivenTwice { name: String },
    /// The value of a parameter has a key twice.
    #[error("the value of the parameter {name}: {problem}")]
    DuplicateKey { name: String, problem: String },
    /// The text of `--params` is not a JSON object.
    #[error("Unable to parse --params value as JSON: {0}")]
    ParamsNotJson(String),
    /// A remote task cannot run on a normal target.
    #[error(
        "task {task} acts on remote targets through _target, and {target} is a normal target: run \
         it on a target whose transport is remote"
    )]
    RemoteTaskOnNormalTarget { task: String, target: String },
    /// A normal task cannot run on a remote target.
    #[error(
        "task {task} is not a remote task, and {target} is a remote target that runs no programs: use a task with \
         \"remote\": true, or run this one on its proxy {proxy}"
    )]
    NormalTaskOnRemoteTarget {
        task: String,
        target: String,
        proxy: String,
    },
    /// No implementation can run with the available features.
    #[error(
        "no implementation of task {task} can run on {runner} for {target}: {}; available: {}",
        missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), features.join(", ")
    )]
    MissingFeatures {
        task: String,
        target: String,
        runner: String,
        features: Vec<String>,
        missing: Vec<MissingFeatures>,
    },
    /// The task does not support noop mode.
    #[error("task {task} does not support noop: nothing was run on {target}")]
    NoopUnsupported { task: String, target: String },
    /// The implementation needs PowerShell for named arguments, and there is none.
    #[error(
        "{file} of task {task} takes its parameters as PowerShell's arguments, and {runner} has no \
         `pwsh` on its path: install PowerShell there, or name it with `interpreters: {{ps1: PATH}}`"
    )]
    Powershell {
        task: String,
        file: String,
        runner: String,
    },
    /// A value cannot be passed in an environment variable, and the task reads nothing else.
    #[error(
        "parameter '{parameter}' of task {task} {reason}, and the task takes its parameters from \
         the environment alone: shorten the value or let the task use input_method stdin"
    )]
    Environment {
        task: String,
        parameter: String,
        reason: String,
    },
    /// The task's files could not be copied.
    #[error("task {task} could not be copied to {}: {error}", path.display())]
    Copy {
        task: String,
        path: PathBuf,
        error: io::Error,
    },
    /// The operating system did not run the task's file.
    #[error("{file} of task {task} cannot be executed: {reason}")]
    Unexecutable {
        task: String,
        file: String,
        reason: String,
    },
    /// The task took too long.
    #[error(
        "task {task} ran longer than {limit:?} and was ended with all its processes; changes that were made before \
         stay"
    )]
    TimedOut {
        task: String,
        limit: Duration,
        outputs: TaskOutputs,
    },
    /// The run was cancelled.
    #[error(
        "task {task} {stopped}, and all its processes were ended: what it has done is not known"
    )]
    Stopped {
        task: String,
        /// `was interrupted`, or that the run took too long.
        stopped: String,
        outputs: TaskOutputs,
    },
    /// The task was to be ended, and it is not known whether it was.
    #[error(
        "task {task} {}, and not all of its processes could be ended on {host}: {left}",
        limit.map_or_else(|| stopped.clone(), |limit| format!("ran longer than {limit:?}"))
    )]
    Left {
        task: String,
        stopped: String,
        limit: Option<Duration>,
        host: String,
        left: String,
        outputs: Box<TaskOutputs>,
    },
    /// The connection to the host was lost while the task ran.
    #[error(
        "the connection to {host} was lost while task {task} ran there: what it has done, and whether \
         it still runs, is not known ({error})"
    )]
    Lost {
        task: String,
        host: String,
        error: String,
        outputs: Box<TaskOutputs>,
    },
}

/// The output of a task until it was ended.
#[derive(Debug, Default)]
pub struct TaskOutputs(Box<[CapturedOutput; 2]>);

/// The features that one implementation needs and a target lacks.
#[derive(Debug)]
pub struct MissingFeatures {
    /// The implementation's file.
    pub file: String,
    /// The missing features.
    pub missing: Vec<String>,
}

impl TaskError {
    /// Returns the kind, by which programs distinguish errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidName(_) | Self::InvalidParameters(_) => "bolt/validation-error",
            Self::BothForms
            | Self::NoPair { .. }
            | Self::GivenTwice { .. }
            | Self::DuplicateKey { .. }
            | Self::ParamsNotJson(_) => "bolt/cli-error",
            Self::Unknown { .. } | Self::Hidden { .. } => "bolt/unknown-task",
            Self::Unreadable { .. } => "puppet.tasks/unreadable-metadata",
            Self::Metadata { error, .. } => error.kind(),
            Self::Files { kind, .. } => kind,
            Self::MissingImplementation { .. } => "puppet.tasks/missing-implementation",
            Self::NoImplementation { .. } => "puppet.tasks/no-implementation",
            Self::MultipleImplementations { .. } => "puppet.tasks/multiple-implementations",
            // Bolt has one kind for all three. The details contain the cause.
            Self::RemoteTaskOnNormalTarget { .. }
            | Self::NormalTaskOnRemoteTarget { .. }
            | Self::MissingFeatures { .. } => "bolt/no-implementation",
            Self::NoopUnsupported { .. } => "devgate/noop-unsupported",
            Self::Powershell { .. } => "devgate/no-powershell",
            Self::Environment { .. } => "puppetlabs.tasks/environment-var-error",
            Self::Copy { .. } => "puppetlabs.tasks/task_file_error",
            Self::Unexecutable { .. } => "puppetlabs.tasks/unexecutable_task",
            Self::TimedOut { .. } => "puppetlabs.tasks/timeout-error",
            Self::Left { limit: Some(_), .. } => "puppetlabs.tasks/timeout-error",
            Self::Stopped { .. } | Self::Left { limit: None, .. } => "devgate/interrupted",
            Self::Lost { .. } => "puppetlabs.tasks/connect-error",
        }
    }

    /// Returns the kind, message and details for the `_error` of a result.
    pub(crate) fn to_error(&self) -> (&'static str, String, Json) {
        (self.kind(), self.to_string(), self.details())
    }

    fn details(&self) -> Json {
        match self {
            Self::InvalidName(_)
            | Self::BothForms
            | Self::NoPair { .. }
            | Self::GivenTwice { .. }
            | Self::DuplicateKey { .. }
            | Self::ParamsNotJson(_) => json!({}),
            Self::Unknown { name, nearest } => json!({"task": name, "nearest": nearest}),
            Self::Hidden { name, hidden, .. } => {
                json!({"task": name, "hidden": hidden.display().to_string()})
            }
            Self::Unreadable { path, .. } => json!({"path": path.display().to_string()}),
            Self::Metadata { path, error } => {
                let problems = match error {
                    MetadataError::Unparseable(reason) => vec![reason.clone()],
                    MetadataError::Invalid(problems) => problems.clone(),
                };
                json!({"path": path.display().to_string(), "problems": problems})
            }
            Self::Files { problems, .. } => json!({"problems": problems}),
            Self::MissingImplementation { task, file } => json!({"task": task, "missing": [file]}),
            Self::NoImplementation { task, .. } => json!({"task": task}),
            Self::MultipleImplementations { task, files, .. } => {
                json!({"task": task, "files": files})
            }
            Self::InvalidParameters(InvalidParameters { task, problems }) => {
                let problems: Vec<&str> = problems.iter().map(|text| text.trim()).collect();
                json!({"task": task, "problems": problems})
            }
            Self::NoopUnsupported { task, target } => json!({"task": task, "target": target}),
            Self::RemoteTaskOnNormalTarget { task, target } => json!({
                "cause": "remote-task-on-normal-target", "task": task, "target": target,
            }),
            Self::NormalTaskOnRemoteTarget {
                task,
                target,
                proxy,
            } => json!({
                "cause": "normal-task-on-remote-target",
                "task": task, "target": target, "proxy": proxy,
            }),
            Self::MissingFeatures {
                task,
                target,
                runner,
                features,
                missing,
            } => json!({
                "cause": "missing-features",
                "task": task, "target": target, "runner": runner, "features": features,
                "implementations": missing
                    .iter()
                    .map(|one| json!({"name": one.file, "missing": one.missing}))
                    .collect::<Vec<_>>(),
            }),
            Self::Environment {
                task, parameter, ..
            } => {
                json!({"task": task, "parameter": parameter})
            }
            Self::Powershell { task, file, .. } | Self::Unexecutable { task, file, .. } => {
                json!({"task": task, "file": file})
            }
            Self::Copy { task, path, .. } => {
                json!({"task": task, "path": path.display().to_string()})
            }
            Self::TimedOut {
                task,
                limit,
                outputs,
            } => {
                let details = json!({"task": task, "limit_seconds": limit.as_secs_f64()});
                outputs.add_to(details)
            }
            Self::Stopped { task, outputs, .. } => {
                outputs.add_to(json!({"task": task, "begun": true}))
            }
            Self::Left {
                task,
                host,
                left,
                outputs,
                ..
            } => outputs.add_to(json!({"task": task, "host": host, "left": left, "begun": true})),
            Self::Lost {
                task,
                host,
                outputs,
                ..
            } => outputs.add_to(json!({"task": task, "host": host, "begun": true})),
        }
    }
}

impl TaskOutputs {
    pub(crate) fn new(stdout: CapturedOutput, stderr: CapturedOutput) -> Self {
        Self(Box::new([stdout, stderr]))
    }

    /// Returns the stdout and the stderr.
    pub(crate) fn into_outputs(self) -> [CapturedOutput; 2] {
        *self.0
    }

    fn add_to(&self, mut details: Json) -> Json {
        for (key, output) in ["partial_output", "stderr"].into_iter().zip(self.0.iter()) {
            if !output.bytes.is_empty() {
                details[key] = Json::from(output.last());
            }
        }
        details
    }
}

impl std::fmt::Display for MissingFeatures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} needs {}", self.file, self.missing.join(" and "))
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!(" Did you mean '{name}'?"))
        .unwrap_or_default()
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        let (kind, msg, details) = error.to_error();
        let details = details.as_object().cloned().unwrap_or_default();
        Self {
            kind: kind.to_owned(),
            msg,
            details,
        }
    }
}
