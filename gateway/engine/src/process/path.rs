//! Where a program is found when it is started.

use std::path::{Path, PathBuf};

/// The file of a program on this node, by its path or by its name: what is started has our `PATH`.
pub fn found(program: impl AsRef<Path>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|dir| dir.join(&program));
    // A path with a slash in it, as `execvp` has it.
    let is_path = program.as_ref().parent() != Some(Path::new(""));
    let named = is_path.then(|| program.as_ref().to_owned());
    let place = named.or_else(|| places.find(|place| place.is_file()));
    place.filter(|place| place.is_file())
}
