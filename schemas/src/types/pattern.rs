//! A regular expression within a type: compiled once and shared.

use std::fmt;
use std::sync::Arc;

use super::error::Fault;
use crate::Regexp;

/// One alternative of a `Pattern`, or the parameter of a `Regexp`. Clones share the compiled form.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Arc<Regexp>);

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Self, Fault> {
        match Regexp::new(source) {
            Ok(regexp) => Ok(Self(Arc::new(regexp))),
            Err(error) => Err(Fault::Argument(error.to_string())),
        }
    }

    pub(super) fn regexp(&self) -> &Regexp {
        &self.0
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.source() == other.0.source()
    }
}

impl fmt::Display for Pattern {
    /// Formats the pattern like Ruby's `inspect`; a pattern that is bound to an encoding shows its options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
