//! The tasks that the modules of a module path hold, found by name or listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use devgate_schemas::nearest;
use devgate_schemas::task::{TaskName, is_name};
use serde_json::{Value as Json, json};

use super::{Task, TaskError};
use devgate_core::trust;

/// Where tasks are found. Nothing is read before it is asked for.
#[derive(Clone, Debug)]
pub struct Catalogue {
    modulepath: Vec<PathBuf>,
    project: Option<(String, PathBuf)>,
}

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
        Self {
            modulepath,
            project,
        }
    }

    /// The task of a name; `module` means `module::init`. Only this task's files are read.
    ///
    /// # Errors
    /// There is none, or its metadata or files are wrong.
    pub fn find(&self, name: &str) -> Result<Task, TaskError> {
        let name: TaskName = name.parse().map_err(TaskError::InvalidName)?;
        if let Some(module_dir) = self.module(name.module()) {
            let files = task_files(&module_dir)?;
            if files.iter().any(|file| stem(file) == name.task()) {
                let task = Task::load(self, name, module_dir, &files)?;
                task.trusted()?;
                for warning in &task.metadata.warnings {
                    tracing::warn!("task {}: metadata: {warning}", task.name);
                }
                return Ok(task);
            }
        }
        let mut known = Vec::new();
        for (module, module_dir) in self.modules()? {
            let names = names(&module, &task_files(&module_dir)?);
            known.extend(names.iter().map(ToString::to_string));
        }
        if let Some(hidden) = self.hidden(name.module()) {
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
        let modules = self.modules().unwrap_or_default();
        let names = modules.iter().flat_map(|(module, folder)| {
            let files = task_files(folder).unwrap_or_default();
            names(module, &files)
        });
        names.map(|name| name.to_string()).collect()
    }

    /// The module of the module path that the project hides, because it has the project's name.
    fn hidden(&self, module: &str) -> Option<PathBuf> {
        let (name, _) = self.project.as_ref()?;
        let mut folders = self.modulepath.iter().map(|path| path.join(module));
        folders.find(|folder| name == module && folder.is_dir())
    }

    /// Every task with its description; what is wrong with one does not hide the others.
    ///
    /// # Errors
    /// A directory of the module path cannot be read.
    pub fn list(&self) -> Result<Listing, TaskError> {
        let mut listing = Listing::default();
        for (module, module_dir) in self.modules()? {
            let files = match task_files(&module_dir) {
                Ok(files) => files,
                Err(error) => {
                    listing.problems.push((module, error));
                    continue;
                }
            };
            for name in names(&module, &files) {
                let shown = name.to_string();
                match Task::load(self, name, module_dir.clone(), &files) {
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
            .modulepath
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

    /// The directories out of which no link of a module may lead: the module path, the project, and the module
    /// itself, which may be a link.
    pub(super) fn roots(&self, module_dir: &Path) -> Vec<PathBuf> {
        let project = self.project.iter().map(|(_, dir)| dir.as_path());
        let paths = self.modulepath.iter().map(PathBuf::as_path);
        trust::roots(paths.chain(project).chain([module_dir]))
    }

    /// The directory of a module.
    pub(super) fn module(&self, name: &str) -> Option<PathBuf> {
        let project = self.project.iter().filter(|(project, _)| project == name);
        let inside = self.modulepath.iter().map(|path| path.join(name));
        project
            .map(|(_, dir)| dir.clone())
            .chain(inside)
            .find(|dir| dir.is_dir())
    }

    /// The directory of a module that describes itself as a plugin.
    pub(crate) fn plugin(&self, name: &str) -> Option<PathBuf> {
        let dir = is_name(name).then(|| self.module(name)).flatten()?;
        dir.join("bolt_plugin.json").is_file().then_some(dir)
    }

    /// All modules by name, with their directories.
    fn modules(&self) -> Result<BTreeMap<String, PathBuf>, TaskError> {
        let mut modules: BTreeMap<String, PathBuf> = self.project.iter().cloned().collect();
        for path in &self.modulepath {
            for name in entries(path)?.into_iter().filter(|name| is_name(name)) {
                let dir = path.join(&name);
                if dir.is_dir() {
                    modules.entry(name).or_insert(dir);
                }
            }
        }
        Ok(modules)
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

/// The names in a directory; a directory that is not there has none.
fn entries(directory: &Path) -> Result<Vec<String>, TaskError> {
    let unreadable = |error| TaskError::Unreadable {
        path: directory.to_owned(),
        error,
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        // A name that is not UTF-8 is no task's and no module's.
        names.extend(entry.map_err(unreadable)?.file_name().into_string());
    }
    Ok(names)
}

/// A file's name without its extension.
pub(super) fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
