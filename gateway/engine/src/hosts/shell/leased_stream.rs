//! A connection that a program on a host has opened: it takes the program's room until it ends.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use devgate_transports::ByteStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that holds something until it is dropped.
pub(super) struct LeasedStream<L> {
    stream: Box<dyn ByteStream>,
    _lease: L,
}

impl<L> LeasedStream<L> {
    pub(super) fn new(stream: Box<dyn ByteStream>, lease: L) -> Self {
        Self {
            stream,
            _lease: lease,
        }
    }
}

impl<L: Unpin> AsyncRead for LeasedStream<L> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<L: Unpin> AsyncWrite for LeasedStream<L> {
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
