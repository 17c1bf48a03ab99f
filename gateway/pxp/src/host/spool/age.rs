//! Removes old transactions. Running transactions, and folders of others, stay.

use std::fs::{self, DirEntry, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use devgate_schemas::Level;

use crate::host::spool::claim::UNFINISHED_PREFIX;
use crate::host::spool::id::TransactionId;
use crate::host::spool::metadata::{TransactionMetadata, TransactionStatus};
use crate::host::spool::transaction::Spool;

/// The name of folders that are being removed.
const REMOVED_PREFIX: &str = ".removed-";

/// The minimum age of the remains of an interrupted claim or removal.
const DAY: Duration = Duration::from_secs(24 * 3600);

impl Spool {
    /// Removes ended transactions without a change for this long. Returns a message for each transaction that cannot be
    /// removed, and at `Info` for each whose state is unknown, such as those of pxp-agent.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub(crate) async fn remove_old(&self, retention: Duration) -> io::Result<Vec<(Level, String)>> {
        let mut problems = Vec::new();
        // Only one process removes at a time. Else another one could remove a new transaction with the same ID.
        let lock = File::open(&self.folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(problems),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Some(age) = age(&entry) else { continue };
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(UNFINISHED_PREFIX) || name.starts_with(REMOVED_PREFIX) {
                if age > DAY {
                    remove(&entry.path(), &mut problems);
                }
            } else if age > retention
                && let Ok(id) = name.parse()
            {
                self.remove(id, &mut problems).await;
            }
        }
        Ok(problems)
    }

    async fn remove(&self, id: TransactionId, problems: &mut Vec<(Level, String)>) {
        let transaction = self.transaction(id);
        if !TransactionMetadata::exist_in(&transaction.folder) {
            return;
        }
        match transaction.state().await {
            Ok(metadata) if metadata.status == TransactionStatus::Running => {}
            Ok(_) => {
                // The folder is renamed before its files are removed, so that no partial transaction is visible.
                let aside = tempfile::Builder::new()
                    .prefix(REMOVED_PREFIX)
                    .tempdir_in(&self.folder);
                let moved = aside.and_then(|aside| {
                    fs::rename(&transaction.folder, aside.path().join("it")).map(|()| aside)
                });
                match moved {
                    Ok(aside) => {
                        let path = aside.keep();
                        remove(&path, problems);
                    }
                    Err(error) => {
                        problems.push(remaining_problem(&transaction.folder, &error.to_string()))
                    }
                }
            }
            Err(problem) => {
                let (_, message) = remaining_problem(&transaction.folder, &problem);
                let message = format!("{message}; remove its folder if you do not need it");
                problems.push((Level::Info, message));
            }
        }
    }
}

/// The time since the last change in a folder; `None` if it is no folder.
fn age(entry: &DirEntry) -> Option<Duration> {
    let metadata = entry.metadata().ok()?;
    let changed = metadata.modified().ok().filter(|_| metadata.is_dir())?;
    changed.elapsed().ok()
}

fn remove(folder: &Path, problems: &mut Vec<(Level, String)>) {
    if let Err(error) = fs::remove_dir_all(folder) {
        problems.push(remaining_problem(folder, &error.to_string()));
    }
}

fn remaining_problem(folder: &Path, problem: &str) -> (Level, String) {
    let message = format!("{} stays in the spool: {problem}", folder.display());
    (Level::Warning, message)
}
