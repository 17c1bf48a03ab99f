//! The tasks that the modules of a module path hold, found by name or listed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use devgate_schemas::nearest;
use devgate_schemas::task::{InputMethod, Metadata, TaskName, is_name};
use serde_json::{Value as Json, json};

use super::choose::Implementation;
use super::files::{File, Files};
use super::{Parameters, TaskError};

/// Where tasks are found. Nothing is read before it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Catalogue {
    modulepath: Vec<PathBuf>,
    project: Option<(String, PathBuf)>,
}

/// A task that can be run: its metadata are right and all its files are there.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The task's name.
    pub(crate) name: TaskName,
    /// The module that holds it.
    pub(crate) module_dir: PathBuf,
    /// What it says of itself.
    pub(crate) metadata: Metadata,
    /// Its implementations, in the order in which they are tried.
    pub(super) implementations: Vec<Implementation>,
}

/// All tasks of a catalogue.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Name and description of each, by name; private ones are left out.
    pub(crate) tasks: Vec<(String, Option<String>)>,
    /// The tasks that cannot be run, each with why.
    pub(crate) problems: Vec<(String, TaskError)>,
}

impl Catalogue {
    /// The modules in these directories, the first of a name counting, and before them a project
    /// that is a module itself, with its name and its directory.
    pub(crate) fn new(modulepath: Vec<PathBuf>, project: Option<(String, PathBuf)>) -> Self {
        Self {
            modulepath,
            project,
        }
    }

    /// The task of a name; `module` means `module::init`. Only this task's files are read.
    ///
    /// # Errors
    /// There is none, or its metadata or files are wrong.
    pub(crate) fn find(&self, name: &str) -> Result<Task, TaskError> {
        let name: TaskName = name.parse().map_err(TaskError::InvalidName)?;
        if let Some(module_dir) = self.module(name.module()) {
            let files = task_files(&module_dir)?;
            if files.iter().any(|file| stem(file) == name.task()) {
                return self.load(name, module_dir, &files);
            }
        }
        let known: Vec<String> = self.names()?.keys().map(ToString::to_string).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let name = name.to_string();
        let nearest = nearest(&name, &known).map(str::to_owned);
        Err(TaskError::Unknown { name, nearest })
    }

    /// Every task with its description; what is wrong with one does not hide the others.
    ///
    /// # Errors
    /// A directory of the module path cannot be read.
    pub(crate) fn list(&self) -> Result<Listing, TaskError> {
        let mut listing = Listing::default();
        for (name, module_dir) in self.names()? {
            let loaded = task_files(&module_dir)
                .and_then(|files| self.load(name.clone(), module_dir, &files));
            match loaded {
                Ok(task) if task.metadata.private => {}
                Ok(task) => listing
                    .tasks
                    .push((name.to_string(), task.metadata.description)),
                Err(error) => listing.problems.push((name.to_string(), error)),
            }
        }
        Ok(listing)
    }

    /// The listing as programs read it: `{"tasks": [[name, description]…], "modulepath": […]}`.
    pub(crate) fn listing_json(&self, listing: &Listing) -> Json {
        let modulepath: Vec<String> = self
            .modulepath
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        json!({"tasks": listing.tasks, "modulepath": modulepath})
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

    /// The names of all tasks, with the directories of their modules.
    fn names(&self) -> Result<BTreeMap<TaskName, PathBuf>, TaskError> {
        let mut modules: BTreeMap<String, PathBuf> = self.project.iter().cloned().collect();
        for path in &self.modulepath {
            for name in entries(path)?.into_iter().filter(|name| is_name(name)) {
                let dir = path.join(&name);
                if dir.is_dir() {
                    modules.entry(name).or_insert(dir);
                }
            }
        }
        let mut names = BTreeMap::new();
        for (module, dir) in modules {
            for file in task_files(&dir)? {
                names.insert(TaskName::new(&module, stem(&file)), dir.clone());
            }
        }
        Ok(names)
    }

    fn load(
        &self,
        name: TaskName,
        module_dir: PathBuf,
        files: &[String],
    ) -> Result<Task, TaskError> {
        let metadata_file = format!("{}.json", name.task());
        let metadata = if files.contains(&metadata_file) {
            read_metadata(&module_dir.join("tasks").join(metadata_file))?
        } else {
            Metadata::default()
        };
        let implementations = self.implementations(&name, &module_dir, &metadata, files)?;
        Ok(Task {
            name,
            module_dir,
            metadata,
            implementations,
        })
    }

    fn implementations(
        &self,
        name: &TaskName,
        module_dir: &Path,
        metadata: &Metadata,
        files: &[String],
    ) -> Result<Vec<Implementation>, TaskError> {
        let directory = module_dir.join("tasks");
        let executables: Vec<&String> = files
            .iter()
            .filter(|file| !file.ends_with(".json"))
            .collect();
        let mut resolved = Files::new(self);
        let mut implementation =
            |file: &str, entry: Option<&devgate_schemas::task::Implementation>| {
                let method = entry
                    .and_then(|entry| entry.input_method)
                    .or(metadata.input_method);
                let extra = entry
                    .map(|entry| entry.files.as_slice())
                    .unwrap_or_default();
                Implementation {
                    file: File {
                        name: format!("{}/tasks/{file}", name.module()),
                        path: directory.join(file),
                    },
                    requirements: entry
                        .map(|entry| entry.requirements.clone())
                        .unwrap_or_default(),
                    input_method: method.unwrap_or_else(|| default_method(file)),
                    remote: entry
                        .and_then(|entry| entry.remote)
                        .unwrap_or(metadata.remote),
                    files: resolved.resolve(extra.iter().chain(&metadata.files)),
                }
            };
        let implementations = match &metadata.implementations {
            Some(entries) => entries
                .iter()
                .map(
                    |entry| match executables.iter().find(|file| ***file == entry.name) {
                        Some(file) => Ok(implementation(file, Some(entry))),
                        None => Err(TaskError::MissingImplementation {
                            task: name.to_string(),
                            file: entry.name.clone(),
                        }),
                    },
                )
                .collect::<Result<Vec<_>, _>>()?,
            None => {
                let own: Vec<String> = executables
                    .iter()
                    .filter(|file| stem(file) == name.task())
                    .map(ToString::to_string)
                    .collect();
                if own.len() > 1 {
                    let task = name.to_string();
                    return Err(TaskError::MultipleImplementations {
                        task,
                        directory,
                        files: own,
                    });
                }
                own.iter().map(|file| implementation(file, None)).collect()
            }
        };
        resolved.finish()?;
        if implementations.is_empty() {
            return Err(TaskError::NoImplementation {
                task: name.to_string(),
                directory,
            });
        }
        Ok(implementations)
    }
}

impl Task {
    /// Checks what was given against the metadata; defaults are filled in, secrets hidden.
    ///
    /// # Errors
    /// Everything that does not fit, in Puppet's words.
    pub(crate) fn parameters(&self, given: devgate_schemas::Hash) -> Result<Parameters, TaskError> {
        self.metadata
            .check_parameters(&self.name.to_string(), given)
            .map(Parameters::checked)
            .map_err(TaskError::InvalidParameters)
    }

    /// The task as programs read it: `name`, `files`, `metadata`, `module_dir`.
    pub(crate) fn to_json(&self) -> Json {
        let mut files: BTreeMap<&str, &Path> = BTreeMap::new();
        for implementation in &self.implementations {
            files.insert(implementation.file_name(), &implementation.file.path);
            files.extend(
                implementation
                    .files
                    .iter()
                    .map(|f| (f.name.as_str(), f.path.as_path())),
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

fn read_metadata(path: &Path) -> Result<Metadata, TaskError> {
    let text = fs::read_to_string(path).map_err(|error| TaskError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    let metadata = Metadata::parse(&text).map_err(|error| TaskError::Metadata {
        path: path.to_owned(),
        error,
    })?;
    for warning in &metadata.warnings {
        tracing::warn!(file = %path.display(), "{warning}");
    }
    Ok(metadata)
}

/// A file's name without its extension.
fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

fn default_method(file: &str) -> InputMethod {
    if file.ends_with(".ps1") {
        InputMethod::Powershell
    } else {
        InputMethod::Both
    }
}
