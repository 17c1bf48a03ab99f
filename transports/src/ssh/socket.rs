//! A stream that ends when its owner lets go of it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

/// A stream whose two directions end when its [`Owner`] is dropped.
///
/// russh reads the stream in a task of its own. During a key exchange that task heeds nothing but
/// the peer, and a silent peer would keep it and its socket for ever.
pub(super) struct Owned<S> {
    stream: S,
    released: oneshot::Receiver<()>,
}

/// Keeps a stream open.
#[derive(Debug)]
pub(super) struct Owner {
    _held: oneshot::Sender<()>,
}

impl<S> Owned<S> {
    pub(super) fn new(stream: S) -> (Self, Owner) {
        let (held, released) = oneshot::channel();
        (Self { stream, released }, Owner { _held: held })
    }

    fn is_released(&mut self, cx: &mut Context<'_>) -> bool {
        // The receiver must not be polled again after it was ready.
        self.released.is_terminated() || Pin::new(&mut self.released).poll(cx).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Owned<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_released(cx) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Owned<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_released(cx) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_silent_peer_keeps_nothing_open() {
        let (near, _far) = duplex(64);
        let (mut stream, owner) = Owned::new(near);
        let reading = tokio::spawn(async move {
            let read = stream.read_u8().await.map_err(|error| error.kind());
            (
                read,
                stream.write_all(b"x").await.map_err(|error| error.kind()),
            )
        });
        tokio::task::yield_now().await;
        drop(owner);
        let (read, write) = reading.await.expect("no panic");
        assert_eq!(read, Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(write, Err(io::ErrorKind::BrokenPipe));
    }
}
