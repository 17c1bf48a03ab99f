//! The terminal that devices are told of.

/// How wide the terminal is that devices are told of. A carriage return goes back to the beginning
/// of a row, not of a line: line editors use it to go on in the next row.
pub(crate) const COLUMNS: usize = 511;

/// How many rows devices are told that the terminal has: many, so that few pages are made.
pub(crate) const ROWS: usize = 10_000;
