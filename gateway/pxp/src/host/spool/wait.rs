//! Waiting for the end of an action that was started: its own, or the one that it is brought to when it takes too
//! long or somebody cancels it.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use devgate_core::cancel::{CancelToken, Stage};
use devgate_engine::process::RecordedChild;
use devgate_schemas::pxp::OutputFiles;
use devgate_schemas::task::Exit;
use tokio::time::{Instant, timeout_at};

use crate::host::call::GRACE;
use crate::host::spool::metadata::{TransactionMetadata, Why};
use crate::host::spool::transaction::{Transaction, pause};

/// How often to check for the exit code of an action.
const LOOK: Duration = Duration::from_millis(250);

/// How long its process may then take to end, and how often it is looked what a process has left behind.
const LINGER: Duration = Duration::from_secs(1);

/// How long those that a module has left behind may take to write its files, before its own end counts.
const HANDED_ON: Duration = Duration::from_secs(10);

impl Transaction {
    /// Waits until the action has ended, or is to be ended, and says what became of it. Gives its process, which
    /// may linger, where the action has ended by itself.
    pub(super) async fn wait(
        &self,
        metadata: &mut TransactionMetadata,
        mut child: RecordedChild,
        deadline: &Deadline,
        stop: &CancelToken,
    ) -> Option<RecordedChild> {
        let why = tokio::select! {
            exit = self.finishes(&mut child) => {
                self.ended(metadata, exit);
                return Some(child);
            }
            () = deadline.passes() => Why::TimedOut,
            () = stop.reaches(Stage::End) => Why::Cancelled,
        };
        // An action that has just finished is not ended.
        if let Ok(Some((code, _))) = self.exitcode() {
            self.ended(metadata, Ok(Exit::Code(code)));
            return Some(child);
        }
        self.is_ended(metadata, why);
        let left = match child.end(stop, GRACE).await {
            none if none.is_empty() => String::new(),
            left => format!("; these could not be killed: {left:?}"),
        };
        let told = why.told(metadata.limit());
        metadata.failed(format!("{told}{left}"), Some(SystemTime::now()));
        None
    }

    /// Waits until the process has ended, or has written its exit code and still runs.
    async fn finishes(&self, child: &mut RecordedChild) -> io::Result<Exit> {
        tokio::select! {
            exit = child.wait() => match exit {
                Ok(Exit::Code(0)) if !self.has_written() => Ok(self.left_to_others(child).await),
                exit => exit,
            },
            exit = self.leaves_its_code() => Ok(exit),
        }
    }

    /// Waits until the action has left its exit code, and a little longer: for its process, whose own code counts,
    /// and for who writes more than one byte at a time.
    async fn leaves_its_code(&self) -> Exit {
        loop {
            pause(LOOK).await;
            if let Ok(Some((code, _))) = self.exitcode() {
                pause(LINGER).await;
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

    /// A module that has ended well without a file may have left the work to a process of its own: it is waited for
    /// until the exit code is there, nobody lives who could write it, or the time is over; then the module has
    /// written nothing. Who lives on then is a service, perhaps.
    async fn left_to_others(&self, child: &RecordedChild) -> Exit {
        let nobody = async {
            let begun = Instant::now();
            // This checks all processes of this node.
            while child.has_living_processes().await && begun.elapsed() < HANDED_ON {
                pause(LINGER).await;
            }
        };
        tokio::select! {
            exit = self.leaves_its_code() => exit,
            () = nobody => {
                let code = self.exitcode().ok().flatten();
                Exit::Code(code.map_or(0, |(code, _)| code))
            }
        }
    }

    fn ended(&self, metadata: &mut TransactionMetadata, exit: io::Result<Exit>) {
        let now = SystemTime::now();
        let judged = exit
            .map_err(|error| error.to_string())
            .and_then(|exit| self.judge(metadata, exit, now));
        if let Err(problem) = judged {
            metadata.failed(problem, Some(now));
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
