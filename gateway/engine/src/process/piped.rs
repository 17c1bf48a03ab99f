//! A child process with piped streams: the caller writes its input and reads its output piece by piece.

use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::process::Stdio;

use bytes::{Bytes, BytesMut};
use devgate_core::cancel::CancelSource;
use devgate_schemas::task::Exit as ProcessExit;
use devgate_transports::ssh_host::{Exit, Piece};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::spawn::{command, exit_of, spawn};
use super::{Program, start_retry};

/// The output of a child and how it ends, in the same form as for a program behind SSH. If this is dropped before the
/// child's end, its process group is killed, unless it belongs to another user.
pub(crate) struct PipedChild {
    child: Child,
    _count: start_retry::RunningCount,
    stdout: Output<ChildStdout>,
    stderr: Output<ChildStderr>,
    exit: Option<Exit>,
}

struct Output<R> {
    /// `None` after the end of the stream.
    from: Option<R>,
    buffer: BytesMut,
}

/// How much of an output is read at once.
const READ_SIZE: usize = 16 * 1024;

/// Starts a program with pipes for its input and its outputs, as soon as the resources of this node allow it.
///
/// # Errors
/// Fails when it cannot be started.
pub(crate) async fn start_piped(argv: Vec<OsString>) -> io::Result<(ChildStdin, PipedChild)> {
    let program = Program {
        argv,
        environment: Vec::new(),
        stdin: None,
    };
    start_marked(&program, "").await
}

/// Starts a program whose descendants carry a mark.
///
/// # Errors
/// Fails when it cannot be started.
pub(super) async fn start_marked(
    program: &Program,
    mark: &str,
) -> io::Result<(ChildStdin, PipedChild)> {
    let start = || {
        let mut command = command(program, mark)?;
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        spawn(&mut command)
    };
    let nobody_stops_it = CancelSource::default().token();
    let started = start_retry::start(start, &nobody_stops_it).await;
    let (mut child, count) =
        started.map_err(|error| error.unwrap_or_else(|| io::ErrorKind::Interrupted.into()))?;
    let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let piped_child = PipedChild {
        stdout: Output::new(child.stdout.take()),
        stderr: Output::new(child.stderr.take()),
        child,
        _count: count,
        exit: None,
    };
    Ok((stdin, piped_child))
}

impl PipedChild {
    /// Returns the child.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the next piece. No piece is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Piece {
        loop {
            if let (Some(exit), None, None) = (&self.exit, &self.stdout.from, &self.stderr.from) {
                return Piece::Exit(exit.clone());
            }
            tokio::select! {
                bytes = self.stdout.next() => {
                    if !bytes.is_empty() {
                        return Piece::Stdout(bytes);
                    }
                }
                bytes = self.stderr.next() => {
                    if !bytes.is_empty() {
                        return Piece::Stderr(bytes);
                    }
                }
                status = self.child.wait(), if self.exit.is_none() => {
                    let exit = status.map_or(Exit::Unsaid, |status| convert_exit(exit_of(status)));
                    return Piece::Ended(self.exit.insert(exit).clone());
                }
            }
        }
    }
}

impl Drop for PipedChild {
    fn drop(&mut self) {
        // There is no number any more once the child was waited for.
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(leader) = id.map(Pid::from_raw)
            && let Err(error) = killpg(leader, Signal::SIGKILL)
        {
            tracing::debug!("process group {leader} took no SIGKILL: {error}");
        }
    }
}

impl<R: AsyncRead + Unpin> Output<R> {
    fn new(from: Option<R>) -> Self {
        Self {
            from,
            buffer: BytesMut::new(),
        }
    }

    /// Returns the next bytes: none at the end of the stream, and from then on the future never completes.
    async fn next(&mut self) -> Bytes {
        let Some(from) = &mut self.from else {
            return pending().await;
        };
        self.buffer.reserve(READ_SIZE);
        // A read error of a pipe counts as its end.
        if !matches!(from.read_buf(&mut self.buffer).await, Ok(1..)) {
            self.from = None;
        }
        self.buffer.split().freeze()
    }
}

fn convert_exit(exit: ProcessExit) -> Exit {
    match exit {
        ProcessExit::Code(code) => u32::try_from(code).map_or(Exit::Unsaid, Exit::Code),
        ProcessExit::Signal(signal) => match Signal::try_from(signal) {
            Ok(signal) => Exit::Signal(signal.as_str().trim_start_matches("SIG").to_owned()),
            Err(_) => Exit::Unsaid,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::time::timeout;

    use super::*;

    async fn shell(script: &str) -> (ChildStdin, PipedChild) {
        let argv = ["sh", "-c", script].map(OsString::from).to_vec();
        start_piped(argv).await.expect("a shell")
    }

    #[tokio::test]
    async fn a_child_gets_its_input_and_is_read_to_the_end_of_its_output() {
        let script = "read -r l; echo \"$l\"; echo no >&2; (sleep 0.3; echo late) & exit 7";
        let (mut stdin, mut piped_child) = shell(script).await;
        stdin.write_all(b"word\n").await.expect("it reads");
        let (mut out, mut err, mut exits) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match piped_child.next().await {
                Piece::Stdout(bytes) => out.extend_from_slice(&bytes),
                Piece::Stderr(bytes) => err.extend_from_slice(&bytes),
                Piece::Ended(exit) => exits.push(exit),
                Piece::Exit(exit) => {
                    exits.push(exit);
                    break;
                }
            }
        }
        assert_eq!((&out[..], &err[..]), (&b"word\nlate\n"[..], &b"no\n"[..]));
        assert_eq!(exits, [Exit::Code(7), Exit::Code(7)]);
    }

    #[tokio::test]
    async fn a_dropped_child_is_killed() {
        let (_stdin, mut piped_child) = shell("echo begun; sleep 600 & wait").await;
        assert_eq!(piped_child.next().await, Piece::Stdout("begun\n".into()));
        // It ends when no process has it open for writing any more: neither the shell nor what that has started.
        let mut stdout = piped_child.stdout.from.take().expect("it is open");
        drop(piped_child);
        let ended = timeout(Duration::from_secs(60), stdout.read(&mut [0; 8])).await;
        assert_eq!(ended.expect("they are killed").expect("a pipe"), 0);
    }

    #[tokio::test]
    async fn a_failed_start_is_reported() {
        let error = start_piped(vec!["/no/such/program".into()]).await.err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(io::ErrorKind::NotFound)
        );
    }
}
