//! The current state of a transaction. It is derived from files and running processes, so all callers get the same
//! state, whichever process was killed. Reading it changes nothing.
//!
//! The order matters: first the running processes, then the files. A process that ends in between is not missed.

use std::time::Duration;

use devgate_schemas::task::Exit;

use crate::host::spool::metadata::{EndReason, TransactionMetadata, TransactionStatus};
use crate::host::spool::pid;
use crate::host::spool::transaction::{Transaction, pause};

/// How long a running process may take to write its output after its exit code. pxp-agent also waits for modules that
/// write them in the wrong order.
const OUTPUT_DELAY: Duration = Duration::from_millis(100);

impl Transaction {
    /// The metadata. If the end was not recorded yet, they are completed as the supervisor would do it.
    ///
    /// # Errors
    /// Why the state is unknown, with pxp-agent's message.
    pub(super) async fn state(&self) -> Result<TransactionMetadata, String> {
        if !self.folder.is_dir() {
            return Err("found no results directory".to_owned());
        }
        let (mut metadata, is_current) = self.recorded()?;
        if is_current {
            return Ok(metadata);
        }
        let process = pid::read(&self.folder);
        let recorded = process.is_some();
        let is_running = process.is_some_and(|process| process.leader.is_alive());
        if is_running && metadata.ending.is_some() {
            // Its output is judged after it has ended.
            return Ok(metadata);
        }
        let mut exit_code = self.exitcode();
        if is_running && let Ok(Some(_)) = exit_code {
            pause(OUTPUT_DELAY).await;
            exit_code = self.exitcode();
        }
        match (exit_code, metadata.ending) {
            (Ok(Some((code, at))), _) => {
                if let Err(problem) = self.judge(&mut metadata, Exit::Code(code), at) {
                    metadata.record_unknown(&problem);
                }
            }
            // The exit code may be incomplete while it is written.
            _ if is_running => {}
            (_, Some(why)) => metadata.record_failure(
                format!("{why}: it has ended, but its child processes may still run, because the process that ended \
                         them was killed"),
                None,
            ),
            (Err(problem), _) => metadata.record_unknown(&problem),
            (Ok(None), _) if recorded => {
                metadata.record_unknown("task process is not running, but no output is available");
            }
            (Ok(None), _) => metadata.record_unknown("the PID and output of this task are not available"),
        }
        Ok(metadata)
    }

    /// Records that the action will be ended, and why. If this process is killed meanwhile, the reason is known.
    pub(super) fn record_ending(&self, metadata: &mut TransactionMetadata, why: EndReason) {
        metadata.ending = Some(why);
        if let Err(error) = metadata.write(&self.folder) {
            // Even with a full disk, the action is ended.
            tracing::debug!("{}: {error}", self.folder.display());
        }
    }

    /// The metadata, and whether they are current: the end was recorded, or its supervisor is running and will record it.
    fn recorded(&self) -> Result<(TransactionMetadata, bool), String> {
        let read = || TransactionMetadata::read(&self.folder, &self.id);
        let mut metadata = read()?;
        loop {
            if metadata.status != TransactionStatus::Running || metadata.is_supervised() {
                return Ok((metadata, true));
            }
            // Before a supervisor ended, it may have recorded the end, or another one may have followed it.
            let current = read()?;
            let same_supervisor = current.attended_by == metadata.attended_by;
            metadata = current;
            if same_supervisor && metadata.status == TransactionStatus::Running {
                return Ok((metadata, false));
            }
        }
    }
}
