//! How results are printed.

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Human,
    /// For programs, one document: everything a person can read is in it.
    Json,
    /// For programs, one target a line.
    Jsonl,
}
