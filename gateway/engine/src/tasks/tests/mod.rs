//! Tasks in modules that each test creates: found, chosen, and actually run.

mod find;
mod input;
mod limits;
mod powershell;
mod run;
mod selection;

use std::fs;
use std::path::Path;

use devgate_core::cancel::{CancelSource, CancelToken};
use devgate_schemas::{Hash, Value};
use devgate_transports::Mode;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::*;
use crate::hosts::{Host, TaskControl, TaskHostSettings, TaskNotRun, TaskOutput};
use crate::process::{DiscardOutput, ProcessLimits};

/// A module path of one directory.
struct Modules(TempDir);

impl Modules {
    /// Creates files by `module/path`, with their contents.
    fn with(files: &[(&str, &str)]) -> Self {
        let modules = Self(tempfile::tempdir().expect("a directory"));
        for (name, content) in files {
            modules.write(name, content);
        }
        modules
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn catalogue(&self) -> Catalogue {
        Catalogue::new(vec![self.path().to_owned()], None)
    }

    fn find(&self, name: &str) -> Task {
        self.catalogue().find(name).expect("a task")
    }

    /// Returns the kind and text of the error for a name.
    fn refusal(&self, name: &str) -> (&'static str, String) {
        let error = self.catalogue().find(name).expect_err("no task");
        (error.kind(), error.to_string())
    }
}

fn hash(json: Json) -> Hash {
    match Value::from(json) {
        Value::Hash(hash) => hash,
        other => panic!("expected an object, got {other:?}"),
    }
}

/// A planned run of the task `m::t`.
struct Run {
    modules: Modules,
    parameters: Json,
    target: Option<Json>,
    mode: Mode,
    settings: TaskHostSettings,
    limits: ProcessLimits,
    tmpdir: TempDir,
}

impl Run {
    fn of(script: &str) -> Self {
        Self::named("t.sh", script)
    }

    fn named(file: &str, script: &str) -> Self {
        let tmpdir = tempfile::tempdir().expect("a directory");
        let settings = TaskHostSettings {
            tmpdir: Some(tmpdir.path().to_owned()),
            ..TaskHostSettings::default()
        };
        Self {
            modules: Modules::with(&[(&format!("m/tasks/{file}"), script)]),
            parameters: json!({}),
            target: None,
            mode: Mode::Enforce,
            settings,
            limits: ProcessLimits::default(),
            tmpdir,
        }
    }

    fn metadata(self, metadata: Json) -> Self {
        self.modules.write("m/tasks/t.json", &metadata.to_string());
        self
    }

    fn file(self, name: &str, content: &str) -> Self {
        self.modules.write(name, content);
        self
    }

    fn parameters(self, parameters: Json) -> Self {
        Self { parameters, ..self }
    }

    fn target(self, target: Json) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    fn limits(self, limits: ProcessLimits) -> Self {
        Self { limits, ..self }
    }

    async fn run(&self) -> Result<TaskOutput, TaskError> {
        let cancel_source = CancelSource::default();
        self.run_under(cancel_source.token()).await
    }

    async fn run_under(&self, stop: CancelToken) -> Result<TaskOutput, TaskError> {
        let task = self.modules.find("m::t");
        let host = Host::local(self.settings.clone());
        let features = host.features();
        let location = match &self.target {
            None => RunLocation::Normal {
                target: "localhost",
                features,
            },
            Some(_) => RunLocation::Remote {
                target: "sw1",
                proxy: "localhost",
                features,
            },
        };
        let parameters = task.parameters(hash(self.parameters.clone()))?;
        let mut invocation = Invocation::new(&task, location, parameters, self.mode)?;
        if let Some(target) = &self.target {
            let secret = |(key, value): (devgate_schemas::Key, Value)| {
                let hidden = key.as_str() == Some("password");
                (
                    key,
                    if hidden {
                        value.into_sensitive()
                    } else {
                        value
                    },
                )
            };
            invocation =
                invocation.with_target(hash(target.clone()).into_iter().map(secret).collect());
        }
        let control = TaskControl {
            limits: &self.limits,
            stop: &stop,
            sink: &DiscardOutput,
        };
        let output = host.run(invocation, control).await;
        drop(host);
        assert_eq!(self.left_behind(), 0, "the task's directory is gone");
        output.map_err(|ended| match ended {
            TaskNotRun::Task(error) => error,
            TaskNotRun::NotStarted(why) => panic!("this node is always there: {why}"),
        })
    }

    fn left_behind(&self) -> usize {
        fs::read_dir(self.tmpdir.path())
            .expect("the directory")
            .count()
    }

    async fn value(&self) -> Json {
        Value::Hash(self.run().await.expect("an output").value).to_json()
    }
}
