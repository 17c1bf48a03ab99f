//! A process that answers requests one after another: a line is written to it, and its lines are read until one is the
//! answer. It is a child of ours, or runs on a proxy.

use std::io;

use bytes::{Bytes, BytesMut};
use devgate_core::cancel::CancelSource;
use devgate_schemas::Sensitive;
use devgate_schemas::task::CapturedOutput;
use devgate_transports::Context;
use devgate_transports::hosted_program::{HostedInput, HostedOutput, HostedProcess};
use devgate_transports::ssh_host::{Exit, Piece};
use futures_util::FutureExt;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::timeout;

use super::guard::Guarded;
use super::tree::ProcessTree;
use super::{GRACE, PipedChild, ProcessLimits, Program, piped};

/// A process that waits for requests. If this is dropped, it is killed with everything that it has started: a child at
/// once, a process on a proxy at the end of the run.
pub(crate) struct Dialogue {
    stdin: Stdin,
    process: Process,
    unread: UnreadOutput,
}

/// The input of a process.
enum Stdin {
    Here(ChildStdin),
    OnProxy(Box<dyn HostedInput>),
}

/// The output of a process, and the means to end it.
enum Process {
    Here {
        // Before `child`: the drop searches for the mark while the child still exists.
        tree: ProcessTree,
        child: Box<PipedChild>,
    },
    OnProxy(Box<dyn HostedOutput>),
}

/// Output that has arrived and has not been consumed.
#[derive(Default)]
struct UnreadOutput {
    stdout: BytesMut,
    /// How many bytes at the start contain no line end.
    searched: usize,
    stderr: CapturedOutput,
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum DialogueError {
    /// The child has ended.
    Ended(Exit),
    /// The child wrote a line beyond the limit.
    TooLong,
    /// The child answered before it had read the whole request.
    AnsweredEarly,
    /// The connection to this proxy was lost. Whether the process still runs is not known.
    Lost(String),
}

impl Dialogue {
    /// Starts the child.
    ///
    /// # Errors
    /// Fails when it cannot be started.
    pub(crate) async fn start(program: &Program) -> io::Result<Self> {
        let guarded = Guarded::new();
        let (stdin, mut child) = piped::start_marked(program, guarded.mark()).await?;
        Ok(Self {
            stdin: Stdin::Here(stdin),
            process: Process::Here {
                tree: ProcessTree::of(child.child(), guarded),
                child: Box::new(child),
            },
            unread: UnreadOutput::default(),
        })
    }

    /// Talks to a process on a proxy.
    pub(crate) fn with_hosted(HostedProcess { stdin, output }: HostedProcess) -> Self {
        Self {
            stdin: Stdin::OnProxy(stdin),
            process: Process::OnProxy(output),
            unread: UnreadOutput::default(),
        }
    }

    /// Whether the process has ended since the last request.
    pub(crate) fn has_ended(&mut self) -> bool {
        match &mut self.process {
            Process::Here { tree, child } => {
                let ended = !matches!(child.child().try_wait(), Ok(None));
                if ended {
                    tree.mark_ended();
                }
                ended
            }
            Process::OnProxy(output) => loop {
                match output.next().now_or_never() {
                    None => return false,
                    Some(Err(_) | Ok(Piece::Ended(_) | Piece::Exit(_))) => return true,
                    Some(Ok(piece)) => drop(self.unread.take(piece, &ProcessLimits::default())),
                }
            },
        }
    }

    /// Writes a line, and passes each line of the child to `on_line` until one of them is the answer. This may take
    /// forever; the caller may drop the future.
    ///
    /// # Errors
    /// Fails when there is no answer. The child cannot be used any more then.
    pub(crate) async fn request<T>(
        &mut self,
        line: &Sensitive<Vec<u8>>,
        limits: &ProcessLimits,
        mut on_line: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, DialogueError> {
        let Self {
            stdin,
            process,
            unread,
        } = self;
        let write = stdin.write_all(line);
        tokio::pin!(write);
        let mut writing = true;
        loop {
            while let Some(line) = unread.line() {
                match on_line(&line) {
                    Some(_) if writing => return Err(DialogueError::AnsweredEarly),
                    Some(answer) => return Ok(answer),
                    None => {}
                }
            }
            if unread.stdout.len() > limits.stdout {
                return Err(DialogueError::TooLong);
            }
            let piece = tokio::select! {
                biased;
                // A child that does not read its input is noticed by its end.
                _ = &mut write, if writing => {
                    writing = false;
                    continue;
                }
                piece = process.next() => piece?,
            };
            match piece {
                Piece::Ended(exit) => {
                    // The last output may still be in the pipes.
                    let drained = async {
                        while let Ok(piece) = process.next().await {
                            if unread.take(piece, limits) {
                                break;
                            }
                        }
                    };
                    drop(timeout(limits.drain, drained).await);
                    if !unread.stdout.contains(&b'\n') {
                        return Err(DialogueError::Ended(exit));
                    }
                }
                Piece::Exit(exit) => return Err(DialogueError::Ended(exit)),
                piece => drop(unread.take(piece, limits)),
            }
        }
    }

    /// Takes the stderr since the last call.
    pub(crate) fn stderr(&mut self) -> CapturedOutput {
        std::mem::take(&mut self.unread.stderr)
    }

    /// Closes the input and lets the process end by itself. If it does not, it is ended.
    pub(crate) async fn end(self, ctx: &Context<'_>) {
        let Self {
            stdin, mut process, ..
        } = self;
        drop(stdin);
        let ended =
            async { while !matches!(process.next().await, Ok(Piece::Ended(_)) | Err(_)) {} };
        if timeout(GRACE, ended).await.is_err() {
            process.end(ctx).await;
        }
    }

    /// Ends the process, whatever it is doing.
    pub(crate) async fn kill(self, ctx: &Context<'_>) {
        self.process.end(ctx).await;
    }
}

impl Stdin {
    async fn write_all(&mut self, line: &Sensitive<Vec<u8>>) -> io::Result<()> {
        let line = line.reveal();
        match self {
            Self::Here(stdin) => stdin.write_all(line).await,
            Self::OnProxy(stdin) => stdin.write_all(Bytes::copy_from_slice(line)).await,
        }
    }
}

impl Process {
    /// Returns the next piece. No piece is lost if the future is dropped.
    async fn next(&mut self) -> Result<Piece, DialogueError> {
        match self {
            Self::Here { tree, child } => {
                let piece = child.next().await;
                if let Piece::Ended(_) = &piece {
                    tree.mark_ended();
                }
                Ok(piece)
            }
            Self::OnProxy(output) => {
                let piece = output.next().await;
                piece.map_err(|_| DialogueError::Lost(output.proxy().to_owned()))
            }
        }
    }

    async fn end(self, ctx: &Context<'_>) {
        match self {
            Self::Here { mut tree, child } => {
                tree.end(&CancelSource::default().token(), GRACE).await;
                drop(child);
            }
            Self::OnProxy(output) => {
                let left = output.end(GRACE).await;
                left.into_iter().for_each(|left| ctx.warning(left));
            }
        }
    }
}

impl UnreadOutput {
    /// Consumes a piece. Returns whether it was the last one.
    fn take(&mut self, piece: Piece, limits: &ProcessLimits) -> bool {
        match piece {
            Piece::Stdout(bytes) => self.stdout.extend_from_slice(&bytes),
            Piece::Stderr(bytes) => self.stderr.keep(&bytes, limits.stderr),
            Piece::Ended(_) => {}
            Piece::Exit(_) => return true,
        }
        false
    }

    /// Takes the next complete line, without its end.
    fn line(&mut self) -> Option<BytesMut> {
        let new = &self.stdout[self.searched..];
        match new.iter().position(|byte| *byte == b'\n') {
            None => {
                self.searched = self.stdout.len();
                None
            }
            Some(end) => {
                let mut line = self.stdout.split_to(self.searched + end + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                Some(line)
            }
        }
    }
}

impl std::fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.process {
            Process::Here { tree, .. } => write!(f, "Dialogue with {tree:?}"),
            Process::OnProxy(output) => write!(f, "Dialogue on {}", output.proxy()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use devgate_schemas::NullSink;
    use devgate_transports::RetryBudget;

    use super::*;

    async fn shell(script: &str) -> Dialogue {
        let program = Program {
            argv: ["sh", "-c", script].map(OsString::from).to_vec(),
            environment: Vec::new(),
            stdin: None,
        };
        Dialogue::start(&program).await.expect("a shell")
    }

    async fn end(dialogue: Dialogue) {
        let budget = RetryBudget::default();
        dialogue.end(&Context::new("t", &NullSink, &budget)).await;
    }

    /// Returns the lines before the one that begins with `=`, and that line.
    async fn request(dialogue: &mut Dialogue, line: &str) -> Result<Vec<String>, DialogueError> {
        let (mut lines, limits) = (
            Vec::new(),
            ProcessLimits {
                stdout: 1000,
                ..ProcessLimits::default()
            },
        );
        let line = Sensitive::new(line.as_bytes().to_vec());
        let on_line = |line: &[u8]| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            line.starts_with(b"=").then_some(())
        };
        dialogue
            .request(&line, &limits, on_line)
            .await
            .map(|()| lines)
    }

    #[tokio::test]
    async fn a_child_answers_requests_until_its_input_ends() {
        let mut dialogue =
            shell("while read -r l; do echo a; echo \"=$l\"; done; echo end >&2").await;
        for word in ["one", "two"] {
            let lines = request(&mut dialogue, &format!("{word}\n")).await;
            assert_eq!(lines, Ok(vec!["a".to_owned(), format!("={word}")]));
        }
        assert!(!dialogue.has_ended());
        end(dialogue).await;
    }

    #[tokio::test]
    async fn the_last_output_of_a_child_is_read_and_its_end_is_noticed() {
        let mut dialogue = shell("read -r l; echo \"=$l\"; echo why >&2; exit 7").await;
        assert_eq!(
            request(&mut dialogue, "x\n").await,
            Ok(vec!["=x".to_owned()])
        );
        assert_eq!(
            request(&mut dialogue, "y\n").await,
            Err(DialogueError::Ended(Exit::Code(7)))
        );
        assert_eq!(dialogue.stderr().bytes, b"why\n");
        assert!(dialogue.has_ended());
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_read_up_to_a_limit() {
        let mut dialogue = shell("read -r l; yes | tr -d '\\n'").await;
        assert_eq!(
            request(&mut dialogue, "x\n").await,
            Err(DialogueError::TooLong)
        );
        let budget = RetryBudget::default();
        dialogue.kill(&Context::new("t", &NullSink, &budget)).await;
    }
}
