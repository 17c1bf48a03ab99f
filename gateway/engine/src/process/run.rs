//! Runs a program to its end, with limited output or with our own streams.

use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::time::Duration;

use devgate_core::cancel::{CancelToken, Stage};
use devgate_schemas::Sensitive;
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;
use tokio::time::timeout;

use super::guard::Guarded;
use super::output::{OutputSink, OutputTap, Stream, capture};
use super::spawn::{command, exit_of, spawn};
use super::tree::ProcessTree;
use super::{EndedProcess, GRACE, ProcessFailure, ProcessLimits, Program, start_retry};

/// The size of input that every pipe accepts without a reader (PIPE_BUF).
const PIPE_BUF: usize = 4096;

/// Runs a program to its end. If this future is dropped, the program is killed with everything that it has started.
///
/// # Errors
/// Fails when the program could not be started, took too long, or was cancelled.
pub async fn run<H: OutputSink + ?Sized>(
    program: &Program,
    limits: &ProcessLimits,
    stop: &CancelToken,
    sink: &H,
) -> Result<Outcome, ProcessFailure> {
    let guarded = Guarded::new();
    let started = start_retry::start(|| start(program, guarded.mark()), stop).await;
    let (mut child, _running) = started.map_err(|error| match error {
        Some(error) => ProcessFailure::Start(error),
        None => ProcessFailure::Ended(Box::default()),
    })?;
    let mut tree = ProcessTree::of(&child, guarded).with_respite(limits.respite);
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let process_ended = watch::Sender::new(false);
    let tap = |stream| OutputTap {
        sink,
        stream,
        process_ended: process_ended.subscribe(),
    };
    let (of_out, of_err) = (tap(Stream::Stdout), tap(Stream::Stderr));
    let transfer = async {
        tokio::join!(
            write_input(stdin, program.stdin.as_ref()),
            capture(out, limits.stdout, &mut stdout, of_out),
            capture(err, limits.stderr, &mut stderr, of_err),
        )
    };
    let ended = {
        tokio::pin!(transfer);
        let mut transferring = true;
        let end = async {
            tokio::select! {
                status = child.wait() => status,
                _ = &mut transfer => {
                    transferring = false;
                    child.wait().await
                }
            }
        };
        let ended = tokio::select! {
            status = with_limit(limits.time, end) => status.ok_or(limits.time),
            () = stop.reaches(Stage::End) => Err(None),
        };
        match ended {
            Ok(status) => {
                tree.mark_ended();
                process_ended.send_replace(true);
                if transferring && timeout(limits.drain, transfer).await.is_err() {
                    // Further output comes from processes that outlive this one.
                    tracing::debug!("output was still open {:?} after the end", limits.drain);
                }
                Ok(status.map_err(ProcessFailure::Start)?)
            }
            Err(limit) => {
                // The output is still read while the program ends, so that it does not block on a full pipe.
                let end = tree.end(stop, limits.grace);
                tokio::pin!(end);
                let left = tokio::select! {
                    left = &mut end => {
                        process_ended.send_replace(true);
                        if transferring {
                            // The last output may still be in the pipe.
                            let _ = timeout(limits.drain, transfer).await;
                        }
                        left
                    }
                    _ = &mut transfer, if transferring => end.await,
                };
                Err((limit, left))
            }
        }
    };
    match ended {
        Ok(status) => Ok(Outcome {
            exit: exit_of(status),
            stdout,
            stderr,
        }),
        Err((limit, left)) => {
            let ended = EndedProcess {
                limit,
                stdout,
                stderr,
                left,
            };
            Err(ProcessFailure::Ended(Box::new(ended)))
        }
    }
}

/// Runs a program with our own stdin, stdout and stderr to its end, however long that takes.
///
/// At a terminal, the program stays in our process group. Ctrl-C and Ctrl-Z reach it directly, and it decides what to
/// do. Elsewhere it leads a group of its own, and a signal that ends us ends it, too: `next_signal` waits for the next such
/// signal. Returns how the program ended, and that signal.
///
/// # Errors
/// Fails when the program could not be started.
pub async fn run_attached(
    program: &Program,
    mut next_signal: impl AsyncFnMut() -> Signal,
) -> io::Result<(Exit, Option<Signal>)> {
    let at_terminal = io::stdin().is_terminal();
    let guarded = Guarded::new();
    let mut command = command(program, guarded.mark())?;
    if !at_terminal {
        command.process_group(0);
    }
    let mut child = spawn(&mut command)?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(leader) = id.map(Pid::from_raw) else {
        return child.wait().await.map(|status| (exit_of(status), None));
    };
    let mut tree = (!at_terminal).then(|| ProcessTree::of(&child, guarded));
    loop {
        let signal = tokio::select! {
            status = child.wait() => {
                if let Some(tree) = &mut tree {
                    tree.mark_ended();
                }
                return status.map(|status| (exit_of(status), None));
            }
            signal = next_signal() => signal,
        };
        if at_terminal && signal == Signal::SIGINT {
            continue;
        }
        let sent = if at_terminal {
            kill(leader, Signal::SIGTERM)
        } else {
            killpg(leader, Signal::SIGTERM)
        };
        if let Err(error) = sent {
            tracing::debug!("process {leader} took no SIGTERM: {error}");
        }
        // `tree` kills what is left of it when it is dropped.
        if timeout(GRACE, child.wait()).await.is_err() {
            child.start_kill()?;
        }
        let ended = child.wait().await?;
        return Ok((exit_of(ended), Some(signal)));
    }
}

fn start(program: &Program, mark: &str) -> io::Result<Child> {
    let stdin = match &program.stdin {
        None => Stdio::null(),
        // The input fits into the pipe at once, so that nobody has to wait for its reader.
        Some(input) if input.reveal().len() <= PIPE_BUF => {
            let (reader, mut writer) = io::pipe()?;
            writer.write_all(input.reveal())?;
            Stdio::from(reader)
        }
        Some(_) => Stdio::piped(),
    };
    let mut command = command(program, mark)?;
    command
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    spawn(&mut command)
}

/// Waits for a future. Returns `None` when it takes longer than the limit.
async fn with_limit<T>(limit: Option<Duration>, end: impl Future<Output = T>) -> Option<T> {
    match limit {
        None => Some(end.await),
        Some(limit) => timeout(limit, end).await.ok(),
    }
}

/// Writes a child's input and closes it. A child need not read all of it.
pub(super) async fn write_input(stdin: Option<ChildStdin>, input: Option<&Sensitive<Vec<u8>>>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        drop(stdin.write_all(input.reveal()).await);
    }
}
