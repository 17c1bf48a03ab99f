//! The tasks in the modules of a module path: finds them by name, and lists them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use devgate_schemas::nearest;
use devgate_schemas::task::{TaskName, is_name};
use serde_json::{Value as Json, json};

use super::module_path::{ModulePath, entries, stem};
use super::{Task, TaskError};

/// Finds tasks. Files are read only when needed.
#[derive(Clone, Debug)]
pub struct Catalogue(ModulePath);

/// All tasks of a catalogue.
#[derive(Debug, Default)]
pub struct TaskListing {
    /// The name, description and visibility of each task.
    pub tasks: Vec<ListedTask>,
    /// The unusable tasks, and why.
    pub problems: Vec<(String, TaskError)>,
}

/// A task in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTask {
    /// The name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// Whether the task is meant for other tasks and plans rather than for people.
    pub private: bool,
}

impl Catalogue {
    /// Creates the catalogue of the modules in these directories; the first of a name is used. A project that is itself
    /// a module, given by its name and directory, comes before them.
    pub fn new(modulepath: Vec<PathBuf>, project: Option<(String, PathBuf)>) -> Self {
        Self(ModulePath {
            folders: modulepath,
            project,
        })
    }

    /// Finds a task by name. `module` means `module::init`. Only the files of this task are read.
    ///
    /// # Errors
    /// Fails when there is no such task, or when its metadata or files are invalid.
    pub fn find(&self, name: &str) -> Result<Task, TaskError> {
        let name: TaskName = name.parse().map_err(TaskError::InvalidName)?;
        if let Some(module_dir) = self.0.module(name.module()) {
            let files = task_files(&module_dir)?;
            if files.iter().any(|file| stem(file) == name.task()) {
                let task = Task::load(&self.0, name, module_dir, &files)?;
                task.trusted()?;
                for warning in &task.metadata.warnings {
                    tracing::warn!("task {}: metadata: {warning}", task.name);
                }
                return Ok(task);
            }
        }
        let mut known_names = Vec::new();
        for (module, module_dir) in self.0.modules()? {
            let names = names(&module, &task_files(&module_dir)?);
            known_names.extend(names.iter().map(ToString::to_string));
        }
        if let Some(hidden) = self.0.hidden(name.module()) {
            let files = task_files(&hidden)?;
            if files.iter().any(|file| stem(file) == name.task()) {
                return Err(TaskError::Hidden {
                    name: name.to_string(),
                    project: name.module().to_owned(),
                    hidden,
                });
            }
        }
        let known_names: Vec<&str> = known_names.iter().map(String::as_str).collect();
        let name = name.to_string();
        // A task without its module is probably that of a module.
        let in_module = |known: &&&str| known.rsplit("::").next() == Some(&name);
        let nearest =
            nearest(&name, &known_names).or_else(|| known_names.iter().find(in_module).copied());
        let nearest = nearest.map(str::to_owned);
        Err(TaskError::Unknown { name, nearest })
    }

    /// Returns the names of all tasks. Only folders are read, and unreadable ones are skipped.
    pub fn names(&self) -> Vec<String> {
        let modules = self.0.modules().unwrap_or_default();
        let names = modules.iter().flat_map(|(module, folder)| {
            let files = task_files(folder).unwrap_or_default();
            names(module, &files)
        });
        names.map(|name| name.to_string()).collect()
    }

    /// Lists every task with its description. A task with a problem does not hide the others.
    ///
    /// # Errors
    /// Fails when a directory of the module path cannot be read.
    pub fn list(&self) -> Result<TaskListing, TaskError> {
        let mut listing = TaskListing::default();
        for (module, module_dir) in self.0.modules()? {
            let files = match task_files(&module_dir) {
                Ok(files) => files,
                Err(error) => {
                    listing.problems.push((module, error));
                    continue;
                }
            };
            for name in names(&module, &files) {
                let name_text = name.to_string();
                match Task::load(&self.0, name, module_dir.clone(), &files) {
                    Ok(task) => listing.tasks.push(ListedTask {
                        name: name_text,
                        description: task.metadata.description,
                        private: task.metadata.private,
                    }),
                    Err(error) => listing.problems.push((name_text, error)),
                }
            }
        }
        Ok(listing)
    }

    /// Returns the listing for programs: `{"tasks": [[name, description]…], "modulepath": […]}`.
    pub fn listing_json(&self, listing: &TaskListing) -> Json {
        let modulepath: Vec<String> = self
            .0
            .folders
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let tasks: Vec<_> = listing
            .tasks
            .iter()
            .map(|task| (&task.name, &task.description))
            .collect();
        json!({"tasks": tasks, "modulepath": modulepath})
    }

    /// Returns the directory of a module that is a plugin.
    pub(crate) fn plugin(&self, name: &str) -> Option<PathBuf> {
        self.0.plugin(name)
    }
}

/// Returns the names of the tasks for a module's files.
fn names(module: &str, files: &[String]) -> BTreeSet<TaskName> {
    files
        .iter()
        .map(|file| TaskName::new(module, stem(file)))
        .collect()
}

/// Returns the files at the top level of a module's `tasks` that may belong to a task, sorted. Files with an invalid
/// name and the extensions `.md` and `.conf` are ignored (Task Specification, "Task name and filename").
fn task_files(module_dir: &Path) -> Result<Vec<String>, TaskError> {
    let directory = module_dir.join("tasks");
    let mut files = entries(&directory)?;
    files.retain(|file| {
        is_name(stem(file))
            && !file.ends_with(".md")
            && !file.ends_with(".conf")
            && directory.join(file).is_file()
    });
    files.sort();
    Ok(files)
}
