//! Opening TCP connections, for all protocols.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::error::Phase;
use crate::{Error, Result, resolve};

/// Returns `host:port`, as messages name a target. An IPv6 address is in brackets.
pub(crate) fn peer(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Connects from this node, to the first of the host's addresses that accepts a connection.
///
/// `limit` is the limit for opening the whole session, for messages.
///
/// # Errors
/// Fails with [`Error::Resolve`], with [`Error::Unreachable`], or with [`Error::TimedOut`] at `deadline`.
pub(crate) async fn connect(
    host: &str,
    port: u16,
    limit: Duration,
    deadline: Instant,
) -> Result<Connection> {
    let peer = peer(host, port);
    let late = || Error::TimedOut {
        peer: peer.clone(),
        phase: Phase::Connection,
        limit,
        hint: ": check `host` and `port`, and what filters the way to it".to_owned(),
    };
    let unknown = |cause| Error::Resolve {
        host: host.to_owned(),
        cause,
    };
    let addresses = resolve::addresses(host, port, deadline)
        .await
        .map_err(unknown)?;
    let mut last = None;
    for (index, address) in addresses.iter().enumerate() {
        // An address that does not answer must leave time for the others.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Requests are small writes. Collecting them would only cause delays.
                let _ = stream.set_nodelay(true);
                return Ok(Connection(stream));
            }
            Ok(Err(cause)) => {
                last = Some(Error::Unreachable {
                    peer: peer.clone(),
                    cause,
                });
            }
            Err(_) => last = Some(late()),
        }
    }
    Err(last.unwrap_or_else(|| unknown(io::Error::other("no address"))))
}

/// A TCP connection that acknowledges at once what is read.
///
/// A peer that collects small writes (RFC 896) sends the second part of an answer only when the first one is acknowledged.
/// OpenSSH's server does that while it forwards connections and runs no program. The system would delay the
/// acknowledgement by up to 40 ms.
pub(crate) struct Connection(TcpStream);

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.0).poll_read(cx, buffer));
        // The system forgets it with the next packet that it sends.
        let _ = self.0.set_quickack(true);
        Poll::Ready(read)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_is_read_is_acknowledged_at_once_however_long_the_dialogue() {
        let server = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = server.local_addr().expect("it is bound").port();
        let (limit, deadline) = (
            Duration::from_secs(5),
            Instant::now() + Duration::from_secs(5),
        );
        let connecting = connect("127.0.0.1", port, limit, deadline);
        let (client, accepted) = tokio::join!(connecting, server.accept());
        let (mut client, (mut peer, _)) =
            (client.expect("it listens"), accepted.expect("a client"));
        // The system takes a dialogue for a reason to delay acknowledgements.
        for _ in 0..30 {
            client.write_all(b"?").await.expect("it is open");
            let mut byte = [0];
            peer.read_exact(&mut byte).await.expect("a question");
            peer.write_all(b"!").await.expect("it is open");
            client.read_exact(&mut byte).await.expect("an answer");
            assert!(client.0.quickack().expect("Linux has it"));
        }
    }
}
