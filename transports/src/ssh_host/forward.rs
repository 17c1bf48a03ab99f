//! Connections from a host to others, over the connection that carries its programs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

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
        });
        let opening = async { receiver.await.unwrap_or(Err(russh::Error::Disconnect)) };
        let channel = self.ssh.forwarded(to, opening, limit, deadline).await?;
        Ok(Box::new(Forwarded::new(channel, Arc::clone(self) as _)))
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
