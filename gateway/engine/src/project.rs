//! The project of a command: `bolt-project.yaml`, the module path, and the path of the inventory.

mod file;
mod format;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use devgate_core::failure::{Failure, with_causes};
use devgate_schemas::Hash;
use devgate_schemas::yaml;
use devgate_transports::reading;

use crate::tasks::Catalogue;
use file::{CHECKED_NAMES, INVENTORY_FILE, PROJECT_FILE, ProjectReader};
pub use format::Format;

/// A project's folder, and the settings in its file.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// The name, if the project is also a module.
    pub name: Option<String>,
    /// The folders of modules. The first module of a name is used.
    pub modulepath: Vec<PathBuf>,
    /// The number of targets that are worked on at once.
    pub concurrency: Option<NonZeroUsize>,
    /// How results are printed.
    pub format: Option<Format>,
    /// The configuration of each plugin.
    pub plugins: HashMap<String, Hash>,
    /// Whether results may be coloured.
    pub color: Option<bool>,
    /// Whether the output of tasks is shown while they run.
    pub stream: bool,
    /// The file that records the last run. Without it, none is recorded, because the folder is no project.
    pub rerunfile: Option<PathBuf>,
    /// Whether runs are recorded.
    pub save_rerun: bool,
    /// Patterns of the tasks that are listed. Without patterns, all are listed.
    pub tasks: Option<Vec<String>>,
    /// The folder of TextFSM templates.
    pub textfsm_templates: Option<PathBuf>,
    /// Probable mistakes that are not errors.
    pub(crate) warnings: Vec<String>,
}

/// Why a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The named folder does not exist.
    #[error("cannot use {} as a project ({from}): expected a folder", path.display())]
    NoFolder {
        /// The origin of the path: `--project` or `BOLT_PROJECT`.
        from: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// Any user could put tasks into the folder that others then run.
    #[error("all users can write to the project {}; remove that permission with `chmod o-w`", .0.display())]
    WorldWritable(PathBuf),
    /// The file exists and cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is invalid; all problems at once.
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
    /// Finds and reads the project as Bolt does: the named folder, that of `BOLT_PROJECT`, the nearest one upwards with
    /// a `Boltdir` or a `bolt-project.yaml`, or else the current folder.
    ///
    /// # Errors
    /// Fails when the named folder does not exist, when everybody may write to the folder, or when the file is invalid.
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
        let path = root.join(PROJECT_FILE);
        let text = match reading::text(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(ProjectError::Unreadable { path, source }),
        };
        if CHECKED_NAMES.iter().any(|name| root.join(name).exists()) && is_world_writable(&root) {
            return Err(ProjectError::WorldWritable(root));
        }
        Self::parse(root, &text.unwrap_or_default())
    }

    /// Returns the existing files and folders of the project. A change of one may change what is run.
    pub fn existing_paths(&self) -> Vec<PathBuf> {
        let read = CHECKED_NAMES.map(|name| self.root.join(name));
        let mut existing_paths: Vec<PathBuf> = Vec::new();
        if read.iter().any(|path| path.exists()) {
            existing_paths.extend([self.root.clone(), self.root.join(PROJECT_FILE)]);
        }
        existing_paths.extend(self.modulepath.iter().cloned());
        existing_paths.retain(|path| path.exists());
        existing_paths
    }

    /// Returns the path of the project's inventory.
    pub fn inventory_file(&self) -> PathBuf {
        self.root.join(INVENTORY_FILE)
    }

    /// Returns the tasks of the module path, and of the project if it is a module.
    pub fn catalogue(&self) -> Catalogue {
        let project = self.name.as_ref();
        let project = project.map(|name| (name.clone(), self.root.clone()));
        Catalogue::new(self.modulepath.clone(), project)
    }

    fn parse(root: PathBuf, text: &str) -> Result<Self, ProjectError> {
        let file = root.join(PROJECT_FILE).display().to_string();
        let document = yaml::parse(text)
            .map_err(|error| ProjectError::Invalid(vec![format!("{file}: {error}")]))?;
        let mut reader = ProjectReader {
            document: &document,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        reader.keys();
        let project = Self {
            name: reader.name(),
            modulepath: reader.modulepath(&root),
            concurrency: reader.concurrency(),
            format: reader.format(),
            plugins: reader.plugins(),
            color: reader.flag("color"),
            stream: reader.flag("stream").unwrap_or(false),
            rerunfile: reader.rerunfile(&root),
            save_rerun: reader.flag("save-rerun").unwrap_or(true),
            tasks: reader.texts("tasks"),
            textfsm_templates: reader.path(&root, "textfsm-templates"),
            warnings: reader
                .warnings
                .iter()
                .map(|warning| format!("{file}: {warning}"))
                .collect(),
            root,
        };
        if reader.problems.is_empty() {
            Ok(project)
        } else {
            let with_file = |problem: &yaml::Error| format!("{file}: {problem}");
            Err(ProjectError::Invalid(
                reader.problems.iter().map(with_file).collect(),
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

/// Whether everybody may write to a folder, or remove its entries.
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
        folder
            .join(PROJECT_FILE)
            .is_file()
            .then(|| folder.to_owned())
    }
}
