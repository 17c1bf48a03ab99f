//! The tasks that the modules of a module path hold, found by name or listed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use devgate_schemas::nearest;
use devgate_schemas::task::{TaskName, is_name};
use serde_json::{Value as Json, json};

use super::module_path::{ModulePath, entries, stem};
use super::{Task, TaskError};

/// Where tasks are found. Nothing is read before it is asked for.
#[derive(Clone, Debug)]
pub struct Catalogue(ModulePath);

/// All tasks of a catalogue.
#[derive(Debug, Default)]
pub struct Listing {
    /// What each says of itself, by name.
    pub tasks: Vec<Listed>,
    /// The tasks that cannot be run, each with why.
    pub problems: Vec<(String, TaskError)>,
}

/// A task in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is for other tasks and plans rather than for people.
    pub private: bool,
}

impl Catalogue {
    /// The modules in these directories, the first of a name counting, and before them a project
    /// that is a module itself, with its name and its directory.
    pub fn new(modulepath: Vec<PathBuf>, project: Option<(String, PathBuf)>) -> Self {
        Self(ModulePath {
            folders: modulepath,
            project,
        })
    }

    /// The task of a name; `module` means `module::init`. Only this task's files are read.
    ///
    /// # Errors
    /// There is none, or its metadata or files are wrong.
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
        let mut known = Vec::new();
        for (module, module_dir) in self.0.modules()? {
            let names = names(&module, &task_files(&module_dir)?);
            known.extend(names.iter().map(ToString::to_string));
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
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let name = name.to_string();
        let nearest = nearest(&name, &known).map(str::to_owned);
        Err(TaskError::Unknown { name, nearest })
    }

    /// The names of all tasks. Nothing is read but folders; those that cannot be read have none.
    pub fn names(&self) -> Vec<String> {
        let modules = self.0.modules().unwrap_or_default();
        let names = modules.iter().flat_map(|(module, folder)| {
            let files = task_files(folder).unwrap_or_default();
            names(module, &files)
        });
        names.map(|name| name.to_string()).collect()
    }

    /// Every task with its description; what is wrong with one does not hide the others.
    ///
    /// # Errors
    /// A directory of the module path cannot be read.
    pub fn list(&self) -> Result<Listing, TaskError> {
        let mut listing = Listing::default();
        for (module, module_dir) in self.0.modules()? {
            let files = match task_files(&module_dir) {
                Ok(files) => files,
                Err(error) => {
                    listing.problems.push((module, error));
                    continue;
                }
            };
            for name in names(&module, &files) {
                let shown = name.to_string();
                match Task::load(&self.0, name, module_dir.clone(), &files) {
                    Ok(task) => listing.tasks.push(Listed {
                        name: shown,
                        description: task.metadata.description,
                        private: task.metadata.private,
                    }),
                    Err(error) => listing.problems.push((shown, error)),
                }
            }
        }
        Ok(listing)
    }

    /// The listing as programs read it: `{"tasks": [[name, description]…], "modulepath": […]}`.
    pub fn listing_json(&self, listing: &Listing) -> Json {
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

    /// The directory of a module that describes itself as a plugin.
    pub(crate) fn plugin(&self, name: &str) -> Option<PathBuf> {
        self.0.plugin(name)
    }
}

/// The names of the tasks that a module's files make.
fn names(module: &str, files: &[String]) -> BTreeSet<TaskName> {
    files
        .iter()
        .map(|file| TaskName::new(module, stem(file)))
        .collect()
}

/// The files at the top level of a module's `tasks` that can belong to a task, sorted; a name that
/// is no task's and the extensions `.md` and `.conf` are passed over (Task Specification, "Task
/// name and filename").
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
