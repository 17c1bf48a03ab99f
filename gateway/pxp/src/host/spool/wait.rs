//! Waits for the end of a started action. An action that exceeds its time limit, or is cancelled, is ended.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use devgate_core::cancel::{CancelToken, Stage};
use devgate_engine::process::RecordedChild;
use devgate_schemas::pxp::OutputFiles;
use devgate_schemas::task::Exit;
use tokio::time::{Instant, timeout_at};

use crate::host::call::GRACE;
use crate::host::spool::metadata::{EndReason, TransactionMetadata};
use crate::host::spool::transaction::{Transaction, pause};

/// How often to check for the exit code of an action.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// How long the process may take to end after its exit code, and how often its remaining processes are checked.
const LINGER_TIME: Duration = Duration::from_secs(1);

/// How long the child processes that a module has left behind may take to write its files.
const MAX_HANDOVER_TIME: Duration = Duration::from_secs(10);

impl Transaction {
    /// Waits until the action has ended, or ends it, and records the result. If the action has ended by itself, returns
    /// its process, which may still run.
    pub(super) async fn wait(
        &self,
        metadata: &mut TransactionMetadata,
        mut child: RecordedChild,
        deadline: &Deadline,
        stop: &CancelToken,
    ) -> Option<RecordedChild> {
        let why = tokio::select! {
            exit = self.finished(&mut child) => {
                self.record_end(metadata, exit);
                return Some(child);
            }
            () = deadline.passes() => EndReason::TimedOut,
            () = stop.reaches(Stage::End) => EndReason::Cancelled,
        };
        // An action that has just finished is not ended.
        if let Ok(Some((code, _))) = self.exitcode() {
            self.record_end(metadata, Ok(Exit::Code(code)));
            return Some(child);
        }
        self.record_ending(metadata, why);
        let remaining = match child.end(stop, GRACE).await {
            none if none.is_empty() => String::new(),
            remaining => format!("; these could not be killed: {remaining:?}"),
        };
        let message = why.message(metadata.limit());
        metadata.record_failure(format!("{message}{remaining}"), Some(SystemTime::now()));
        None
    }

    /// Waits until the process has ended, or has written its exit code and still runs.
    async fn finished(&self, child: &mut RecordedChild) -> io::Result<Exit> {
        tokio::select! {
            exit = child.wait() => match exit {
                Ok(Exit::Code(0)) if !self.has_written() => Ok(self.wait_for_descendants(child).await),
                exit => exit,
            },
            exit = self.exit_code_is_written() => Ok(exit),
        }
    }

    /// Waits for the exit code in its file, and a little longer: the exit code of the process takes precedence, and the
    /// file may be incomplete.
    async fn exit_code_is_written(&self) -> Exit {
        loop {
            pause(CHECK_INTERVAL).await;
            if let Ok(Some((code, _))) = self.exitcode() {
                pause(LINGER_TIME).await;
                let again = self.exitcode().ok().flatten();
                return Exit::Code(again.map_or(code, |(code, _)| code));
            }
        }
    }

    fn has_written(&self) -> bool {
        let OutputFiles {
            stdout, exitcode, ..
        } = self.output_files();
        stdout.exists() || exitcode.exists()
    }

    /// A module that has ended with 0 and without files may have left the work to a child process. Waits until the exit
    /// code is written, no process is left that could write it, or the time limit is exceeded. A process that still runs
    /// then may be a service.
    async fn wait_for_descendants(&self, child: &RecordedChild) -> Exit {
        let no_descendant = async {
            let started = Instant::now();
            // This checks all processes of this node.
            while child.has_living_processes().await && started.elapsed() < MAX_HANDOVER_TIME {
                pause(LINGER_TIME).await;
            }
        };
        tokio::select! {
            exit = self.exit_code_is_written() => exit,
            () = no_descendant => {
                let code = self.exitcode().ok().flatten();
                Exit::Code(code.map_or(0, |(code, _)| code))
            }
        }
    }

    fn record_end(&self, metadata: &mut TransactionMetadata, exit: io::Result<Exit>) {
        let now = SystemTime::now();
        let judged = exit
            .map_err(|error| error.to_string())
            .and_then(|exit| self.judge(metadata, exit, now));
        if let Err(problem) = judged {
            metadata.record_failure(problem, Some(now));
        }
    }
}

/// The deadline of an action; `None` if it has no limit.
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn of(metadata: &TransactionMetadata) -> Self {
        Self(Instant::now().checked_add(metadata.limit()))
    }

    async fn passes(&self) {
        match self.0 {
            Some(at) => drop(timeout_at(at, pending::<()>()).await),
            None => pending().await,
        }
    }
}

/// Waits for a process whose action has finished, without a limit.
pub(super) async fn linger(mut child: RecordedChild, deadline: &Deadline, stop: &CancelToken) {
    tokio::select! {
        _ = child.wait() => return,
        () = deadline.passes() => {}
        () = stop.reaches(Stage::End) => {}
    }
    child.end(stop, GRACE).await;
}
