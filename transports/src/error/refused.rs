//! That a target says no to a request.

use std::fmt;

use devgate_schemas::Value;

use super::text::one_line;

/// A request to which the target said no, or which it says has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Whom.
    pub peer: String,
    /// What was asked, without its body: `GET /api/v1/servers`, `edit-config`.
    pub request: String,
    /// How the protocol names it: `404 Not Found`, `data-exists`.
    pub status: String,
    /// What the target said of it, as it said it.
    pub said: String,
    /// What it means and what to do, where that is known; empty, or a sentence of its own.
    pub hint: String,
    /// The protocol's error as it came, for programs: `rpc-error`s, an answer's body.
    pub details: Option<Value>,
    /// Whether the target only has no time just now.
    pub busy: bool,
}

impl Refused {
    /// Whether it says that what was asked for is not there (RFC 9110, 15.5.5 and 15.5.11).
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
            said,
            hint,
            ..
        } = self;
        write!(f, "{peer} refuses `{request}` ({status})")?;
        if !said.trim().is_empty() {
            write!(f, ": {}", one_line(said))?;
        }
        if !hint.is_empty() {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
