//! Opening Unix sockets.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use crate::error::Phase;
use crate::{Error, Result};

/// Connects to a socket of this node. `limit` is the limit for opening the whole session, for messages.
///
/// # Errors
/// Fails with [`Error::Setting`], with [`Error::Unreachable`], or with [`Error::TimedOut`] at `deadline`.
pub(crate) async fn connect(path: &Path, limit: Duration, deadline: Instant) -> Result<UnixStream> {
    match timeout_at(deadline, UnixStream::connect(path)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(cause)) => Err(refused(path, cause)),
        Err(_) => Err(Error::TimedOut {
            peer: path.display().to_string(),
            phase: Phase::Connection,
            limit,
            hint: ": check that the server runs".to_owned(),
        }),
    }
}

/// Returns the error for a refused connection. A socket left behind by an ended server refuses, too; that is transient.
fn refused(path: &Path, cause: io::Error) -> Error {
    let problem = match cause.kind() {
        io::ErrorKind::NotFound => {
            "there is no such socket: check the path, and that the server runs"
        }
        io::ErrorKind::PermissionDenied => "this user may not use the socket",
        _ => {
            return Error::Unreachable {
                peer: path.display().to_string(),
                cause,
            };
        }
    };
    Error::Setting {
        setting: "socket",
        problem: format!("{}: {problem}", path.display()),
    }
}
