//! Cancelling an action: who attends it is asked to end it, or, where nobody does any more, we end it.

use std::future::pending;
use std::io;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::Signal;
use tokio::time::timeout;

use super::attend::CANCELLED;
use super::metadata::{Metadata, Status};
use super::{Transaction, pid};
use crate::failure::Failure;
use crate::process::Identity;
use crate::pxp::call::GRACE;

/// How long who attends an action may take to end it. It is killed then, and the action ended by us.
const PATIENCE: Duration = Duration::from_secs(25);

/// How often it is looked whether the action has ended.
const LOOK: Duration = Duration::from_millis(50);

impl Transaction {
    /// Ends the action, if it runs. Gives whether this has ended it.
    ///
    /// # Errors
    /// It may not be ended, or the end not be written down.
    pub(crate) async fn cancel(&self) -> Result<bool, Failure> {
        let ended = self.end().await;
        ended.map_err(|error| {
            let message = format!("the transaction {} cannot be cancelled: {error}", self.id);
            Failure::new("devgate/not-cancelled", message)
        })
    }

    async fn end(&self) -> io::Result<bool> {
        let begun = Instant::now();
        let mut asked: Option<Identity> = None;
        // Of what nothing is known, nothing can be ended.
        while let Ok(metadata) = self.state().await {
            if metadata.status != Status::Running {
                let why = metadata.execution_error.unwrap_or_default();
                return Ok(asked.is_some() && why.starts_with(CANCELLED));
            }
            match &metadata.attended_by {
                Some(attendant) if attendant.lives() => {
                    if asked.as_ref() != Some(attendant) {
                        attendant.signal(Signal::SIGTERM)?;
                        // What is stopped hears nothing until it goes on.
                        attendant.signal(Signal::SIGCONT)?;
                        asked = Some(attendant.clone());
                    } else if begun.elapsed() > PATIENCE {
                        attendant.signal(Signal::SIGKILL)?;
                    }
                }
                // It has just been claimed: who attends it will be there in a moment.
                None if metadata.are_attended() => {}
                _ => {
                    if let Some(ended) = self.end_unattended(metadata).await? {
                        return Ok(ended);
                    }
                }
            }
            if begun.elapsed() > 2 * PATIENCE {
                return Err(io::Error::other("it still runs"));
            }
            drop(timeout(LOOK, pending::<()>()).await);
        }
        Ok(false)
    }

    /// Ends an action that nobody attends; nothing, if it has ended meanwhile.
    async fn end_unattended(&self, mut metadata: Metadata) -> io::Result<Option<bool>> {
        let Some(process) = pid::read(&self.folder).filter(|process| process.leader.lives()) else {
            return Ok(None);
        };
        self.is_ended(&mut metadata, CANCELLED);
        let left = process.end(GRACE).await;
        if !left.is_empty() {
            let message = format!("its processes {left:?} could not be killed");
            return Err(io::Error::other(message));
        }
        metadata.failed(CANCELLED.to_owned(), Some(SystemTime::now()));
        metadata.write(&self.folder)?;
        Ok(Some(true))
    }
}
