//! A child process with piped streams: the caller writes its input and reads its output piece by piece.

use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::process::Stdio;

use bytes::{Bytes, BytesMut};
use devgate_core::cancel::CancelSource;
use devgate_schemas::task::Exit as Ended;
use devgate_transports::ssh_host::{Exit, Piece};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::spawn::{command, exit, spawn};
use super::{Program, room};

/// The output of a child and how it ends, in the same form as for a program behind SSH. If this is dropped before the
/// child's end, its process group is killed, unless it belongs to another user.
pub(crate) struct PipedChild {
    child: Child,
    _running: room::Running,
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
const PIECE: usize = 16 * 1024;

/// Starts a program with pipes for its input and its outputs, as soon as there is room for it.
///
/// # Errors
/// Fails when it cannot be started.
pub(crate) async fn piped(words: Vec<OsString>) -> io::Result<(ChildStdin, PipedChild)> {
    let program = Program {
        words,
        environment: Vec::new(),
        stdin: None,
    };
    marked(&program, "").await
}

/// Starts a program whose descendants carry a mark.
///
/// # Errors
/// Fails when it cannot be started.
pub(super) async fn marked(program: &Program, mark: &str) -> io::Result<(ChildStdin, PipedChild)> {
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
    let started = room::wait(start, &nobody_stops_it).await;
    let (mut child, running) =
        started.map_err(|error| error.unwrap_or_else(|| io::ErrorKind::Interrupted.into()))?;
    let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let pieces = PipedChild {
        stdout: Output::new(child.stdout.take()),
        stderr: Output::new(child.stderr.take()),
        child,
        _running: running,
        exit: None,
    };
    Ok((stdin, pieces))
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
                    let exit = status.map_or(Exit::Unsaid, |status| told(exit(status)));
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
        self.buffer.reserve(PIECE);
        // A read error of a pipe counts as its end.
        if !matches!(from.read_buf(&mut self.buffer).await, Ok(1..)) {
            self.from = None;
        }
        self.buffer.split().freeze()
    }
}

fn told(exit: Ended) -> Exit {
    match exit {
        Ended::Code(code) => u32::try_from(code).map_or(Exit::Unsaid, Exit::Code),
        Ended::Signal(signal) => match Signal::try_from(signal) {
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
        let words = ["sh", "-c", script].map(OsString::from).to_vec();
        piped(words).await.expect("a shell")
    }

    #[tokio::test]
    async fn a_child_is_written_to_and_heard_to_its_end_and_that_of_its_output() {
        let script = "read -r l; echo \"$l\"; echo no >&2; (sleep 0.3; echo late) & exit 7";
        let (mut stdin, mut pieces) = shell(script).await;
        stdin.write_all(b"word\n").await.expect("it reads");
        let (mut out, mut err, mut told) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match pieces.next().await {
                Piece::Stdout(bytes) => out.extend_from_slice(&bytes),
                Piece::Stderr(bytes) => err.extend_from_slice(&bytes),
                Piece::Ended(exit) => told.push(exit),
                Piece::Exit(exit) => {
                    told.push(exit);
                    break;
                }
            }
        }
        assert_eq!((&out[..], &err[..]), (&b"word\nlate\n"[..], &b"no\n"[..]));
        assert_eq!(told, [Exit::Code(7), Exit::Code(7)]);
    }

    #[tokio::test]
    async fn who_leaves_a_child_kills_it() {
        let (_stdin, mut pieces) = shell("echo begun; sleep 600 & wait").await;
        assert_eq!(pieces.next().await, Piece::Stdout("begun\n".into()));
        // It ends when no process has it open for writing any more: neither the shell nor what that has started.
        let mut stdout = pieces.stdout.from.take().expect("it is open");
        drop(pieces);
        let ended = timeout(Duration::from_secs(60), stdout.read(&mut [0; 8])).await;
        assert_eq!(ended.expect("they are killed").expect("a pipe"), 0);
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_told() {
        let error = piped(vec!["/no/such/program".into()]).await.err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(io::ErrorKind::NotFound)
        );
    }
}
