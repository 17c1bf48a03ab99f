//! Connecting to a server with TLS, TCP or a Unix socket.

use tokio::time::Instant;

use super::settings::{Endpoint, Settings};
use crate::{ByteStream, Context, Destination, Result, tcp};

/// Opens the connection.
pub(super) async fn connect(
    ctx: &Context<'_>,
    settings: &Settings,
    deadline: Instant,
) -> Result<Box<dyn ByteStream>> {
    let limit = settings.timeout;
    match &settings.endpoint {
        Endpoint::Tls { host, port, tls } => {
            let stream = tcp::connect(ctx, host, *port, limit, deadline).await?;
            let stream = tls.connect(stream, (host, *port), limit, deadline).await?;
            Ok(Box::new(stream))
        }
        Endpoint::Tcp { host, port } => tcp::connect(ctx, host, *port, limit, deadline).await,
        Endpoint::Unix(path) => Destination::Unix(path).connect(ctx, limit, deadline).await,
    }
}
