//! Starts a nonblocking action in a separate supervisor process.

use std::time::{Duration, SystemTime};

use devgate_core::failure::Failure;
use devgate_engine::process::{self, DetachedProgram};

use crate::host::Call;
use crate::host::spool::metadata::TransactionMetadata;
use crate::host::spool::transaction::Transaction;

/// How long the supervisor may take to start the module on a busy node.
const TIME_LIMIT: Duration = Duration::from_secs(60);

impl Transaction {
    /// Starts the action, once per claim, and returns when the module was started.
    ///
    /// # Errors
    /// Why it was not started.
    pub(crate) async fn start(&self, call: &Call) -> Result<(), Failure> {
        let folder = self.folder.clone().into();
        let words = vec![
            process::own_executable(),
            "pxp".into(),
            "attend".into(),
            folder,
        ];
        let supervisor = DetachedProgram::start(words);
        let supervisor = supervisor.map_err(|error| self.not_started(&error.to_string()))?;
        let answer = self.hand_over(call, supervisor, TIME_LIMIT).await;
        let answer = answer.map_err(|error| {
            not_started(&format!(
                "its supervisor did not confirm the start ({error})"
            ))
        })?;
        match serde_json::from_str(&answer) {
            Ok(None) => Ok(()),
            Ok(Some(failure)) => Err(failure),
            Err(error) => Err(not_started(&format!("its supervisor answered {error}"))),
        }
    }

    /// Records that the action was not started and never will be.
    pub(super) fn not_started(&self, why: &str) -> Failure {
        let failure = not_started(why);
        if let Ok(mut metadata) = TransactionMetadata::read(&self.folder, &self.id) {
            metadata.record_failure(failure.msg.clone(), Some(SystemTime::now()));
            // If this cannot be written either, the existing metadata lead to the same status.
            drop(metadata.write(&self.folder));
        }
        failure
    }
}

/// Why an action was not started, with pxp-agent's message.
pub(super) fn not_started(why: &str) -> Failure {
    Failure::new(
        "devgate/not-started",
        format!("failed to start action task: {why}"),
    )
}
