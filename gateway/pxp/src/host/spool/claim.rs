//! Claims a transaction: an ID is claimed once, by one caller, and stays claimed.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_core::time::to_the_nanosecond;
use devgate_engine::process::ProcessIdentity;
use nix::unistd::{Uid, User};

use crate::host::Call;
use crate::host::spool::id::TransactionId;
use crate::host::spool::metadata::{TransactionMetadata, TransactionStatus};
use crate::host::spool::output;
use crate::host::spool::transaction::{Spool, Transaction};

/// The owner of a claim.
pub(crate) enum Claim {
    /// This caller has claimed it. Nothing was started yet.
    New(Transaction),
    /// It was claimed before.
    Repeated(Transaction),
}

/// The name of folders that are not transactions yet.
pub(super) const UNFINISHED_PREFIX: &str = ".claim-";

impl Spool {
    /// Claims an ID for an action, on the disk, before anything is started.
    ///
    /// # Errors
    /// It cannot be recorded. Nothing may be started then.
    pub(crate) fn claim(
        &self,
        id: TransactionId,
        call: &Call,
        limit: Duration,
    ) -> Result<Claim, Failure> {
        let transaction = self.transaction(id);
        transaction.claim(self, call, limit).map_err(|error| {
            let message = format!(
                "the transaction {} cannot be recorded in {}, and was not started: {error}",
                transaction.id,
                self.folder.display()
            );
            Failure::new("devgate/spool-error", message)
        })
    }
}

impl Transaction {
    fn claim(&self, spool: &Spool, call: &Call, limit: Duration) -> io::Result<Claim> {
        let metadata = TransactionMetadata {
            requester: user(),
            module: call.module().name.clone(),
            action: call.action().name.clone(),
            request_params: "{}".to_owned(),
            transaction_id: self.id.clone(),
            request_id: uuid::Uuid::new_v4().to_string(),
            notify_outcome: false,
            start: to_the_nanosecond(SystemTime::now()),
            status: TransactionStatus::Running,
            end: None,
            results_are_valid: None,
            exitcode: None,
            execution_error: None,
            ending: None,
            written: None,
            has_secrets: !call.secrets().is_empty(),
            // A link keeps its name, because a module may act according to its name.
            file: std::path::absolute(&call.module().file)?,
            time_limit: limit.as_secs_f64(),
            claimed_by: ProcessIdentity::current()?,
            attended_by: None,
        };
        // The folder is complete when it is renamed. The rename is the claim.
        let folder = tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&spool.folder)?;
        output::save_schema(folder.path(), &call.action().results)?;
        metadata.write(folder.path())?;
        // A rename replaces an empty folder, which is not a transaction.
        if let Some(earlier) = spool.find(&self.id) {
            return Ok(Claim::Repeated(earlier));
        }
        match fs::rename(folder.path(), &self.folder) {
            Ok(()) => {
                let _ = folder.keep();
                atomic_file::sync(&spool.folder)?;
                Ok(Claim::New(self.clone()))
            }
            Err(error) if is_taken(&error) => Ok(Claim::Repeated(self.clone())),
            Err(error) => Err(error),
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
}

fn user() -> String {
    let uid = Uid::current();
    let user = User::from_uid(uid).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}
