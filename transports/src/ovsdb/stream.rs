//! Connecting to a server with TLS, TCP or a Unix socket.

use tokio::time::Instant;

use super::settings::{Endpoint, Settings};
use crate::{ByteStream, Context, Destination, Result, dial};

/// Opens the connection.
pub(super) async fn connect(
    ctx: &Context<'_>,
    settings: &Settings,
    deadline: Instant,
) -> Result<Box<dyn ByteStream>> {
    let limit = settings.timeout;
    match &settings.endpoint {
        Endpoint::Tls { host, port, tls } => {
            let stream = dial::connect(ctx, Destination::tcp(host, *port), limit, deadline).await?;
            let stream = tls.connect(stream, (host, *port), limit, deadline).await?;
            Ok(Box::new(stream))
        }
        Endpoint::Tcp { host, port } => {
            dial::connect(ctx, Destination::tcp(host, *port), limit, deadline).await
        }
        Endpoint::Unix(path) => dial::connect(ctx, Destination::Unix(path), limit, deadline).await,
    }
}
