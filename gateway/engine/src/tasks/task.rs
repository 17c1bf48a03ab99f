//! One task of a module: its metadata and its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_core::trust;
use devgate_schemas::Hash;
use devgate_schemas::task::{self, InputMethod, Metadata, TaskName};
use devgate_transports::reading;
use serde_json::{Value as Json, json};

use super::files::FileResolver;
use super::layout::TaskFile;
use super::module_path::{ModulePath, stem};
use super::{Implementation, Layout, Parameters, TaskError};

/// A task with valid metadata whose files all exist.
#[derive(Clone, Debug)]
pub struct Task {
    /// The task's name.
    pub name: TaskName,
    /// The directory of its module.
    pub module_dir: PathBuf,
    /// The metadata.
    pub metadata: Metadata,
    /// The implementations, in the order in which they are tried.
    pub(super) implementations: Vec<Arc<Implementation>>,
}

impl Task {
    /// Loads a task, given the files for tasks in its module.
    ///
    /// # Errors
    /// Fails when the metadata are invalid, or when a file that they name does not exist.
    pub(super) fn load(
        modules: &ModulePath,
        name: TaskName,
        module_dir: PathBuf,
        files: &[String],
    ) -> Result<Self, TaskError> {
        let directory = module_dir.join("tasks");
        let metadata = read_metadata(&directory, &name, files)?;
        let mut needed = FileResolver::new(modules);
        let implementations = declared(&name, &metadata, &directory, files)?
            .into_iter()
            .map(|declared| {
                let method = declared.input_method.or(metadata.input_method);
                let executable = TaskFile {
                    name: format!("{}/tasks/{}", name.module(), declared.name),
                    path: directory.join(&declared.name),
                };
                let files = needed.resolve(declared.files.iter().chain(&metadata.files));
                Arc::new(Implementation {
                    layout: Layout::new(executable, files),
                    input_method: method.unwrap_or_else(|| default_method(&declared.name)),
                    remote: declared.remote.unwrap_or(metadata.remote),
                    requirements: declared.requirements,
                })
            })
            .collect();
        needed.finish()?;
        Ok(Self {
            name,
            module_dir,
            metadata,
            implementations,
        })
    }

    /// Checks whether another user could change the files that are run.
    ///
    /// # Errors
    /// Fails, for root only, when another user could. For other users, that is a warning.
    pub(super) fn trusted(&self) -> Result<(), TaskError> {
        let tasks = self.module_dir.join("tasks");
        let metadata = tasks.join(format!("{}.json", self.name.task()));
        let files = self.implementations.iter();
        let files = files.flat_map(|implementation| implementation.layout.files());
        let files = files.map(|file| file.path.as_path());
        for path in [metadata.as_path()].into_iter().chain(files) {
            trust::check(path).map_err(|problem| TaskError::Files {
                kind: "devgate/untrusted",
                problems: vec![problem],
            })?;
        }
        Ok(())
    }

    /// Checks parameters against the metadata, adds defaults and wraps secrets.
    ///
    /// # Errors
    /// Fails with all invalid parameters, in Puppet's words.
    pub fn parameters(&self, given: Hash) -> Result<Parameters, TaskError> {
        self.metadata
            .check_parameters(&self.name.to_string(), given)
            .map(Parameters::checked)
            .map_err(TaskError::InvalidParameters)
    }

    /// Returns the task for programs: `name`, `files`, `metadata`, `module_dir`.
    pub fn to_json(&self) -> Json {
        let mut files: BTreeMap<&str, &Path> = BTreeMap::new();
        for implementation in &self.implementations {
            let [executable, others @ ..] = implementation.layout.files() else {
                continue;
            };
            files.insert(implementation.file_name(), &executable.path);
            files.extend(
                others
                    .iter()
                    .map(|file| (file.name.as_str(), file.path.as_path())),
            );
        }
        let files: Vec<Json> = files
            .into_iter()
            .map(|(name, path)| json!({"name": name, "path": path.display().to_string()}))
            .collect();
        json!({
            "name": self.name.to_string(),
            "files": files,
            "metadata": self.metadata.as_json(),
            "module_dir": self.module_dir.display().to_string(),
        })
    }
}

fn read_metadata(
    directory: &Path,
    name: &TaskName,
    files: &[String],
) -> Result<Metadata, TaskError> {
    let file = format!("{}.json", name.task());
    if !files.contains(&file) {
        return Ok(Metadata::default());
    }
    let path = directory.join(file);
    let text = match reading::text(&path) {
        Ok(text) => text,
        Err(error) => return Err(TaskError::Unreadable { path, error }),
    };
    Metadata::parse(&text).map_err(|error| TaskError::Metadata { path, error })
}

/// Returns the implementations in the metadata, or the one file with the task's name.
fn declared(
    name: &TaskName,
    metadata: &Metadata,
    directory: &Path,
    files: &[String],
) -> Result<Vec<task::Implementation>, TaskError> {
    let task = name.to_string();
    let executables = || files.iter().filter(|file| !file.ends_with(".json"));
    let declared = match &metadata.implementations {
        Some(declared) => {
            let exists = |name: &str| executables().any(|file| file == name);
            if let Some(missing) = declared
                .iter()
                .find(|resolve_one| !exists(&resolve_one.name))
            {
                return Err(TaskError::MissingImplementation {
                    task,
                    file: missing.name.clone(),
                });
            }
            declared.clone()
        }
        None => executables()
            .filter(|file| stem(file) == name.task())
            .map(|file| task::Implementation {
                name: file.clone(),
                ..Default::default()
            })
            .collect(),
    };
    let directory = directory.to_owned();
    if declared.is_empty() {
        return Err(TaskError::NoImplementation { task, directory });
    }
    if metadata.implementations.is_none() && declared.len() > 1 {
        let files = declared.into_iter().map(|one| one.name).collect();
        return Err(TaskError::MultipleImplementations {
            task,
            directory,
            files,
        });
    }
    Ok(declared)
}

fn default_method(file: &str) -> InputMethod {
    if file.ends_with(".ps1") {
        InputMethod::Powershell
    } else {
        InputMethod::Both
    }
}
