//! Runs a program on a proxy to its end, with limited output.

use bytes::Bytes;
use devgate_schemas::Sensitive;
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use devgate_transports::Context;
use devgate_transports::hosted_program::{HostedOutput, HostedProcess};
use devgate_transports::ssh_host::{self, Piece};
use nix::sys::signal::Signal;
use tokio::time::{Instant, timeout_at};

use super::{GRACE, ProcessLimits};

/// Why a process on a proxy did not run to its end.
#[derive(Debug)]
pub(crate) enum HostedFailure {
    /// It took too long.
    TimedOut,
    /// It wrote more to stdout than is kept.
    TooLong,
    /// The connection to this proxy was lost. Whether the process still runs is not known.
    Lost(String),
}

/// Gives a process its input and waits for its end. If it takes too long or writes too much, it is ended; if this future
/// is dropped, it is ended at the end of the run. Returns its stderr in any case.
pub(crate) async fn run_hosted(
    HostedProcess { stdin, mut output }: HostedProcess,
    ctx: &Context<'_>,
    input: &Sensitive<Vec<u8>>,
    limits: &ProcessLimits,
) -> Result<Outcome, (HostedFailure, CapturedOutput)> {
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let input = Bytes::copy_from_slice(input.reveal());
    let write = async move {
        let mut stdin = stdin;
        // A process need not read all of its input.
        drop(stdin.write_all(input).await);
    };
    let failure = {
        let mut captured = Captured {
            stdout: &mut stdout,
            stderr: &mut stderr,
            limits,
        };
        let run = captured.run(&mut *output, write);
        let until = limits
            .time
            .and_then(|time| Instant::now().checked_add(time));
        match until {
            None => run.await,
            Some(until) => timeout_at(until, run)
                .await
                .unwrap_or(Err(HostedFailure::TimedOut)),
        }
    };
    let failure = match failure {
        Ok(exit) => {
            return Ok(Outcome {
                exit: convert_exit(exit),
                stdout,
                stderr,
            });
        }
        Err(failure) => failure,
    };
    if !matches!(failure, HostedFailure::Lost(_)) {
        let left = output.end(GRACE).await;
        left.into_iter().for_each(|left| ctx.warning(left));
    }
    Err((failure, stderr))
}

/// The output of a process that is kept.
struct Captured<'a> {
    stdout: &'a mut CapturedOutput,
    stderr: &'a mut CapturedOutput,
    limits: &'a ProcessLimits,
}

impl Captured<'_> {
    /// Reads to the end of a process while `write` writes its input.
    async fn run(
        &mut self,
        output: &mut dyn HostedOutput,
        write: impl Future<Output = ()> + Send,
    ) -> Result<ssh_host::Exit, HostedFailure> {
        tokio::pin!(write);
        let mut writing = true;
        let exit = loop {
            let piece = tokio::select! {
                () = &mut write, if writing => {
                    writing = false;
                    continue;
                }
                piece = output.next() => piece,
            };
            match piece {
                Ok(Piece::Ended(exit)) => break exit,
                Ok(Piece::Exit(exit)) => return Ok(exit),
                Ok(piece) => self.keep(piece)?,
                Err(_) => return Err(HostedFailure::Lost(output.proxy().to_owned())),
            }
        };
        // The last output may still be in the pipes.
        let until = Instant::now() + self.limits.drain;
        while let Ok(Ok(piece)) = timeout_at(until, output.next()).await {
            if let Piece::Exit(_) = piece {
                break;
            }
            self.keep(piece)?;
        }
        Ok(exit)
    }

    fn keep(&mut self, piece: Piece) -> Result<(), HostedFailure> {
        match piece {
            Piece::Stdout(bytes) => self.stdout.keep(&bytes, self.limits.stdout),
            Piece::Stderr(bytes) => self.stderr.keep(&bytes, self.limits.stderr),
            Piece::Ended(_) | Piece::Exit(_) => {}
        }
        if self.stdout.cut {
            return Err(HostedFailure::TooLong);
        }
        Ok(())
    }
}

/// Returns the end of a process on a host in the words of tasks.
pub(crate) fn convert_exit(exit: ssh_host::Exit) -> Exit {
    match exit {
        ssh_host::Exit::Code(code) => Exit::Code(i32::try_from(code).unwrap_or(-1)),
        ssh_host::Exit::Signal(name) => match format!("SIG{name}").parse::<Signal>() {
            Ok(signal) => Exit::Signal(signal as i32),
            Err(_) => Exit::Code(-1),
        },
        ssh_host::Exit::Unsaid => Exit::Code(-1),
    }
}
