//! The terminal size that devices are told.

/// The width that devices are told. A carriage return goes back to the beginning of a row and not of the
/// line: line editors use it to continue in the next row.
pub(crate) const COLUMNS: usize = 511;

/// The number of rows that devices are told. It is large, so that output has few pages.
pub(crate) const ROWS: usize = 10_000;

/// The widths that devices assume if they do not ask for the size, or ignore it. Their line editors fill a row,
/// print a blank and a carriage return, and continue in the next row.
pub(crate) const USUAL_WIDTHS: [usize; 2] = [80, 132];

/// Returns whether a line with this many columns may end at the edge of the screen that the device assumes.
pub(crate) fn may_be_edge(columns: usize) -> bool {
    let is_edge = |width: &usize| columns > 0 && columns.is_multiple_of(*width);
    USUAL_WIDTHS.iter().chain(&[COLUMNS]).any(is_edge)
}
