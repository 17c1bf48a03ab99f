//! The modules of a module path, and a project that is itself a module.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use devgate_core::trust;
use devgate_schemas::task::is_name;

use super::TaskError;

/// The folders of modules. They are read only when needed.
#[derive(Clone, Debug)]
pub(super) struct ModulePath {
    pub(super) folders: Vec<PathBuf>,
    /// The project's name and folder, if it is a module.
    pub(super) project: Option<(String, PathBuf)>,
}

impl ModulePath {
    /// Returns the module on the module path that the project hides by having the same name.
    pub(super) fn hidden(&self, module: &str) -> Option<PathBuf> {
        let (name, _) = self.project.as_ref()?;
        let mut folders = self.folders.iter().map(|path| path.join(module));
        folders.find(|folder| name == module && folder.is_dir())
    }

    /// Returns the directories that links in a module must not leave: the module path, the project, and the module
    /// itself, which may be a link.
    pub(super) fn roots(&self, module_dir: &Path) -> Vec<PathBuf> {
        let project = self.project.iter().map(|(_, dir)| dir.as_path());
        let paths = self.folders.iter().map(PathBuf::as_path);
        trust::roots(paths.chain(project).chain([module_dir]))
    }

    /// Returns the directory of a module.
    pub(super) fn module(&self, name: &str) -> Option<PathBuf> {
        let project = self.project.iter().filter(|(project, _)| project == name);
        let inside = self.folders.iter().map(|path| path.join(name));
        project
            .map(|(_, dir)| dir.clone())
            .chain(inside)
            .find(|dir| dir.is_dir())
    }

    /// Returns the directory of a module that is a plugin.
    pub(super) fn plugin(&self, name: &str) -> Option<PathBuf> {
        let dir = is_name(name).then(|| self.module(name)).flatten()?;
        dir.join("bolt_plugin.json").is_file().then_some(dir)
    }

    /// Returns all modules by name, with their directories.
    pub(super) fn modules(&self) -> Result<BTreeMap<String, PathBuf>, TaskError> {
        let mut modules: BTreeMap<String, PathBuf> = self.project.iter().cloned().collect();
        for path in &self.folders {
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

/// Returns the names in a directory; none if it does not exist.
pub(super) fn entries(directory: &Path) -> Result<Vec<String>, TaskError> {
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
        // A name that is not UTF-8 belongs to no task and no module.
        names.extend(entry.map_err(unreadable)?.file_name().into_string());
    }
    Ok(names)
}

/// Returns a file's name without its extension.
pub(super) fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
