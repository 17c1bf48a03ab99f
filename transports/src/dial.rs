//! Opening a connection from where a context says: with its dialer, or from this node.

use std::time::Duration;

use tokio::time::Instant;

use crate::{ByteStream, Context, Destination, Error, Result, tcp, unix};

/// Connects with the context's dialer, or from this node.
///
/// # Errors
/// Fails when no connection can be opened before `deadline`. `limit` is the limit as shown in messages.
pub async fn connect(
    ctx: &Context<'_>,
    to: Destination<'_>,
    limit: Duration,
    deadline: Instant,
) -> Result<Box<dyn ByteStream>> {
    match (ctx.dialer(), to) {
        (Some(dialer), to) => dialer.dial(ctx, to, limit, deadline).await,
        (None, Destination::Tcp { host, port }) => {
            Ok(Box::new(tcp::connect(host, port, limit, deadline).await?))
        }
        (None, Destination::Udp { .. }) => Err(Error::Unsupported(
            "datagrams from this node need no stream".to_owned(),
        )),
        (None, Destination::Unix(path)) => {
            Ok(Box::new(unix::connect(path, limit, deadline).await?))
        }
    }
}
