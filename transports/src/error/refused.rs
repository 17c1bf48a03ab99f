//! The error for a request that a target refuses.

use std::fmt;

use devgate_schemas::Value;

use super::text::one_line;

/// A request that the target refused, or that failed according to the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The peer.
    pub peer: String,
    /// The request without its body: `GET /api/v1/servers`, `edit-config`.
    pub request: String,
    /// The protocol's name of the error: `404 Not Found`, `data-exists`.
    pub status: String,
    /// The target's message, unchanged.
    pub message: String,
    /// An explanation and advice, if available. It is empty or a sentence of its own.
    pub hint: String,
    /// The protocol's error in machine-readable form: `rpc-error`s, an answer's body.
    pub details: Option<Value>,
    /// Whether the target is only busy now.
    pub busy: bool,
}

impl Refused {
    /// Returns whether the status means that the requested object does not exist (RFC 9110, 15.5.5 and 15.5.11).
    pub fn is_absence(&self) -> bool {
        let mut words = self.status.split(' ');
        matches!(words.next(), Some("404" | "410"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            request,
            status,
            message,
            hint,
            ..
        } = self;
        write!(f, "{peer} refuses `{request}` ({status})")?;
        if !message.trim().is_empty() {
            write!(f, ": {}", one_line(message))?;
        }
        if !hint.is_empty() {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
