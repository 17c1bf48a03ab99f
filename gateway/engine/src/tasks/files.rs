//! Resolves the `files` in a task's metadata, `module/mount/path`, to files on disk.

use std::fs;
use std::path::Path;

use devgate_core::trust;
use indexmap::IndexSet;

use super::TaskError;
use super::layout::TaskFile;
use super::module_path::ModulePath;

/// Resolves the `files` of one task, and collects all problems.
pub(super) struct FileResolver<'a> {
    modules: &'a ModulePath,
    problems: Vec<(&'static str, String)>,
}

/// The directories of a module from which Puppet serves files. The specification names three; Puppet itself also has
/// `scripts`.
const MOUNTS: [&str; 4] = ["files", "lib", "scripts", "tasks"];

const INVALID_METADATA: &str = "puppet.tasks/invalid-metadata";
const INVALID_FILE: &str = "puppet.tasks/invalid-file";

impl<'a> FileResolver<'a> {
    pub(super) fn new(modules: &'a ModulePath) -> Self {
        Self {
            modules,
            problems: Vec::new(),
        }
    }

    /// Returns the files that these specifications name, each once. Directories are expanded to their files.
    pub(super) fn resolve<'s>(&mut self, specs: impl Iterator<Item = &'s String>) -> Vec<TaskFile> {
        let mut files = IndexSet::new();
        for spec in specs {
            match self.resolve_one(spec) {
                Ok(found) => files.extend(found),
                Err(problem) if self.problems.contains(&problem) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
        files.into_iter().collect()
    }

    /// Finishes the resolution.
    ///
    /// # Errors
    /// Fails with all problems, with the kind of the first.
    pub(super) fn finish(self) -> Result<(), TaskError> {
        match self.problems.first() {
            None => Ok(()),
            Some(&(kind, _)) => {
                let problems = self.problems.into_iter().map(|(_, text)| text).collect();
                Err(TaskError::Files { kind, problems })
            }
        }
    }

    fn resolve_one(&self, spec: &str) -> Result<Vec<TaskFile>, (&'static str, String)> {
        let metadata = |text: String| (INVALID_METADATA, text);
        let mut parts = spec.splitn(3, '/');
        let (module, mount) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let rest = parts.next().unwrap_or_default();
        let Some(dir) = self.modules.module(module) else {
            return Err(metadata(format!(
                "Could not find module {module} containing task file {rest}"
            )));
        };
        if !MOUNTS.contains(&mount) {
            return Err(metadata(format!(
                "Files must be saved in module directories that Puppet makes available via mount \
                 points: {}",
                MOUNTS.join(", ")
            )));
        }
        let inner = rest.strip_suffix('/').unwrap_or(rest);
        if !inner.is_empty() && inner.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(metadata(format!(
                "File pathnames cannot include relative paths: {spec}"
            )));
        }
        let path = if inner.is_empty() {
            dir.join(mount)
        } else {
            dir.join(mount).join(inner)
        };
        let name = spec.trim_end_matches('/');
        let unreadable = |error| {
            (
                INVALID_FILE,
                format!("{} cannot be read: {error}", path.display()),
            )
        };
        let roots = self.modules.roots(&dir);
        let stays =
            |path: &Path| trust::stays_in(path, &roots).map_err(|problem| (INVALID_FILE, problem));
        stays(&path)?;
        match (fs::metadata(&path), spec.ends_with('/')) {
            (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => Err((
                INVALID_FILE,
                format!("Could not find {} on disk", path.display()),
            )),
            (Err(error), _) => Err(unreadable(error)),
            (Ok(found), true) if found.is_dir() => {
                let mut files = Vec::new();
                files_below(&path, name, &mut files).map_err(unreadable)?;
                files.iter().try_for_each(|file| stays(&file.path))?;
                Ok(files)
            }
            (Ok(found), false) if found.is_dir() => Err(metadata(format!(
                "Directories specified in task metadata must include a trailing slash: {spec}"
            ))),
            (Ok(_), true) => Err(metadata(format!(
                "Files specified in task metadata cannot include a trailing slash: {spec}"
            ))),
            (Ok(_), false) => Ok(vec![TaskFile {
                name: name.to_owned(),
                path: path.clone(),
            }]),
        }
    }
}

/// Adds all files under a directory, sorted. Links to files are followed. Links to directories are not, because they
/// may form a loop.
pub(crate) fn files_below(
    directory: &Path,
    name: &str,
    files: &mut Vec<TaskFile>,
) -> std::io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files_below(&path, &name, files)?;
        } else if path.is_file() {
            files.push(TaskFile { name, path });
        }
    }
    Ok(())
}
