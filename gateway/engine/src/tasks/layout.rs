//! How an implementation's files lie in a task's directory: the same on every kind of host.

use std::fs::{self, File as Open};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use devgate_core::hex::hexadecimal;

/// The files of one implementation, by their places in a task's directory, made once and asked by
/// every target that the task runs on.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Every file, the executable first, each once.
    files: Vec<File>,
    has_installdir: bool,
    digest: OnceLock<String>,
}

/// Nobody but the owner reads what a task brings along.
const MODE: u32 = 0o600;

/// A file that may be executed; the specification asks no permission of it in its module.
const EXECUTABLE: u32 = 0o700;

impl Layout {
    /// Without further files the executable stands in the directory itself; with them, it and they
    /// stand below it as in their modules, and the directory is `_installdir` (Task Specification,
    /// "Metaparameter Examples").
    pub(super) fn new(executable: File, files: Vec<File>) -> Self {
        let has_installdir = !files.is_empty();
        let executable = if has_installdir {
            executable
        } else {
            let name = executable.name.rsplit('/').next().unwrap_or_default();
            File {
                name: name.to_owned(),
                ..executable
            }
        };
        // A directory in `files` may hold the executable too.
        let others = files
            .into_iter()
            .filter(|file| file.name != executable.name);
        let others: Vec<File> = others.collect();
        Self {
            files: [executable].into_iter().chain(others).collect(),
            has_installdir,
            digest: OnceLock::new(),
        }
    }

    /// Every file, the executable first, each once; its name is its place in the directory.
    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// What is run.
    pub(crate) fn executable(&self) -> &File {
        &self.files[0]
    }

    /// Whether the directory is the task's `_installdir`.
    pub(crate) fn has_installdir(&self) -> bool {
        self.has_installdir
    }

    /// The permissions of a file of this layout: its owner's alone; what can be executed in its
    /// module, and the executable whatever it is there, can be executed.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub(crate) fn mode(&self, file: &File) -> io::Result<u32> {
        let executable = file == self.executable()
            || fs::metadata(&file.path)?.permissions().mode() & 0o111 != 0;
        Ok(if executable { EXECUTABLE } else { MODE })
    }

    /// What tells this layout from all others, names, permissions and contents included: SHA-256 in
    /// hexadecimal digits. The files are read when it is asked for first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn digest(&self) -> io::Result<&str> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let mut whole = Sha256::new();
        for file in &self.files {
            let mut content = Sha256::new();
            io::copy(&mut Open::open(&file.path)?, &mut Writer(&mut content))
                .map_err(|error| named(&file.path, &error))?;
            let mode = self.mode(file)?;
            // Parts of a fixed length, and a name that holds no NUL: no two layouts look alike.
            whole.update(format!("{}\0{mode:o}\0", file.name));
            whole.update(content.finalize());
        }
        let digits = hexadecimal(whole.finalize());
        Ok(self.digest.get_or_init(|| digits))
    }
}

/// An error that says which file it is about.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Takes in what is copied to it.
struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that a task needs, by its place under `_installdir`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct File {
    /// `module/mount/path`.
    pub name: String,
    /// Where it is on this host.
    pub path: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &Path, name: &str, content: &str) -> File {
        let path = dir.join(name.replace('/', "_"));
        fs::write(&path, content).expect("a file");
        let name = name.to_owned();
        File { name, path }
    }

    #[test]
    fn files_lie_as_in_their_modules_only_where_there_are_any() {
        let dir = tempfile::tempdir().expect("a directory");
        let executable = file(dir.path(), "m/tasks/t.sh", "");
        let helper = file(dir.path(), "m/lib/x", "");
        let places = |layout: &Layout| -> Vec<String> {
            layout
                .files()
                .iter()
                .map(|file| file.name.clone())
                .collect()
        };
        let alone = Layout::new(executable.clone(), Vec::new());
        assert_eq!(
            (places(&alone), alone.has_installdir()),
            (vec!["t.sh".to_owned()], false)
        );
        let both = Layout::new(executable.clone(), vec![helper.clone(), executable.clone()]);
        assert_eq!(places(&both), ["m/tasks/t.sh", "m/lib/x"]);
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
