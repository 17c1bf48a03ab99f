//! How the connections of sessions are opened: from this node, or from another place.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::program_host::ProgramHost;
use crate::{ByteStream, Context, Error, Result, tcp, unix};

/// Opens the connections of sessions from another place than this node.
///
/// A session that is opened in a [`Context`] with a dialer uses it for all its connections. A connection may outlive the
/// dialer. Host keys, certificates and logins are checked and sent by this node, over the connection.
#[async_trait]
pub trait Dial: fmt::Debug + Send + Sync {
    /// Opens a connection. `limit` is the limit for opening the whole session, for messages.
    ///
    /// # Errors
    /// Fails with an error that names the host on the way, or the destination if that host cannot reach it.
    async fn dial(
        &self,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>>;

    /// Returns where programs run that connect by themselves, or `None` if no program can run there.
    fn program_host(&self) -> Option<&dyn ProgramHost> {
        None
    }
}

/// The other end of a connection. Names and paths are resolved where the connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// A TCP port of a host.
    Tcp {
        /// The name or the address.
        host: &'a str,
        /// The port.
        port: u16,
    },
    /// A UDP port of a host. In the stream, the length of each datagram precedes it in two bytes, in network order. An
    /// empty datagram means that nothing listens at the port.
    Udp {
        /// The name or the address.
        host: &'a str,
        /// The port.
        port: u16,
    },
    /// A Unix socket.
    Unix(&'a Path),
}

impl Destination<'_> {
    /// Connects with the context's dialer, or from this node.
    ///
    /// # Errors
    /// Fails when no connection can be opened before `deadline`. `limit` is the limit as shown in messages.
    pub async fn connect(
        self,
        ctx: &Context<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>> {
        match (ctx.dialer(), self) {
            (Some(dialer), to) => dialer.dial(ctx, to, limit, deadline).await,
            (None, Self::Tcp { host, port }) => {
                let stream = tcp::connect_from_here(host, port, limit, deadline).await?;
                Ok(Box::new(stream))
            }
            (None, Self::Udp { .. }) => Err(Error::Unsupported(
                "datagrams from this node need no stream".to_owned(),
            )),
            (None, Self::Unix(path)) => Ok(Box::new(unix::connect(path, limit, deadline).await?)),
        }
    }
}

/// Shows `host:port` or the path, as messages name a target.
impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } | Self::Udp { host, port } => {
                f.write_str(&tcp::peer(host, *port))
            }
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
