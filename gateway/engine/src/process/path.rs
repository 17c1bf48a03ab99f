//! Finds the file of a program as starting it would.

use std::path::{Path, PathBuf};

/// Finds the file of a program on this node by its path or by its name. Children inherit our `PATH`.
pub fn find_program(program: impl AsRef<Path>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|dir| dir.join(&program));
    // A name with a slash is a path, as for `execvp`.
    let is_path = program.as_ref().parent() != Some(Path::new(""));
    let path_itself = is_path.then(|| program.as_ref().to_owned());
    let candidate = path_itself.or_else(|| candidates.find(|candidate| candidate.is_file()));
    candidate.filter(|candidate| candidate.is_file())
}
