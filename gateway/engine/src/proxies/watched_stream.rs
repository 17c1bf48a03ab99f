//! A connection that remembers whether anything has come from it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use devgate_transports::ByteStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that remembers whether anything has come from it.
pub(super) struct WatchedStream {
    stream: Box<dyn ByteStream>,
    answered: Arc<AtomicBool>,
}

/// Whether anything has come from a connection.
pub(super) struct Answered(Arc<AtomicBool>);

impl WatchedStream {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> (Self, Answered) {
        let answered = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&answered);
        (Self { stream, answered }, Answered(shared))
    }
}

impl Answered {
    /// Whether the connection is closed, and nothing has come from it.
    pub(super) fn was_silent(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && !self.0.load(Ordering::Relaxed)
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.answered.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
