//! The targets of the last task run, and their results: Bolt's `.rerun.json`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::ValueEnum;
use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_core::results::Status;
use devgate_core::time;
use devgate_transports::reading;
use serde::{Deserialize, Serialize};

/// Which targets of the last run to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rerun {
    /// All targets.
    All,
    /// Targets that failed or did not run.
    Failure,
    /// Targets that succeeded.
    Success,
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct RerunFile(PathBuf);

#[derive(Deserialize, Serialize)]
struct Line {
    target: String,
    status: Status,
}

impl RerunFile {
    /// The file at this path, which may not exist.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The targets of the last run, selected by result.
    ///
    /// # Errors
    /// There was no run, or the file is invalid.
    pub(crate) fn targets(&self, filter: Rerun) -> Result<Vec<String>, Failure> {
        let path = self.0.display();
        let file_error = |message: String| Failure::new("bolt/file-error", message);
        let text = reading::text(&self.0).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => file_error(format!(
                "there is no run to repeat: {path} does not exist; select targets with --targets"
            )),
            _ => file_error(format!("cannot read {path}: {error}")),
        })?;
        let lines: Vec<Line> = serde_json::from_str(&text).map_err(|error| {
            file_error(format!(
                "{path} is not a saved run: expected a list of {{\"target\", \"status\"}}, {error}"
            ))
        })?;
        let wanted = |line: &Line| match filter {
            Rerun::All => true,
            Rerun::Failure => line.status == Status::Failure,
            Rerun::Success => line.status == Status::Success,
        };
        let chosen = lines.into_iter().filter(wanted);
        Ok(chosen.map(|line| line.target).collect())
    }

    /// The message that the last run has no targets of this kind, with its time if known.
    pub(crate) fn no_targets_message(&self, filter: Rerun) -> String {
        let at = fs::metadata(&self.0).and_then(|data| data.modified());
        let of = at.map_or_else(|_| String::new(), |at| format!(" ({})", time::rfc_3339(at)));
        match filter {
            Rerun::All => format!("the last run{of} had no targets"),
            Rerun::Failure => {
                format!("nothing failed in the last run{of}; `--rerun all` repeats it")
            }
            Rerun::Success => {
                format!("nothing succeeded in the last run{of}; `--rerun all` repeats it")
            }
        }
    }

    /// Saves a run, and replaces the previous one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn save(&self, statuses: &[(String, Status)]) -> io::Result<()> {
        let lines: Vec<Line> = statuses
            .iter()
            .map(|(target, status)| Line {
                target: target.clone(),
                status: *status,
            })
            .collect();
        let folder = self.0.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        // An interrupted run must not leave an incomplete list.
        atomic_file::replace(&self.0, &serde_json::to_vec(&lines)?, atomic_file::OWNER)
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}
