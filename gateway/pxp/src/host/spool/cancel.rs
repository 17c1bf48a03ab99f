//! Cancels an action: its supervisor ends it, or this process does if there is no supervisor any more.

use std::time::{Duration, Instant, SystemTime};

use devgate_core::failure::Failure;
use devgate_engine::process::ProcessIdentity;
use nix::sys::signal::Signal;

use crate::host::call::GRACE;
use crate::host::spool::metadata::{Status, TransactionMetadata, Why};
use crate::host::spool::pid;
use crate::host::spool::transaction::{Transaction, pause};

/// How long the supervisor may take to end the action. Then it is killed, and this process ends the action.
const PATIENCE: Duration = Duration::from_secs(25);

/// How often to check whether the action has ended.
const LOOK: Duration = Duration::from_millis(50);

impl Transaction {
    /// Ends a running action, or the remaining processes of an unknown one. Returns whether this has ended it.
    ///
    /// # Errors
    /// It cannot be ended, or its end cannot be recorded.
    pub(crate) async fn cancel(&self) -> Result<bool, Failure> {
        let begun = Instant::now();
        let mut asked: Option<ProcessIdentity> = None;
        // An unknown transaction cannot be ended.
        while let Ok(metadata) = self.state().await {
            match (metadata.status, &asked) {
                (Status::Running, _) => {}
                (Status::Unknown, Some(_)) => {
                    let problem =
                        format!("its metadata in {} do not show it", self.folder.display());
                    return Err(self.unrecorded(&problem));
                }
                (Status::Unknown, None) => return self.end_what_is_left(&metadata).await,
                (Status::Success | Status::Failure, asked) => {
                    return Ok(asked.is_some() && metadata.was_cancelled());
                }
            }
            match &metadata.attended_by {
                Some(attendant) if attendant.is_alive() => {
                    if asked.as_ref() != Some(attendant) {
                        self.ask(attendant, Signal::SIGTERM)?;
                        // A stopped process gets no signal until it continues.
                        self.ask(attendant, Signal::SIGCONT)?;
                        asked = Some(attendant.clone());
                    } else if begun.elapsed() > PATIENCE {
                        self.ask(attendant, Signal::SIGKILL)?;
                    }
                }
                // It was just claimed: its supervisor will start in a moment.
                None if metadata.are_attended() => {}
                _ if self.end_what_is_left(&metadata).await? => return Ok(true),
                _ => {}
            }
            if begun.elapsed() > 2 * PATIENCE {
                return Err(self.not_cancelled("it still runs"));
            }
            pause(LOOK).await;
        }
        Ok(false)
    }

    fn ask(&self, attendant: &ProcessIdentity, signal: Signal) -> Result<(), Failure> {
        let asked = attendant.signal(signal);
        asked.map_err(|error| self.not_cancelled(&error.to_string()))
    }

    /// Ends all processes of an action without a supervisor. Returns whether there were any.
    async fn end_what_is_left(&self, metadata: &TransactionMetadata) -> Result<bool, Failure> {
        let Some(process) = pid::read(&self.folder) else {
            return Ok(false);
        };
        if !process.has_living_processes().await {
            return Ok(false);
        }
        let why = Why::Cancelled;
        let mut metadata = metadata.clone();
        metadata.status = Status::Running;
        metadata.execution_error = None;
        self.is_ended(&mut metadata, why);
        let left = process.end(GRACE).await;
        if !left.is_empty() {
            return Err(self.not_cancelled(&format!("its processes {left:?} could not be killed")));
        }
        // An action that ended by itself meanwhile was not cancelled.
        if let Ok(Some(_)) = self.exitcode() {
            return Ok(false);
        }
        metadata.failed(why.told(metadata.limit()), Some(SystemTime::now()));
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
