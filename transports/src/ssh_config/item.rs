//! What a file consists of, as it is read.

use std::fmt;
use std::path::PathBuf;

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// The beginning of a block for the hosts that fit these patterns.
    Host(Vec<String>),
    /// The beginning of a block that is skipped.
    Match,
    /// The contents of other files, each for itself.
    Include(Vec<Vec<Self>>),
    Keyword {
        /// In small letters.
        name: String,
        words: Vec<String>,
        place: Place,
    },
}

/// A line of a file.
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
