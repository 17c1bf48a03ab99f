//! What is known of a transaction now. It follows from what is on the disk and which processes live, so that it
//! is the same whoever asks, and whoever was killed. Asking changes nothing.
//!
//! The order of the questions matters: who lives is asked first, and then what they have left, so that nobody
//! falls between who ends meanwhile.

use std::time::Duration;

use devgate_schemas::task::Exit;

use crate::host::spool::metadata::{Status, TransactionMetadata, Why};
use crate::host::spool::pid;
use crate::host::spool::transaction::{Transaction, pause};

/// How long a process that still lives may take to write its output behind its exit code, as pxp-agent waits
/// for modules that do not keep the order.
const BEHIND: Duration = Duration::from_millis(100);

impl Transaction {
    /// The metadata, as they would be had the end been written down by who is to do that.
    ///
    /// # Errors
    /// Why nothing is known, in pxp-agent's words.
    pub(super) async fn state(&self) -> Result<TransactionMetadata, String> {
        if !self.folder.is_dir() {
            return Err("found no results directory".to_owned());
        }
        let (mut metadata, attended) = self.recorded()?;
        if attended {
            return Ok(metadata);
        }
        let process = pid::read(&self.folder);
        let recorded = process.is_some();
        let lives = process.is_some_and(|process| process.leader.is_alive());
        if lives && metadata.ending.is_some() {
            // What it writes while it is being ended is judged when it is no more.
            return Ok(metadata);
        }
        let mut left = self.exitcode();
        if lives && let Ok(Some(_)) = left {
            pause(BEHIND).await;
            left = self.exitcode();
        }
        match (left, metadata.ending) {
            (Ok(Some((code, at))), _) => {
                if let Err(problem) = self.judge(&mut metadata, Exit::Code(code), at) {
                    metadata.lost(&problem);
                }
            }
            // A code that is being written is none yet.
            _ if lives => {}
            (_, Some(why)) => metadata.failed(
                format!("{why}: it has ended, but its child processes may still run, because the process that ended \
                         them was killed"),
                None,
            ),
            (Err(problem), _) => metadata.lost(&problem),
            (Ok(None), _) if recorded => {
                metadata.lost("task process is not running, but no output is available");
            }
            (Ok(None), _) => metadata.lost("the PID and output of this task are not available"),
        }
        Ok(metadata)
    }

    /// Writes down that the action is being ended, before that begins: whoever is killed meanwhile, why it ended is
    /// known.
    pub(super) fn is_ended(&self, metadata: &mut TransactionMetadata, why: Why) {
        metadata.ending = Some(why);
        if let Err(error) = metadata.write(&self.folder) {
            // A full disk is no reason to let it run.
            tracing::debug!("{}: {error}", self.folder.display());
        }
    }

    /// The metadata, and whether they tell how it is: the end is written down, or somebody lives who will do that.
    fn recorded(&self) -> Result<(TransactionMetadata, bool), String> {
        let read = || TransactionMetadata::read(&self.folder, &self.id);
        let mut metadata = read()?;
        loop {
            if metadata.status != Status::Running || metadata.are_attended() {
                return Ok((metadata, true));
            }
            // Who has ended may have been followed by another, or have written down the end, before.
            let again = read()?;
            let same = again.attended_by == metadata.attended_by;
            metadata = again;
            if same && metadata.status == Status::Running {
                return Ok((metadata, false));
            }
        }
    }
}
