//! Connections from a host to others, over the connection that carries its programs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::SshHost;
use crate::ssh::forwarded::Forwarded;
use crate::{ByteStream, Destination, Result};

impl SshHost {
    /// Connects from the host to a port of another host, or to one of its own sockets, without a program. The stream keeps
    /// this connection open. `limit` is the time limit as shown in messages.
    ///
    /// # Errors
    /// Fails with [`Error::ForwardingRefused`](crate::Error::ForwardingRefused) or
    /// [`Error::TimedOut`](crate::Error::TimedOut) for the destination, with [`Error::Closed`](crate::Error::Closed) for
    /// this host.
    pub async fn forward(
        self: &Arc<Self>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>> {
        let (sender, receiver) = oneshot::channel();
        let (carrier, owned) = (Arc::clone(self), Owned::from(to));
        // It outlives a caller that gives up, because a channel that opens late must be closed.
        tokio::spawn(async move {
            let opened = carrier.ssh.direct(owned.borrowed()).await;
            if let Err(Ok(channel)) = sender.send(opened) {
                let _ = channel.close().await;
            }
            carrier.end_collecting().await;
        });
        let opening = async { receiver.await.unwrap_or(Err(russh::Error::Disconnect)) };
        let channel = self.ssh.forwarded(to, opening, limit, deadline).await?;
        Ok(Box::new(Forwarded::new(channel, Arc::clone(self) as _)))
    }
}

/// From which round trip on a host counts as far away.
const FAR: Duration = Duration::from_millis(5);

/// How long the program that does nothing may take.
const NOTHING: Duration = Duration::from_secs(5);

impl SshHost {
    /// Makes OpenSSH's server send small packets at once. It collects them (RFC 896) until the first program starts on the
    /// connection. If the host is far away, that delays each answer by up to two round trips. A program that does nothing
    /// ends it. It does not matter whether the host permits programs.
    async fn end_collecting(&self) {
        if self.has_run_program.swap(true, Ordering::Relaxed) {
            return;
        }
        let begun = Instant::now();
        if !self.ssh.answers(NOTHING).await || begun.elapsed() < FAR {
            return;
        }
        if let Ok(mut channel) = self.ssh.program(":", self.deadline()).await {
            let ending = async { while channel.wait().await.is_some() {} };
            let _ = timeout(NOTHING, ending).await;
            let _ = timeout(NOTHING, channel.close()).await;
        }
    }
}

/// A [`Destination`] that outlives its caller.
enum Owned {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl From<Destination<'_>> for Owned {
    fn from(to: Destination<'_>) -> Self {
        match to {
            Destination::Tcp { host, port } | Destination::Udp { host, port } => Self::Tcp {
                host: host.to_owned(),
                port,
            },
            Destination::Unix(path) => Self::Unix(path.to_owned()),
        }
    }
}

impl Owned {
    fn borrowed(&self) -> Destination<'_> {
        match self {
            Self::Tcp { host, port } => Destination::Tcp { host, port: *port },
            Self::Unix(path) => Destination::Unix(path),
        }
    }
}
