//! SSH connections: the parts that all protocols over SSH share.
//!
//! russh can wait forever in several places (a silent host, a host that asks for a new password),
//! so every operation here has a deadline.

pub(crate) mod algorithm_list;
mod algorithms;
mod auth;
mod certificate;
mod channel;
mod connect;
pub(crate) mod forwarded;
mod handler;
mod host_keys;
mod identities;
mod jump;
mod known_hosts;
mod path_tokens;
mod peer;
mod private_key;
pub(crate) mod read;
#[cfg(test)]
pub(crate) mod server;
pub(crate) mod setting_names;
pub(crate) mod settings;
mod socket;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::TransportSchema;
use russh::Disconnect;
use russh::client::Handle;
use tokio::time::timeout;

use handler::EventHandler;
pub(crate) use peer::Peer;
use socket::StreamOwner;

/// The connection settings that the schemas of all transports over SSH are built on.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));

/// An authenticated connection.
pub(crate) struct Ssh {
    peer: Peer,
    /// The limit for opening the connection, for messages.
    limit: Duration,
    /// The limit for disconnecting.
    disconnect_timeout: Duration,
    handle: Handle<EventHandler>,
    owner: StreamOwner,
    /// The connection to the jump host that this connection goes through.
    via: Option<Box<Self>>,
}

impl Ssh {
    /// Returns the other end, for errors.
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// Returns whether the host answers a keepalive within this time.
    pub(crate) async fn answers(&self, limit: Duration) -> bool {
        matches!(timeout(limit, self.handle.send_ping()).await, Ok(Ok(())))
    }

    /// Returns the host's version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.peer.version()
    }

    /// Disconnects from the target, then from each jump host, the nearest last. It does not matter whether
    /// the disconnect message arrives.
    pub(crate) async fn close(self) {
        let disconnect_timeout = self.disconnect_timeout;
        let disconnecting = async {
            let mut next = Some(Box::new(self));
            while let Some(ssh) = next.take() {
                let Self {
                    handle, owner, via, ..
                } = *ssh;
                let _ = handle.disconnect(Disconnect::ByApplication, "", "en").await;
                let _ = handle.await;
                drop(owner);
                next = via;
            }
        };
        let _ = timeout(disconnect_timeout, disconnecting).await;
    }
}

impl fmt::Debug for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ssh")
            .field("peer", &self.peer.name())
            .finish_non_exhaustive()
    }
}
