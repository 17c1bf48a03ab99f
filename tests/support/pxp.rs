//! The modules of `tests/pxp`, and how devgate runs them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::lab::pause;
use super::project::Project;
use super::run::Run;

/// Returns the path of a folder of the modules.
pub(crate) fn pxp(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/pxp")
        .join(part)
}

/// Runs `devgate pxp` with these arguments, with the modules of a folder and their configuration.
pub(crate) fn run(project: &Project, folder: &str, words: &str) -> Run {
    let (modules, config) = (pxp(folder), pxp("config"));
    project.devgate(&format!(
        "pxp {words} --modules-dir {} --config-dir {} --format json",
        modules.display(),
        config.display()
    ))
}

/// Returns the status of a transaction in this spool after it has ended.
#[track_caller]
pub(crate) fn wait_for_end(project: &Project, id: &str, spool: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let report = project
            .devgate(&format!(
                "pxp status {id} --spool-dir {spool} --format json --log-level trace"
            ))
            .json();
        if report["status"] != "running" {
            return report;
        }
        assert!(Instant::now() < deadline, "it does not end: {report:#}");
        pause(Duration::from_millis(50));
    }
}
