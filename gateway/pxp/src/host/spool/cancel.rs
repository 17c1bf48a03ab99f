//! Cancels an action: its supervisor ends it, or this process does if there is no supervisor any more.

use std::time::{Duration, Instant, SystemTime};

use devgate_core::failure::Failure;
use devgate_engine::process::ProcessIdentity;
use nix::sys::signal::Signal;

use crate::host::call::GRACE;
use crate::host::spool::metadata::{EndReason, TransactionMetadata, TransactionStatus};
use crate::host::spool::pid;
use crate::host::spool::transaction::{Transaction, pause};

/// How long the supervisor may take to end the action. Then it is killed, and this process ends the action.
const TIME_LIMIT: Duration = Duration::from_secs(25);

/// How often to check whether the action has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

impl Transaction {
    /// Ends a running action, or the remaining processes of an unknown one. Returns whether this has ended it.
    ///
    /// # Errors
    /// It cannot be ended, or its end cannot be recorded.
    pub(crate) async fn cancel(&self) -> Result<bool, Failure> {
        let started = Instant::now();
        let mut signalled: Option<ProcessIdentity> = None;
        // An unknown transaction cannot be ended.
        while let Ok(metadata) = self.state().await {
            match (metadata.status, &signalled) {
                (TransactionStatus::Running, _) => {}
                (TransactionStatus::Unknown, Some(_)) => {
                    let problem =
                        format!("its metadata in {} do not show it", self.folder.display());
                    return Err(self.unrecorded(&problem));
                }
                (TransactionStatus::Unknown, None) => return self.end_remaining(&metadata).await,
                (TransactionStatus::Success | TransactionStatus::Failure, signalled) => {
                    return Ok(signalled.is_some() && metadata.was_cancelled());
                }
            }
            match &metadata.attended_by {
                Some(supervisor) if supervisor.is_alive() => {
                    if signalled.as_ref() != Some(supervisor) {
                        self.signal(supervisor, Signal::SIGTERM)?;
                        // A stopped process gets no signal until it continues.
                        self.signal(supervisor, Signal::SIGCONT)?;
                        signalled = Some(supervisor.clone());
                    } else if started.elapsed() > TIME_LIMIT {
                        self.signal(supervisor, Signal::SIGKILL)?;
                    }
                }
                // It was just claimed: its supervisor will start in a moment.
                None if metadata.is_supervised() => {}
                _ if self.end_remaining(&metadata).await? => return Ok(true),
                _ => {}
            }
            if started.elapsed() > 2 * TIME_LIMIT {
                return Err(self.not_cancelled("it still runs"));
            }
            pause(CHECK_INTERVAL).await;
        }
        Ok(false)
    }

    fn signal(&self, supervisor: &ProcessIdentity, signal: Signal) -> Result<(), Failure> {
        let signalled = supervisor.signal(signal);
        signalled.map_err(|error| self.not_cancelled(&error.to_string()))
    }

    /// Ends all processes of an action without a supervisor. Returns whether there were any.
    async fn end_remaining(&self, metadata: &TransactionMetadata) -> Result<bool, Failure> {
        let Some(process) = pid::read(&self.folder) else {
            return Ok(false);
        };
        if !process.has_living_processes().await {
            return Ok(false);
        }
        let why = EndReason::Cancelled;
        let mut metadata = metadata.clone();
        metadata.status = TransactionStatus::Running;
        metadata.execution_error = None;
        self.record_ending(&mut metadata, why);
        let remaining = process.end(GRACE).await;
        if !remaining.is_empty() {
            return Err(
                self.not_cancelled(&format!("its processes {remaining:?} could not be killed"))
            );
        }
        // An action that ended by itself meanwhile was not cancelled.
        if let Ok(Some(_)) = self.exitcode() {
            return Ok(false);
        }
        metadata.record_failure(why.message(metadata.limit()), Some(SystemTime::now()));
        let written = metadata.write(&self.folder);
        written.map_err(|error| self.unrecorded(&error.to_string()))?;
        Ok(true)
    }

    fn not_cancelled(&self, problem: &str) -> Failure {
        let message = format!("the transaction {} cannot be cancelled: {problem}", self.id);
        Failure::new("devgate/not-cancelled", message)
    }

    fn unrecorded(&self, problem: &str) -> Failure {
        let message = format!(
            "the action of transaction {} was cancelled, but that cannot be recorded: {problem}",
            self.id
        );
        Failure::new("devgate/spool-error", message)
    }
}
