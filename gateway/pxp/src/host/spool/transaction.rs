//! The spool folder, and the folder of one transaction in it.

use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_engine::project::is_world_writable;
use devgate_engine::store;
use devgate_schemas::pxp::OutputFiles;
use devgate_transports::Environment;
use tokio::time::timeout;

use crate::host::spool::id::TransactionId;
use crate::host::spool::metadata::TransactionMetadata;

/// A folder with transactions.
#[derive(Clone, Debug)]
pub(crate) struct Spool {
    pub(super) folder: PathBuf,
}

/// A transaction of a spool: one action, which runs at most once.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) id: TransactionId,
    pub(super) folder: PathBuf,
}

/// The spool folder: the given one, or that of this user.
///
/// # Errors
/// The folder for state is unknown.
pub(crate) fn folder(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    match named {
        Some(named) => Ok(named),
        None => {
            let environment = Environment::of_process();
            let state_folder = store::xdg_folder(&environment, "XDG_STATE_HOME", ".local/state")?;
            Ok(state_folder.join("devgate/pxp/spool"))
        }
    }
}

impl Spool {
    /// Opens an existing spool.
    ///
    /// # Errors
    /// It does not exist, or its path is not UTF-8.
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let canonical = folder.canonicalize().and_then(|folder| {
            if !folder.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            // A request, which names the files in it, is JSON.
            let is_utf8 = folder.to_str().is_some();
            is_utf8
                .then_some(folder)
                .ok_or_else(|| io::Error::other("its path is not UTF-8"))
        });
        match canonical {
            Ok(folder) => Ok(Self { folder }),
            Err(error) => Err(unusable(folder, &error)),
        }
    }

    /// Opens a spool, or creates one that only this user can read.
    ///
    /// # Errors
    /// It cannot be created, or all users can write to it.
    pub(crate) fn make(folder: &Path) -> Result<Self, Failure> {
        make(folder).map_err(|error| unusable(folder, &error))?;
        // Its files determine which program is started.
        if is_world_writable(folder) {
            let error = "all users can write to it; remove that permission with `chmod o-w`";
            return Err(unusable(folder, &io::Error::other(error)));
        }
        Self::open(folder)
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The transaction with this ID, which may not exist.
    pub(crate) fn transaction(&self, id: TransactionId) -> Transaction {
        let folder = self.folder.join(id.as_str());
        Transaction { id, folder }
    }

    /// All transactions, in the order of their ids.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub(crate) fn all(&self) -> Result<Vec<Transaction>, Failure> {
        let entries = fs::read_dir(&self.folder).map_err(|error| unusable(&self.folder, &error))?;
        let ids = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let all = ids.map(|id| self.transaction(id));
        let mut all: Vec<_> = all
            .filter(|transaction| TransactionMetadata::exist_in(&transaction.folder))
            .collect();
        all.sort_by(|one, other| one.id.as_str().cmp(other.id.as_str()));
        Ok(all)
    }

    /// The transaction with this ID, if it exists.
    pub(crate) fn find(&self, id: &TransactionId) -> Option<Transaction> {
        let transaction = self.transaction(id.clone());
        // A broken link counts as existing, too.
        let exists = transaction.folder.symlink_metadata().is_ok();
        exists.then_some(transaction)
    }
}

impl Transaction {
    /// The transaction in this folder.
    ///
    /// # Errors
    /// The folder cannot be a transaction.
    pub(crate) fn at(folder: PathBuf) -> Result<Self, Failure> {
        let id = folder.file_name().and_then(|name| name.to_str());
        match id.unwrap_or_default().parse() {
            Ok(id) => Ok(Self { id, folder }),
            Err(problem) => Err(Failure::new("devgate/spool-error", problem)),
        }
    }

    /// Where the module writes.
    pub(crate) fn output_files(&self) -> OutputFiles {
        let [stdout, stderr, exitcode] =
            ["stdout", "stderr", "exitcode"].map(|name| self.folder.join(name));
        OutputFiles {
            stdout,
            stderr,
            exitcode,
        }
    }
}

/// Creates a folder that only this user can read. Its name survives a crash.
fn make(folder: &Path) -> io::Result<()> {
    let folder = std::path::absolute(folder)?;
    let new: Vec<_> = folder.ancestors().take_while(|at| !at.exists()).collect();
    store::private_folder(&folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })?;
    let mut parents = new.into_iter().filter_map(Path::parent);
    parents.try_for_each(atomic_file::sync)
}

pub(super) async fn pause(time: Duration) {
    drop(timeout(time, pending::<()>()).await);
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    let message = format!(
        "--spool-dir: the spool {} cannot be used: {error}",
        folder.display()
    );
    Failure::new("devgate/spool-error", message)
}
