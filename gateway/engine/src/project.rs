//! The project that a command runs in: `bolt-project.yaml`, module path, and where the inventory is.

mod file;
mod format;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use devgate_schemas::Hash;
use devgate_schemas::yaml;
use devgate_transports::reading;

use crate::tasks::Catalogue;
use devgate_core::failure::{Failure, with_causes};
use file::{FILE, INVENTORY, ProjectReader, READ};
pub use format::Format;

/// A project's folder, and what its file says.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// The name, by which the project is a module too.
    pub name: Option<String>,
    /// Where modules are, the first winning.
    pub modulepath: Vec<PathBuf>,
    /// How many targets are worked on at once.
    pub concurrency: Option<NonZeroUsize>,
    /// How results are printed.
    pub format: Option<Format>,
    /// What each plugin is told.
    pub plugins: HashMap<String, Hash>,
    /// Whether results may be coloured.
    pub color: Option<bool>,
    /// Whether what tasks write is shown while they run.
    pub stream: bool,
    /// Where the last run is remembered; nowhere where nothing says that the folder is a project.
    pub rerunfile: Option<PathBuf>,
    /// Whether runs are remembered.
    pub save_rerun: bool,
    /// Patterns of the tasks that are listed; all where there are none.
    pub tasks: Option<Vec<String>>,
    /// What looks like a mistake and stops nothing.
    pub(crate) warnings: Vec<String>,
}

/// Why a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The folder that was named is not there.
    #[error("cannot use {} as a project ({from}): expected a folder", path.display())]
    NoFolder {
        /// What named it: `--project` or `BOLT_PROJECT`.
        from: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// Anybody could put tasks into the folder that others then run.
    #[error("all users can write to the project {}; remove that permission with `chmod o-w`", .0.display())]
    WorldWritable(PathBuf),
    /// The file is there and cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file says what it must not; all of it at once.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        let kind = match &error {
            ProjectError::WorldWritable(_) => "bolt/world-writable-error",
            ProjectError::Invalid(_) => "bolt/validation-error",
            ProjectError::NoFolder { .. } | ProjectError::Unreadable { .. } => "bolt/file-error",
        };
        Self::new(kind, with_causes(&error))
    }
}

impl Project {
    /// Finds and reads the project, as Bolt finds it: the folder that was named, that of
    /// `BOLT_PROJECT`, the nearest one upwards with a `Boltdir` or a `bolt-project.yaml`, or else
    /// the current folder.
    ///
    /// # Errors
    ///
    /// A named folder that is none, a folder that everybody may write to, and a file that is wrong.
    pub fn find(
        named: Option<PathBuf>,
        environment: Option<PathBuf>,
        current: &Path,
    ) -> Result<Self, ProjectError> {
        let root = match (named, environment) {
            (Some(path), _) => folder(path, "--project", current)?,
            (None, Some(path)) => folder(path, "BOLT_PROJECT", current)?,
            (None, None) => current
                .ancestors()
                .find_map(project_in)
                .unwrap_or_else(|| current.to_owned()),
        };
        let path = root.join(FILE);
        let text = match reading::text(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(ProjectError::Unreadable { path, source }),
        };
        if READ.iter().any(|name| root.join(name).exists()) && is_world_writable(&root) {
            return Err(ProjectError::WorldWritable(root));
        }
        Self::parse(root, &text.unwrap_or_default())
    }

    /// What is there of what a project is made of: whoever changes it changes what is run.
    pub fn places(&self) -> Vec<PathBuf> {
        let read = READ.map(|name| self.root.join(name));
        let mut places: Vec<PathBuf> = Vec::new();
        if read.iter().any(|path| path.exists()) {
            places.extend([self.root.clone(), self.root.join(FILE)]);
        }
        places.extend(self.modulepath.iter().cloned());
        places.retain(|path| path.exists());
        places
    }

    /// Where the inventory is, unless another is named.
    pub fn inventory_file(&self) -> PathBuf {
        self.root.join(INVENTORY)
    }

    /// The tasks of the module path, and of the project where it is a module.
    pub fn catalogue(&self) -> Catalogue {
        let project = self.name.as_ref();
        let project = project.map(|name| (name.clone(), self.root.clone()));
        Catalogue::new(self.modulepath.clone(), project)
    }

    fn parse(root: PathBuf, text: &str) -> Result<Self, ProjectError> {
        let file = root.join(FILE).display().to_string();
        let document = yaml::parse(text)
            .map_err(|error| ProjectError::Invalid(vec![format!("{file}: {error}")]))?;
        let mut reading = ProjectReader {
            document: &document,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        reading.keys();
        let project = Self {
            name: reading.name(),
            modulepath: reading.modulepath(&root),
            concurrency: reading.concurrency(),
            format: reading.format(),
            plugins: reading.plugins(),
            color: reading.flag("color"),
            stream: reading.flag("stream").unwrap_or(false),
            rerunfile: reading.rerunfile(&root),
            save_rerun: reading.flag("save-rerun").unwrap_or(true),
            tasks: reading.texts("tasks"),
            warnings: reading
                .warnings
                .iter()
                .map(|warning| format!("{file}: {warning}"))
                .collect(),
            root,
        };
        if reading.problems.is_empty() {
            Ok(project)
        } else {
            let place = |problem: &yaml::Error| format!("{file}: {problem}");
            Err(ProjectError::Invalid(
                reading.problems.iter().map(place).collect(),
            ))
        }
    }
}

fn folder(path: PathBuf, from: &'static str, current: &Path) -> Result<PathBuf, ProjectError> {
    let path = current.join(path);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(ProjectError::NoFolder { from, path })
    }
}

/// Whether everybody may write in a folder, or take away what is there.
pub fn is_world_writable(folder: &Path) -> bool {
    folder
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o002 != 0)
}

fn project_in(folder: &Path) -> Option<PathBuf> {
    let inner = folder.join("Boltdir");
    if inner.is_dir() {
        Some(inner)
    } else {
        folder.join(FILE).is_file().then(|| folder.to_owned())
    }
}
