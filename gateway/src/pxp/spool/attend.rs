//! Attending an action: it is started, waited for, and ended when it takes too long or somebody cancels it; and
//! what became of it is written down. This is done by a process of its own, which nobody waits for.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use devgate_schemas::Sensitive;
use devgate_schemas::task::Exit;
use tokio::time::timeout;

use super::metadata::{Metadata, Status};
use super::start::not_started;
use super::{Transaction, pid};
use crate::failure::Failure;
use crate::process::{self, Identity, Program, Recorded};
use crate::pxp::call::timed_out;
use crate::stop::{Stage, Stop};

/// What is told of an action that was cancelled.
pub(super) const CANCELLED: &str =
    "cancelled: it was ended with all its processes; what it had done by then stands";

/// Attends the action of a transaction that was claimed and not started. `started` is told that the module runs.
///
/// # Errors
/// Why the action was not started, or that its end cannot be written down.
pub(crate) async fn attend(
    transaction: &Transaction,
    request: Sensitive<Vec<u8>>,
    stop: &Stop,
    started: impl FnOnce(),
) -> Result<(), Failure> {
    let taken = transaction.take_over();
    let mut metadata = taken.map_err(|problem| not_started(&problem))?;
    let child = match transaction.begin(&metadata, request, stop).await {
        Ok(child) => child,
        Err(problem) => return Err(transaction.not_started(&problem)),
    };
    started();
    transaction.wait(&mut metadata, child, stop).await;
    metadata.write(&transaction.folder).map_err(|error| {
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
        let program = Program {
            words: vec![metadata.file.clone().into(), metadata.action.clone().into()],
            environment: Vec::new(),
            stdin: Some(request),
        };
        let cancelled = || "cancelled".to_owned();
        if stop.stage() >= Stage::End {
            return Err(cancelled());
        }
        let record = |found: &process::Record| pid::write(&self.folder, found);
        let started = Recorded::start(program, stop, record).await;
        started.map_err(|error| error.as_ref().map_or_else(cancelled, process::not_started))
    }

    /// Waits until the action has ended, or is to be ended, and says what became of it.
    async fn wait(&self, metadata: &mut Metadata, mut child: Recorded, stop: &Stop) {
        let limit = metadata.limit();
        let why = tokio::select! {
            exit = child.wait() => return self.ended(metadata, exit),
            () = passes(limit) => timed_out(limit).msg,
            () = stop.reaches(Stage::End) => CANCELLED.to_owned(),
        };
        // Who has written the exit code has finished, whatever else is done by the process.
        let finished = self.exitcode().ok().flatten();
        if finished.is_none() {
            self.is_ended(metadata, &why);
        }
        let left = child.end(stop).await;
        if let Some((code, _)) = finished {
            return self.ended(metadata, Ok(Exit::Code(code)));
        }
        let left = if left.is_empty() {
            String::new()
        } else {
            format!("; these could not be killed: {left:?}")
        };
        metadata.failed(format!("{why}{left}"), Some(SystemTime::now()));
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

/// Waits as long as an action may take.
async fn passes(limit: Duration) {
    drop(timeout(limit, pending::<()>()).await);
}
