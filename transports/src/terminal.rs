//! The terminal that devices are told of.

/// How wide the terminal is that devices are told of. A carriage return goes back to the beginning
/// of a row, not of a line: line editors use it to go on in the next row.
pub(crate) const COLUMNS: usize = 511;

/// How many rows devices are told that the terminal has: many, so that few pages are made.
pub(crate) const ROWS: usize = 10_000;

/// How wide devices take a terminal to be that do not ask, or do not listen. Their line editors fill a row,
/// print a blank, and return: what follows is in the next row.
pub(crate) const USUAL_WIDTHS: [usize; 2] = [80, 132];

/// Whether a line of so many columns may end at the edge of the screen that the device takes the terminal for.
pub(crate) fn may_be_edge(columns: usize) -> bool {
    let is_edge = |width: &usize| columns > 0 && columns.is_multiple_of(*width);
    USUAL_WIDTHS.iter().chain(&[COLUMNS]).any(is_edge)
}
