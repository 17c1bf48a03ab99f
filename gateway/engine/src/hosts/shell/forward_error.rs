//! Why a connection through a host was not opened.

use devgate_transports::error::{ForwardingObstacle, ForwardingRefused};
use devgate_transports::{Destination, Error};

/// Why a host did not lead on to another place.
#[derive(Debug)]
pub(crate) enum ForwardError {
    /// The host cannot be reached any more.
    Host(Error),
    /// The host works, but did not connect to the destination.
    Destination(Error),
}

/// Returns the error for a destination that a program on the host was to connect to, where the host had no session for
/// the program ([`Error::NoMoreSessions`]).
pub(super) fn no_session(error: Error, to: Destination<'_>) -> Error {
    match error {
        Error::NoMoreSessions { peer: via, message } => {
            Error::ForwardingRefused(Box::new(ForwardingRefused {
                peer: to.to_string(),
                via,
                obstacle: ForwardingObstacle::NoSession,
                message,
            }))
        }
        other => other,
    }
}
