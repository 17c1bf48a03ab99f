//! Supervises an action: starts it, waits for it, ends it after a timeout or cancellation, and records its result. A
//! separate process does this, and nothing waits for it.

use std::io;
use std::time::SystemTime;

use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::failure::Failure;
use devgate_engine::process::{self, ProcessIdentity, RecordedChild};
use devgate_schemas::{Mask, Sensitive};

use crate::host::describe;
use crate::host::spool::handover::Handover;
use crate::host::spool::metadata::{TransactionMetadata, TransactionStatus};
use crate::host::spool::output::digest;
use crate::host::spool::pid;
use crate::host::spool::start::not_started;
use crate::host::spool::transaction::Transaction;
use crate::host::spool::wait::{Deadline, linger};

/// Supervises the action of a transaction that was claimed and not started. Calls `handover` after this process was
/// recorded, and `started` when the module was started.
///
/// # Errors
/// The action was not started, or its end cannot be recorded.
pub(crate) async fn attend(
    transaction: &Transaction,
    handover: impl FnOnce() -> io::Result<Handover>,
    stop: &CancelToken,
    started: impl FnOnce(),
) -> Result<(), Failure> {
    let current = transaction.take_over();
    let mut metadata = current.map_err(|problem| not_started(&problem))?;
    let (mask, child) = match handover() {
        Ok(Handover { request, mask }) => (mask, transaction.begin(&metadata, request, stop).await),
        Err(error) => {
            let problem = format!("it did not receive its request ({error})");
            (Mask::default(), Err(problem))
        }
    };
    let child = child.map_err(|problem| transaction.not_started(&problem))?;
    started();
    let deadline = Deadline::of(&metadata);
    let lingering = transaction
        .wait(&mut metadata, child, &deadline, stop)
        .await;
    transaction.seal(&mut metadata, &mask);
    let written = metadata.write(&transaction.folder);
    if let Some(child) = lingering {
        linger(child, &deadline, stop).await;
        // Later output is not shown, and must not contain secrets either.
        drop(transaction.mask_output(&mask));
    }
    written.map_err(|error| {
        let message = format!(
            "the end of transaction {} cannot be recorded: {error}",
            transaction.id
        );
        Failure::new("devgate/spool-error", message)
    })
}

impl Transaction {
    /// Records this process as its supervisor.
    fn take_over(&self) -> Result<TransactionMetadata, String> {
        let mut metadata = TransactionMetadata::read(&self.folder, &self.id)?;
        if metadata.attended_by.is_some() || metadata.status != TransactionStatus::Running {
            return Err("it was started before".to_owned());
        }
        let written = ProcessIdentity::current().and_then(|own| {
            metadata.attended_by = Some(own);
            metadata.write(&self.folder)
        });
        match written {
            Ok(()) => Ok(metadata),
            Err(error) => Err(format!(
                "it cannot be recorded in {}: {error}",
                self.folder.display()
            )),
        }
    }

    /// Starts the module. It gets its request after its process was recorded.
    async fn begin(
        &self,
        metadata: &TransactionMetadata,
        request: Sensitive<Vec<u8>>,
        stop: &CancelToken,
    ) -> Result<RecordedChild, String> {
        let program = describe::program(&metadata.file, Some(&metadata.action), Some(request));
        let cancelled = || "cancelled".to_owned();
        if stop.stage() >= Stage::End {
            return Err(cancelled());
        }
        let mut was_recorded = false;
        let record = |found: &process::ProcessRecord| {
            was_recorded = true;
            pid::write(&self.folder, found)
        };
        let started = RecordedChild::start(program, stop, record).await;
        started.map_err(|error| match error {
            None => cancelled(),
            Some(error) if was_recorded => format!(
                "its process was killed before it received its request, because the start cannot be recorded; what it \
                 does without a request may have begun ({error})"
            ),
            Some(_) if !metadata.file.exists() => format!(
                "it cannot be started: {} does not exist any more",
                metadata.file.display()
            ),
            Some(error) => process::start_failure(&error),
        })
    }

    /// Masks the output of the action, and records its hash: only this output is ever shown.
    fn seal(&self, metadata: &mut TransactionMetadata, mask: &Mask) {
        if let Err(error) = self.mask_output(mask) {
            let why = format!(
                "its output was removed, because it contained secrets that could not be masked ({error})"
            );
            metadata.record_failure(why, Some(SystemTime::now()));
        }
        metadata.written = self.outputs().ok().map(|written| digest(&written));
    }
}
