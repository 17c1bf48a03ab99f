//! What a program can be asked to do: the actions of its contract.

use std::fmt;

/// An action, named on the program's command line or in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// To say what it is.
    Schema,
    /// To stay, and to answer requests until nobody can make more.
    Serve,
    /// Of a transport: to test that the target answers.
    Verify,
    /// Of a transport: to tell what the target is.
    Facts,
    /// Of a resource type: to read resources.
    Get,
    /// Of a resource type: to bring resources to a state.
    Set,
    /// Of a resource type: to bring values into the one form that `get` returns.
    Canonicalize,
    /// Of a resource type: to say whether a property is as desired.
    Insync,
}

impl Action {
    /// Its name in the contract.
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
