//! Attending an action: it is started, waited for, and ended when it takes too long or somebody cancels it; and
//! what became of it is written down. This is done by a process of its own, which nobody waits for.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use devgate_schemas::pxp::OutputFiles;
use devgate_schemas::task::Exit;
use devgate_schemas::{Mask, Sensitive};
use tokio::time::{Instant, timeout, timeout_at};

use super::metadata::{Metadata, Status};
use super::start::not_started;
use super::{Handover, Transaction, pid};
use crate::failure::Failure;
use crate::process::{self, Identity, Recorded};
use crate::pxp::call::{GRACE, timed_out};
use crate::pxp::describe;
use crate::stop::{Stage, Stop};

/// What is told of an action that was cancelled.
pub(super) const CANCELLED: &str =
    "cancelled: it was ended with all its processes; what it had done by then stands";

/// How often it is looked whether an action has left its exit code.
const LOOK: Duration = Duration::from_millis(250);

/// How long its process may then take to end.
const LINGER: Duration = Duration::from_secs(1);

/// Attends the action of a transaction that was claimed and not started. It asks for the `handover` when it
/// has written down that it is there; `started` is told that the module runs.
///
/// # Errors
/// Why the action was not started, or that its end cannot be written down.
pub(crate) async fn attend(
    transaction: &Transaction,
    handover: impl FnOnce() -> io::Result<Handover>,
    stop: &Stop,
    started: impl FnOnce(),
) -> Result<(), Failure> {
    let taken = transaction.take_over();
    let mut metadata = taken.map_err(|problem| not_started(&problem))?;
    let (mask, child) = match handover() {
        Ok(Handover { request, mask }) => (mask, transaction.begin(&metadata, request, stop).await),
        Err(error) => {
            let problem = format!("its request has not come ({error})");
            (Mask::default(), Err(problem))
        }
    };
    let child = child.map_err(|problem| transaction.not_started(&problem))?;
    started();
    let deadline = Deadline::of(&metadata);
    let lingering = transaction
        .wait(&mut metadata, child, &deadline, stop)
        .await;
    let written = transaction
        .hide(&mask)
        .and_then(|()| metadata.write(&transaction.folder));
    if let Some(child) = lingering {
        linger(child, &deadline, stop).await;
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
    /// Writes down that we attend it.
    fn take_over(&self) -> Result<Metadata, String> {
        let mut metadata = Metadata::read(&self.folder, &self.id)?;
        if metadata.attended_by.is_some() || metadata.status != Status::Running {
            return Err("it was started before".to_owned());
        }
        let written = Identity::own().and_then(|own| {
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

    /// Starts the module, which is given its request when its process is written down.
    async fn begin(
        &self,
        metadata: &Metadata,
        request: Sensitive<Vec<u8>>,
        stop: &Stop,
    ) -> Result<Recorded, String> {
        let program = describe::program(&metadata.file, Some(&metadata.action), Some(request));
        let cancelled = || "cancelled".to_owned();
        if stop.stage() >= Stage::End {
            return Err(cancelled());
        }
        let record = |found: &process::Record| pid::write(&self.folder, found);
        let started = Recorded::start(program, stop, record).await;
        started.map_err(|error| error.as_ref().map_or_else(cancelled, process::not_started))
    }

    /// Waits until the action has ended, or is to be ended, and says what became of it. Gives its process, where
    /// that lingers.
    async fn wait(
        &self,
        metadata: &mut Metadata,
        mut child: Recorded,
        deadline: &Deadline,
        stop: &Stop,
    ) -> Option<Recorded> {
        let why = tokio::select! {
            exit = child.wait() => {
                let exit = match exit {
                    Ok(Exit::Code(0)) if !self.has_written() => tokio::select! {
                        code = self.left_to_others(&child, deadline) => Some(Ok(Exit::Code(code))),
                        () = stop.reaches(Stage::End) => None,
                    },
                    exit => Some(exit),
                };
                if let Some(exit) = exit {
                    self.ended(metadata, exit);
                    return None;
                }
                CANCELLED.to_owned()
            }
            code = self.finishes() => {
                self.ended(metadata, Ok(Exit::Code(code)));
                return Some(child);
            }
            () = deadline.passes() => timed_out(deadline.limit).msg,
            () = stop.reaches(Stage::End) => CANCELLED.to_owned(),
        };
        // Who has just finished is not undone.
        if let Ok(Some((code, _))) = self.exitcode() {
            self.ended(metadata, Ok(Exit::Code(code)));
            return Some(child);
        }
        self.is_ended(metadata, &why);
        let left = match child.end(stop, GRACE).await {
            none if none.is_empty() => String::new(),
            left => format!("; these could not be killed: {left:?}"),
        };
        metadata.failed(format!("{why}{left}"), Some(SystemTime::now()));
        None
    }

    /// Waits until the action has left its exit code, and for its process a little longer: whose own code counts.
    async fn finishes(&self) -> i32 {
        loop {
            pause(LOOK).await;
            if let Ok(Some((code, _))) = self.exitcode() {
                pause(LINGER).await;
                return code;
            }
        }
    }

    fn has_written(&self) -> bool {
        let OutputFiles {
            stdout, exitcode, ..
        } = self.output_files();
        stdout.exists() || exitcode.exists()
    }

    /// A module that has ended well without a file may have left the work to a process of its own: its files are
    /// read once the exit code is there ("Results, error messages, and exit code on file"), or nobody lives who
    /// could write it. Gives that code. What is there to stay is not ended.
    async fn left_to_others(&self, child: &Recorded, deadline: &Deadline) -> i32 {
        let written = async {
            loop {
                // All processes of this node are looked at.
                pause(LINGER).await;
                let lives = child.lives_on().await;
                match self.exitcode() {
                    Ok(Some((code, _))) => return code,
                    _ if !lives => return 0,
                    _ => {}
                }
            }
        };
        tokio::select! {
            code = written => code,
            () = deadline.passes() => 0,
        }
    }

    fn ended(&self, metadata: &mut Metadata, exit: io::Result<Exit>) {
        let now = SystemTime::now();
        let judged = exit
            .map_err(|error| error.to_string())
            .and_then(|exit| self.judge(metadata, exit, now));
        if let Err(problem) = judged {
            metadata.failed(problem, Some(now));
        }
    }
}

/// When an action must have ended.
struct Deadline {
    limit: Duration,
    /// None is never: so far no clock counts.
    at: Option<Instant>,
}

impl Deadline {
    fn of(metadata: &Metadata) -> Self {
        let limit = metadata.limit();
        let at = Instant::now().checked_add(limit);
        Self { limit, at }
    }

    async fn passes(&self) {
        match self.at {
            Some(at) => drop(timeout_at(at, pending::<()>()).await),
            None => pending().await,
        }
    }
}

/// Waits for a process whose action has finished, as long as that might take.
async fn linger(mut child: Recorded, deadline: &Deadline, stop: &Stop) {
    tokio::select! {
        _ = child.wait() => return,
        () = deadline.passes() => {}
        () = stop.reaches(Stage::End) => {}
    }
    child.end(stop, GRACE).await;
}

async fn pause(time: Duration) {
    drop(timeout(time, pending::<()>()).await);
}
