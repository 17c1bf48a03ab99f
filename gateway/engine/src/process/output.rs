//! The output of a process: passed on while it runs, and kept within limits.

use devgate_schemas::task::CapturedOutput;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// An output stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Receives the output of a process while it runs.
pub trait OutputSink: std::fmt::Debug {
    /// Receives some bytes. They may end in the middle of a line or of a character.
    fn write(&self, stream: Stream, bytes: &[u8]);

    /// Returns a future that waits until the sink accepts more output, or `None` if it always does.
    fn ready(&self) -> Option<BoxFuture<'_, ()>> {
        None
    }
}

/// Discards all output.
#[derive(Clone, Copy, Debug)]
pub struct DiscardOutput;

impl OutputSink for DiscardOutput {
    fn write(&self, _: Stream, _: &[u8]) {}
}

/// The read size of an output: at first, and when there is more.
const SMALL_READ: usize = 4 * 1024;
const LARGE_READ: usize = 64 * 1024;

/// Reads an output to its end and keeps its first bytes. The child does not block, except while the sink accepts no
/// more.
pub(super) async fn capture<H: OutputSink + ?Sized>(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
    into: &mut CapturedOutput,
    mut tap: OutputTap<'_, H>,
) {
    let Some(mut from) = from else { return };
    // Most tasks write little, and many run at once. Large outputs are read in larger pieces.
    let mut buffer = vec![0; SMALL_READ];
    // A read error of a pipe counts as its end.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        into.keep(&buffer[..read], limit);
        tap.write(&buffer[..read]).await;
        if read == buffer.len() {
            buffer.resize(LARGE_READ, 0);
        }
    }
}

/// Passes one output of a process to a sink.
pub(super) struct OutputTap<'h, H: ?Sized> {
    pub(super) sink: &'h H,
    pub(super) stream: Stream,
    /// Whether the process has ended.
    pub(super) process_ended: watch::Receiver<bool>,
}

impl<H: OutputSink + ?Sized> OutputTap<'_, H> {
    /// Passes some bytes to the sink, and waits until it accepts more. After the end of the process, there is no wait,
    /// because the rest of its output would be lost.
    async fn write(&mut self, bytes: &[u8]) {
        self.sink.write(self.stream, bytes);
        if let Some(ready) = self.sink.ready() {
            tokio::select! {
                () = ready => {}
                _ = self.process_ended.wait_for(|process_ended| *process_ended) => {}
            }
        }
    }
}
