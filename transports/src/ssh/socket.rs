//! A stream that ends when its owner is dropped, or when nothing can be written for too long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Instant, Interval, interval_at};

/// A stream whose two directions end when its [`StreamOwner`] is dropped.
///
/// russh reads the stream in a task of its own. During a key exchange, that task reacts to nothing but
/// the peer, so a silent peer would keep the task and its socket forever. While the task writes, it does
/// not even check its keepalives, so a peer that stops reading must be detected here.
pub(super) struct OwnedStream<S> {
    stream: S,
    released: oneshot::Receiver<()>,
    /// How long writes may be blocked before the peer counts as gone.
    write_timeout: Option<Duration>,
    /// The timer for that, while a write is blocked.
    blocked: Option<Interval>,
    /// Whether the first bytes are still to come.
    is_unread: bool,
    has_http_peer: Arc<AtomicBool>,
}

/// Keeps a stream open. The stream ends when this is dropped.
#[derive(Debug)]
pub(super) struct StreamOwner {
    _keeps_open: oneshot::Sender<()>,
    has_http_peer: Arc<AtomicBool>,
}

impl StreamOwner {
    /// Returns whether the peer began as a web server does that does not understand the client.
    pub(super) fn has_http_peer(&self) -> bool {
        self.has_http_peer.load(Ordering::Relaxed)
    }
}

impl<S> OwnedStream<S> {
    pub(super) fn new(stream: S, write_timeout: Option<Duration>) -> (Self, StreamOwner) {
        let (keeps_open, released) = oneshot::channel();
        let has_http_peer = Arc::<AtomicBool>::default();
        let owned = Self {
            stream,
            released,
            write_timeout,
            blocked: None,
            is_unread: true,
            has_http_peer: Arc::clone(&has_http_peer),
        };
        (
            owned,
            StreamOwner {
                _keeps_open: keeps_open,
                has_http_peer,
            },
        )
    }

    /// Waits until writes have been blocked for too long.
    fn poll_blocked(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(write_timeout) = self.write_timeout else {
            return Poll::Pending;
        };
        let blocked = self
            .blocked
            .get_or_insert_with(|| interval_at(Instant::now() + write_timeout, write_timeout));
        ready!(blocked.poll_tick(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn is_released(&mut self, cx: &mut Context<'_>) -> bool {
        // The receiver must not be polled again after it was ready.
        self.released.is_terminated() || Pin::new(&mut self.released).poll(cx).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for OwnedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_released(cx) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if self.is_unread {
            self.is_unread = false;
            let is_http = buffer.filled()[before..].starts_with(b"HTTP/");
            self.has_http_peer.store(is_http, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for OwnedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_released(cx) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        match Pin::new(&mut self.stream).poll_write(cx, bytes) {
            Poll::Pending => self.poll_blocked(cx),
            written => {
                self.blocked = None;
                written
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // An error here must not hide why the connection ended, which is known by now. A peer that no
        // longer reads does not read the end either.
        if self.blocked.is_none() {
            let _ = ready!(Pin::new(&mut self.stream).poll_shutdown(cx));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_silent_peer_does_not_keep_the_stream_open() {
        let (near, _far) = duplex(64);
        let (mut stream, owner) = OwnedStream::new(near, None);
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

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_nothing_is_abandoned() {
        let (near, mut far) = duplex(64);
        let write_timeout = Duration::from_secs(60);
        let (mut stream, _owner) = OwnedStream::new(near, Some(write_timeout));
        let started = Instant::now();
        let error = stream.write_all(&[0; 65]).await.expect_err("stuck");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= write_timeout);
        stream.shutdown().await.expect("it ends at once");
        // A peer that reads a little now and then is alive.
        let mut taken = [0; 64];
        far.read_exact(&mut taken).await.expect("read");
        let (near, mut far) = duplex(64);
        let (mut stream, _owner) = OwnedStream::new(near, Some(write_timeout));
        let slowly = async {
            for _ in 0..10 {
                tokio::time::advance(write_timeout / 2).await;
                far.read_exact(&mut taken).await.expect("read");
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 640]), slowly);
        written.expect("taken");
    }
}
