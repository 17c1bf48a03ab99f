//! The layout of an implementation's files in a task's directory. It is the same on every kind of host.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use devgate_core::hex::hexadecimal;
use sha2::{Digest, Sha256};

/// The files of one implementation, by their paths in a task's directory. It is created once and shared by all targets
/// of the task.
#[derive(Debug)]
pub(crate) struct Layout {
    /// All files, each once, with the executable first.
    files: Vec<TaskFile>,
    has_installdir: bool,
    digest: OnceLock<String>,
}

/// The mode of files: only the owner may read them.
const MODE: u32 = 0o600;

/// The mode of executables. The specification requires no permission in the module.
const EXECUTABLE: u32 = 0o700;

impl Layout {
    /// Creates the layout. Without further files, the executable is in the directory itself. With them, all files are
    /// in subdirectories as in their modules, and the directory is `_installdir` (Task Specification, "Metaparameter
    /// Examples").
    pub(super) fn new(executable: TaskFile, files: Vec<TaskFile>) -> Self {
        let has_installdir = !files.is_empty();
        let executable = if has_installdir {
            executable
        } else {
            let name = executable.name.rsplit('/').next().unwrap_or_default();
            TaskFile {
                name: name.to_owned(),
                ..executable
            }
        };
        // A directory in `files` may contain the executable, too.
        let others = files
            .into_iter()
            .filter(|file| file.name != executable.name);
        let others: Vec<TaskFile> = others.collect();
        Self {
            files: [executable].into_iter().chain(others).collect(),
            has_installdir,
            digest: OnceLock::new(),
        }
    }

    /// Creates the layout of files that are not those of a task.
    pub(crate) fn of_files(files: Vec<TaskFile>) -> Self {
        Self {
            files,
            has_installdir: true,
            digest: OnceLock::new(),
        }
    }

    /// Returns all files, each once, with the executable first. Their names are their paths in the directory.
    pub(crate) fn files(&self) -> &[TaskFile] {
        &self.files
    }

    /// Returns the executable.
    pub(crate) fn executable(&self) -> &TaskFile {
        &self.files[0]
    }

    /// Whether the directory is the task's `_installdir`.
    pub(crate) fn has_installdir(&self) -> bool {
        self.has_installdir
    }

    /// Returns the mode of a file. Only the owner has permissions. The executable, and files that are executable in
    /// their module, may be executed.
    ///
    /// # Errors
    /// Fails when the file's metadata cannot be read.
    pub(crate) fn mode(&self, file: &TaskFile) -> io::Result<u32> {
        let executable = file == self.executable()
            || fs::metadata(&file.path)?.permissions().mode() & 0o111 != 0;
        Ok(if executable { EXECUTABLE } else { MODE })
    }

    /// Returns the digest of the layout, which covers names, modes and contents: SHA-256 in hexadecimal digits. The
    /// files are read when it is first needed.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub(crate) fn digest(&self) -> io::Result<&str> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let mut hasher = Sha256::new();
        for file in &self.files {
            let mut content = Sha256::new();
            io::copy(&mut File::open(&file.path)?, &mut HashWriter(&mut content))
                .map_err(|error| with_path(&file.path, &error))?;
            let mode = self.mode(file)?;
            // The name contains no NUL and the other parts have a fixed length, so that the encoding is unambiguous.
            hasher.update(format!("{}\0{mode:o}\0", file.name));
            hasher.update(content.finalize());
        }
        let digits = hexadecimal(hasher.finalize());
        Ok(self.digest.get_or_init(|| digits))
    }
}

/// Adds the path of the file to an error.
pub fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Writes to a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that a task needs, with its path under `_installdir`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskFile {
    /// `module/mount/path`.
    pub name: String,
    /// The path on this node.
    pub path: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &Path, name: &str, content: &str) -> TaskFile {
        let path = dir.join(name.replace('/', "_"));
        fs::write(&path, content).expect("a file");
        let name = name.to_owned();
        TaskFile { name, path }
    }

    #[test]
    fn files_lie_as_in_their_modules_only_where_there_are_any() {
        let dir = tempfile::tempdir().expect("a directory");
        let executable = file(dir.path(), "m/tasks/t.sh", "");
        let helper = file(dir.path(), "m/lib/x", "");
        let file_names = |layout: &Layout| -> Vec<String> {
            layout
                .files()
                .iter()
                .map(|file| file.name.clone())
                .collect()
        };
        let alone = Layout::new(executable.clone(), Vec::new());
        assert_eq!(
            (file_names(&alone), alone.has_installdir()),
            (vec!["t.sh".to_owned()], false)
        );
        let both = Layout::new(executable.clone(), vec![helper.clone(), executable.clone()]);
        assert_eq!(file_names(&both), ["m/tasks/t.sh", "m/lib/x"]);
        assert!(both.has_installdir() && both.executable() == &executable);
        assert_eq!(both.mode(&executable).expect("a mode"), 0o700);
        assert_eq!(both.mode(&helper).expect("a mode"), 0o600);
        fs::set_permissions(&helper.path, fs::Permissions::from_mode(0o755)).expect("permissions");
        assert_eq!(both.mode(&helper).expect("a mode"), 0o700);
    }

    #[test]
    fn a_digest_changes_with_names_contents_and_permissions() {
        let dir = tempfile::tempdir().expect("a directory");
        let digest = |name: &str, content: &str, mode: u32| {
            let helper = file(dir.path(), name, content);
            fs::set_permissions(&helper.path, fs::Permissions::from_mode(mode)).expect("allowed");
            let layout = Layout::new(file(dir.path(), "m/tasks/t", "run"), vec![helper]);
            layout.digest().expect("a digest").to_owned()
        };
        let first = digest("m/lib/x", "1", 0o644);
        assert_eq!(first.len(), 64);
        assert_eq!(digest("m/lib/x", "1", 0o640), first);
        for other in [
            digest("m/lib/y", "1", 0o644),
            digest("m/lib/x", "2", 0o644),
            digest("m/lib/x", "1", 0o755),
        ] {
            assert_ne!(other, first);
        }
    }
}
