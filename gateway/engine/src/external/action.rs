//! The actions of a program: the requests of its contract.

use std::fmt;

/// An action, given on the program's command line or in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Describes the program.
    Schema,
    /// Keeps the program running to answer requests until its input ends.
    Serve,
    /// Transport: tests that the target answers.
    Verify,
    /// Transport: collects the facts of the target.
    Facts,
    /// Resource type: reads resources.
    Get,
    /// Resource type: brings resources to a state.
    Set,
    /// Resource type: brings values into the canonical form that `get` returns.
    Canonicalize,
    /// Resource type: decides whether a property is in sync.
    Insync,
}

impl Action {
    /// Returns the name in the contract.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Serve => "serve",
            Self::Verify => "verify",
            Self::Facts => "facts",
            Self::Get => "get",
            Self::Set => "set",
            Self::Canonicalize => "canonicalize",
            Self::Insync => "insync",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
