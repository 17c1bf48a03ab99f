//! The parsed parts of a configuration file.

use std::fmt;
use std::path::PathBuf;

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// The start of a block for the hosts that match these patterns.
    Host(Vec<String>),
    /// The start of a block that is skipped.
    Match,
    /// The contents of included files, one list for each file.
    Include(Vec<Vec<Self>>),
    Keyword {
        /// In lower case.
        name: String,
        words: Vec<String>,
        place: Place,
    },
}

/// A line of a file, for messages.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}
