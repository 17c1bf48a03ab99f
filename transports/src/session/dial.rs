//! How the connections of sessions are opened: from this node, or from another place.

use std::fmt;
use std::path::Path;
use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::Context;
use super::hosted_program::{HostedProcess, HostedProgram, ProgramNotStarted};
use crate::error::ProxyProblem;
use crate::{Result, tcp};

/// A bidirectional byte stream: a connection, or a channel that works like one.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + Sync> ByteStream for S {}

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

    /// Starts a program that connects by itself, where the connections of sessions begin. Its files are uploaded before,
    /// unless they are there. Returns `None` when this is this node and the user that runs this process: then the caller
    /// starts the program.
    ///
    /// # Errors
    /// Fails when no proxy can run the program.
    async fn start_program(
        &self,
        ctx: &Context<'_>,
        program: &HostedProgram<'_>,
    ) -> std::result::Result<Option<HostedProcess>, ProgramNotStarted>;

    /// Whether the last connection was not opened because the proxies that may lead to the target had no room for it.
    fn lacks_room(&self) -> bool {
        false
    }

    /// Waits until there is room for a connection, however long that takes. Returns whether there is.
    async fn wait_for_room(&self) -> bool {
        false
    }

    /// Returns the proxy of the last connection, if there is one.
    fn link(&self) -> Option<ProxyLink>;
}

/// A connection to a proxy.
#[async_trait]
pub trait ProxyConnection: fmt::Debug + Send + Sync {
    /// Whether the connection has ended.
    fn is_closed(&self) -> bool;

    /// Whether the proxy answers within this time.
    async fn answers(&self, limit: Duration) -> bool;
}

/// The proxy that a session goes through, for messages.
#[derive(Clone, Debug)]
pub struct ProxyLink {
    /// The name of the proxy.
    pub proxy: String,
    /// The connection to it, which this does not keep open.
    pub connection: Weak<dyn ProxyConnection>,
    /// Other proxies of the pool that were tried in vain before.
    pub setbacks: Vec<ProxyProblem>,
}

/// How long a proxy may take to prove that it is alive, after something on the way was not answered.
const SILENCE: Duration = Duration::from_secs(2);

impl ProxyLink {
    /// Returns what is wrong with the proxy, after an error of a session through it.
    pub async fn problem(&self) -> Option<&'static str> {
        let connection = self.connection.upgrade();
        match connection.filter(|connection| !connection.is_closed()) {
            None => Some("the connection to this proxy was lost"),
            Some(connection) if !connection.answers(SILENCE).await => {
                Some("this proxy does not answer any more")
            }
            Some(_) => None,
        }
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

impl<'a> Destination<'a> {
    /// Returns a TCP port of a host.
    pub fn tcp(host: &'a str, port: u16) -> Self {
        Self::Tcp { host, port }
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
