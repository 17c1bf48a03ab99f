//! Connecting to a server with TLS, TCP or a Unix socket.

use std::io;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use super::settings::{Endpoint, Settings};
use crate::error::Phase;
use crate::{ByteStream, Context, Destination, Error, Result, tcp};

/// Opens the connection.
pub(super) async fn connect(
    ctx: &Context<'_>,
    settings: &Settings,
    deadline: Instant,
) -> Result<Box<dyn ByteStream>> {
    match &settings.endpoint {
        Endpoint::Tls { host, port, tls } => {
            let limit = settings.timeout;
            let stream = tcp::connect(ctx, host, *port, limit, deadline).await?;
            let stream = tls.connect(stream, (host, *port), limit, deadline).await?;
            Ok(Box::new(stream))
        }
        Endpoint::Tcp { host, port } => {
            let stream = tcp::connect(ctx, host, *port, settings.timeout, deadline).await?;
            Ok(Box::new(stream))
        }
        Endpoint::Unix(path) => match ctx.dialer() {
            Some(dialer) => {
                let to = Destination::Unix(path);
                dialer.dial(ctx, to, settings.timeout, deadline).await
            }
            None => unix(settings, path, deadline).await,
        },
    }
}

async fn unix(
    settings: &Settings,
    path: &PathBuf,
    deadline: Instant,
) -> Result<Box<dyn ByteStream>> {
    match timeout_at(deadline, UnixStream::connect(path)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(cause)) => Err(refused(settings, path, cause)),
        Err(_) => Err(Error::TimedOut {
            peer: settings.peer(),
            phase: Phase::Connection,
            limit: settings.timeout,
            hint: ": check that the server runs".to_owned(),
        }),
    }
}

/// Returns the error for a refused connection. A socket left behind by an ended server refuses, too; that is transient.
fn refused(settings: &Settings, path: &Path, cause: io::Error) -> Error {
    let problem = match cause.kind() {
        io::ErrorKind::NotFound => {
            "there is no such socket: check the path, and that the server runs"
        }
        io::ErrorKind::PermissionDenied => "this user may not use the socket",
        _ => {
            return Error::Unreachable {
                peer: settings.peer(),
                cause,
            };
        }
    };
    Error::Setting {
        setting: "socket",
        problem: format!("{}: {problem}", path.display()),
    }
}
