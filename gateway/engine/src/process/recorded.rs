//! Children that may outlive their parent: a program that goes on when we end, and a child that is recorded before it
//! may begin, so that it can be found again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use devgate_core::cancel::{CancelSource, CancelToken};
use devgate_schemas::Sensitive;
use devgate_schemas::task::Exit;
use nix::unistd::setsid;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::mark;
use super::run::write_input;
use super::spawn::{command, exit_of, spawn};
use super::tree::{self, ProcessTree};
use super::{ProcessIdentity, Program, start_retry};

/// A child that can be found again with everything that it has started, by us or, when we are gone, by another process.
/// Its output is discarded. If this is dropped before the child's end, the child is killed.
pub struct RecordedChild {
    child: Child,
    _count: start_retry::RunningCount,
    tree: ProcessTree,
    stdin: Option<ChildStdin>,
    input: Option<Sensitive<Vec<u8>>>,
}

/// The record of such a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The child, which leads a process group.
    pub leader: ProcessIdentity,
    /// The mark that the child and its descendants carry in their environment.
    pub mark: String,
}

/// A program that goes on when we end, and has none of our streams.
pub struct DetachedProgram {
    stdin: ChildStdin,
    stdout: ChildStdout,
}

/// Begins a session without a terminal. Signals to the caller's process group or terminal do not reach this process.
///
/// # Errors
/// Fails when this process leads a process group.
pub fn begin_session() -> io::Result<()> {
    setsid().map(drop).map_err(io::Error::from)
}

impl DetachedProgram {
    /// Starts a program, which should begin a session first.
    ///
    /// # Errors
    /// Fails when it cannot be started.
    pub fn start(argv: Vec<OsString>) -> io::Result<Self> {
        let program = Program {
            argv,
            environment: Vec::new(),
            stdin: None,
        };
        let mut command = command(&program, "")?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = spawn(&mut command)?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { stdin, stdout })
    }

    /// Writes these lines, and returns the line that the program answers. A line without an end is incomplete.
    ///
    /// # Errors
    /// Fails when the program ended without an answer, or has not answered in time.
    pub async fn request(
        mut self,
        lines: &[&Sensitive<Vec<u8>>],
        limit: Duration,
    ) -> io::Result<String> {
        let exchange = async {
            for line in lines {
                self.stdin.write_all(line.reveal()).await?;
                self.stdin.write_all(b"\n").await?;
            }
            drop(self.stdin);
            let mut line = String::new();
            match BufReader::new(self.stdout).read_line(&mut line).await? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(line),
            }
        };
        timeout(limit, exchange).await?
    }
}

impl RecordedChild {
    /// Starts a program. It gets its input once `record` has stored its record.
    ///
    /// # Errors
    /// Fails when it cannot be started or recorded, or with `None` when the run is cancelled first.
    pub async fn start(
        program: Program,
        stop: &CancelToken,
        record: impl FnOnce(&ProcessRecord) -> io::Result<()>,
    ) -> Result<Self, Option<io::Error>> {
        let mark = mark::mark();
        let start = || {
            let mut command = command(&program, &mark)?;
            command
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            spawn(&mut command)
        };
        let (mut child, count) = start_retry::start(start, stop).await?;
        let started = Self {
            stdin: child.stdin.take(),
            input: program.stdin,
            // The child is not guarded: if we are killed, it goes on, and another process finds it by its record.
            tree: ProcessTree::of_unowned(tree::leader(&child), mark.clone()),
            _count: count,
            child,
        };
        let found = ProcessRecord::of(&started.child, mark);
        found.and_then(|found| record(&found)).map_err(Some)?;
        Ok(started)
    }

    /// Writes the input and waits for the child's end. Its descendants may live on.
    ///
    /// # Errors
    /// Fails when the operating system does not know the child any more.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        let write_input = write_input(self.stdin.take(), self.input.as_ref());
        let ended = tokio::select! {
            status = self.child.wait() => status,
            () = write_input => self.child.wait().await,
        };
        self.tree.mark_ended();
        ended.map(exit_of)
    }

    /// Whether a descendant of the child lives, after a moment.
    pub async fn has_living_processes(&self) -> bool {
        !self.tree.remaining().await.is_empty()
    }

    /// Ends the child with everything that it has started. Returns the processes that cannot be killed.
    pub async fn end(mut self, stop: &CancelToken, grace: Duration) -> BTreeSet<i32> {
        self.tree.end(stop, grace).await
    }
}

impl ProcessRecord {
    fn of(child: &Child, mark: String) -> io::Result<Self> {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        let leader = ProcessIdentity::of(pid.ok_or(io::ErrorKind::NotFound)?)?;
        Ok(Self { leader, mark })
    }

    /// Whether the child or one of its descendants lives, after a moment.
    pub async fn has_living_processes(&self) -> bool {
        self.leader.is_alive()
            || !ProcessTree::of_unowned(None, self.mark.clone())
                .remaining()
                .await
                .is_empty()
    }

    /// Ends the recorded child with everything that it has started, although it is no child of this process. Returns
    /// the processes that cannot be killed.
    pub async fn end(&self, grace: Duration) -> BTreeSet<i32> {
        // Its number may belong to another process by now.
        let leader = self.leader.is_alive().then_some(self.leader.pid);
        let mut tree = ProcessTree::of_unowned(leader, self.mark.clone());
        let nobody_stops_it = CancelSource::default();
        tree.end(&nobody_stops_it.token(), grace).await
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::GRACE;
    use super::*;

    fn shell(script: &str, stdin: &str) -> Program {
        Program {
            argv: ["sh", "-c", script].map(Into::into).to_vec(),
            environment: Vec::new(),
            stdin: Some(Sensitive::new(stdin.as_bytes().to_vec())),
        }
    }

    #[tokio::test]
    async fn a_child_gets_its_input_after_it_is_recorded() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("told");
        let script = format!("read -r word; echo \"$word\" >{}; exit 7", file.display());
        let cancel_source = CancelSource::default();
        let stop = cancel_source.token();
        let refused = RecordedChild::start(shell(&script, "no\n"), &stop, |_| {
            Err(io::ErrorKind::StorageFull.into())
        });
        let error = refused.await.err().flatten();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(io::ErrorKind::StorageFull)
        );
        let mut record = None;
        let started = RecordedChild::start(shell(&script, "yes\n"), &stop, |found| {
            assert!(!file.exists() && found.leader.is_alive());
            record = Some(found.clone());
            Ok(())
        });
        let mut started = started.await.expect("a shell");
        assert_eq!(started.wait().await?, Exit::Code(7));
        assert_eq!(fs::read_to_string(&file)?, "yes\n");
        assert!(record.is_some_and(|record| !record.leader.is_alive()));
        Ok(())
    }

    #[tokio::test]
    async fn another_process_ends_a_recorded_child_with_its_descendants() {
        let cancel_source = CancelSource::default();
        let stop = cancel_source.token();
        let script = "trap '' TERM; setsid sleep 600 & sleep 600 & wait; wait";
        let mut record = None;
        let started = RecordedChild::start(shell(script, ""), &stop, |found| {
            record = Some(found.clone());
            Ok(())
        });
        let mut started = started.await.expect("a shell");
        let record = record.expect("it was written down");
        let (ended, remaining) = tokio::join!(started.wait(), record.end(GRACE));
        // By SIGTERM, had the shell not yet come to ignore it.
        assert!(matches!(ended.expect("it is ours"), Exit::Signal(9 | 15)));
        assert!(remaining.is_empty(), "{remaining:?}");
        assert!(record.end(GRACE).await.is_empty());
    }

    #[tokio::test]
    async fn a_child_gets_sigterm_once() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let [ready, asked] = ["ready", "asked"].map(|name| folder.path().join(name));
        let script = format!(
            "trap 'echo asked >>{}' TERM; echo >{}; while :; do sleep 0.02; done",
            asked.display(),
            ready.display()
        );
        let cancel_source = CancelSource::default();
        let started =
            RecordedChild::start(shell(&script, ""), &cancel_source.token(), |_| Ok(())).await;
        let mut started = started.expect("a shell");
        while !ready.exists() {
            let moment = Duration::from_millis(20);
            assert!(timeout(moment, started.wait()).await.is_err(), "it stays");
        }
        let remaining = started
            .end(&cancel_source.token(), Duration::from_millis(500))
            .await;
        assert!(remaining.is_empty(), "{remaining:?}");
        // The sleeping child was asked to end, too, and has written nothing.
        assert_eq!(fs::read_to_string(&asked)?, "asked\n");
        Ok(())
    }

    #[tokio::test]
    async fn a_detached_program_answers_a_line_or_the_request_fails() {
        let request = async |script: &str| {
            let asked = DetachedProgram::start(shell(script, "").argv).expect("a shell");
            let input = Sensitive::new(b"word".to_vec());
            asked.request(&[&input], Duration::from_secs(60)).await
        };
        let answer = request("read -r word; echo \"$word!\"").await;
        assert_eq!(answer.expect("it answers"), "word!\n");
        let silent = request("cat >/dev/null")
            .await
            .expect_err("it says nothing");
        assert_eq!(silent.kind(), io::ErrorKind::UnexpectedEof);
    }
}
