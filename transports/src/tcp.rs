//! Opening TCP connections, for all protocols.

use std::io;
use std::time::Duration;

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
) -> Result<TcpStream> {
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
                return Ok(stream);
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
