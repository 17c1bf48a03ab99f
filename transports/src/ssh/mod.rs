//! Connections over SSH: what every protocol over it shares.
//!
//! russh waits without end in several places (a silent host, a host that asks for a new password),
//! so everything here has a deadline.

pub(crate) mod algorithm_list;
mod algorithms;
mod auth;
mod certificate;
mod channel;
mod connect;
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
pub(crate) mod settings;
mod socket;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::TransportSchema;
use russh::Disconnect;
use russh::client::Handle;
use tokio::time::timeout;

use handler::Client;
pub(crate) use peer::Peer;
use socket::Owner;

/// How a device is reached over SSH: what the schemas of all transports over it are built on.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));

/// An authenticated connection.
pub(crate) struct Ssh {
    peer: Peer,
    /// How long opening may take, for messages.
    limit: Duration,
    /// How long a goodbye may take.
    goodbye: Duration,
    handle: Handle<Client>,
    owner: Owner,
    /// The connection that this one goes through.
    via: Option<Box<Self>>,
}

impl Ssh {
    /// The other end, for errors.
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The host's version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.peer.version()
    }

    /// Says goodbye and lets go, from the far end to the near one. Whether it arrives does not
    /// matter.
    pub(crate) async fn close(self) {
        let goodbye = self.goodbye;
        let leaving = async {
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
        let _ = timeout(goodbye, leaving).await;
    }
}

impl fmt::Debug for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ssh")
            .field("peer", &self.peer.name())
            .finish_non_exhaustive()
    }
}
