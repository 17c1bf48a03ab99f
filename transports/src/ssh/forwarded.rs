//! A connection that a host has opened for us (`direct-tcpip`, RFC 4254, 7.2), beside others on the same SSH connection.

use std::any::Any;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// The maximum of unread output of a program in bytes.
///
/// An SSH connection delivers in order, so unread data of one channel would block all others.
pub(crate) const MOST_UNREAD: usize = 32 * 1024 * 1024;

/// The maximum of unread data of a forwarded connection in bytes: more than the largest answer that any session takes
/// (64 MiB), because a session may be slower than the connection.
const MOST_UNREAD_FORWARDED: usize = 80 * 1024 * 1024;

/// The limit for closing the channel.
const LEAVING: Duration = Duration::from_secs(5);

/// A forwarded connection. Dropping it closes the channel.
pub(crate) struct Forwarded {
    received: mpsc::UnboundedReceiver<io::Result<Bytes>>,
    /// The received bytes that are being read.
    current: Bytes,
    unread: Arc<AtomicUsize>,
    writer: Pin<Box<dyn AsyncWrite + Send + Sync>>,
    /// Keeps the SSH connection open.
    _carrier: Arc<dyn Any + Send + Sync>,
    _open: oneshot::Sender<()>,
}

impl Forwarded {
    /// Creates the stream over an open channel. `carrier` keeps the SSH connection open as long as the stream.
    pub(crate) fn new(channel: Channel<Msg>, carrier: Arc<dyn Any + Send + Sync>) -> Self {
        let (reading, writing) = channel.split();
        let writer = Box::pin(writing.make_writer());
        let (sender, received) = mpsc::unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let (open, dropped) = oneshot::channel();
        tokio::spawn(receive(
            reading,
            writing,
            sender,
            Arc::clone(&unread),
            dropped,
        ));
        Self {
            received,
            current: Bytes::new(),
            unread,
            writer,
            _carrier: carrier,
            _open: open,
        }
    }
}

/// Reads everything that arrives on the channel until the stream is dropped, so that the SSH connection never waits for
/// its reader.
async fn receive(
    mut reading: ChannelReadHalf,
    writing: ChannelWriteHalf<Msg>,
    sender: mpsc::UnboundedSender<io::Result<Bytes>>,
    unread: Arc<AtomicUsize>,
    mut dropped: oneshot::Receiver<()>,
) {
    // After the end of the data, the channel stays open for our side.
    let mut sender = Some(sender);
    loop {
        let message = tokio::select! {
            message = reading.wait() => message,
            _ = &mut dropped => break,
        };
        let ended = match message {
            Some(ChannelMsg::Data { data }) => {
                let waiting = unread.fetch_add(data.len(), Ordering::Relaxed);
                let received = if waiting > MOST_UNREAD_FORWARDED {
                    Err(io::ErrorKind::QuotaExceeded.into())
                } else {
                    Ok(data)
                };
                let is_over = received.is_err();
                if let Some(sender) = &sender {
                    // The receiver is gone only together with the stream.
                    drop(sender.send(received));
                }
                is_over
            }
            Some(ChannelMsg::Eof) => {
                sender = None;
                false
            }
            Some(ChannelMsg::Close) => return,
            None => {
                // The SSH connection has ended: what has arrived may be incomplete.
                if let Some(sender) = &sender {
                    drop(sender.send(Err(io::ErrorKind::ConnectionReset.into())));
                }
                return;
            }
            Some(_) => false,
        };
        if ended {
            break;
        }
    }
    // From here on nothing reads the channel, and the connection must not wait for it.
    drop(reading);
    let _ = timeout(LEAVING, writing.close()).await;
}

impl AsyncRead for Forwarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.current.is_empty() {
            match ready!(this.received.poll_recv(cx)) {
                Some(Ok(bytes)) => this.current = bytes,
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = this.current.len().min(buffer.remaining());
        buffer.put_slice(&this.current[..length]);
        this.current.advance(length);
        this.unread.fetch_sub(length, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Forwarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writer.as_mut().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.as_mut().poll_shutdown(cx)
    }
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarded").finish_non_exhaustive()
    }
}
