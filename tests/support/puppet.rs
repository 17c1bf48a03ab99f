//! The system's Puppet, with its own folders in a project: nothing of this machine's Puppet is read or
//! written.

use std::path::{Path, PathBuf};

use super::project::Project;
use super::run::Run;

/// Puppet's names for the folders that it would otherwise look for in `/etc`, `/var` and `/run`.
const FOLDERS: [&str; 6] = [
    "confdir",
    "codedir",
    "vardir",
    "logdir",
    "rundir",
    "publicdir",
];

/// Runs `puppet` to its end, in the project, with these arguments.
pub(crate) fn puppet(project: &Project, words: &[&str]) -> Run {
    let folders = FOLDERS.map(|name| {
        let folder = folder(project, name);
        (format!("--{name}"), folder.display().to_string())
    });
    let settings = folders.iter().flat_map(|(option, folder)| [option, folder]);
    let line: Vec<&str> = ["puppet"]
        .into_iter()
        .chain(words.iter().copied())
        .chain(settings.map(String::as_str))
        .chain(["--color", "false"])
        .collect();
    project.run_program(&line)
}

/// Returns the folder of the Puppet setting `name`.
pub(crate) fn folder(project: &Project, name: &str) -> PathBuf {
    project.path().join("puppet").join(name)
}

/// Returns the path of a file or folder of this checkout's tests.
pub(crate) fn of_the_tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(path)
}
