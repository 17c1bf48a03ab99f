//! Finds the places where a text was truncated.

/// The mark at the end of a truncated text.
pub const CUT: &str = "...";

/// Only this many bytes at the end of a text are searched: a message that quotes truncated text is not
/// longer.
const MAX_SEARCHED: usize = 128 * 1024;

/// The maximum number of marks that are searched, because a peer can send many.
const MAX_CUTS: usize = 64;

/// Truncates a text to `most` characters and marks the cut.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

/// Returns the places where a text may have been truncated, the last one first.
pub(super) fn cuts(text: &[u8]) -> impl Iterator<Item = usize> {
    let first = text.len().saturating_sub(MAX_SEARCHED);
    // One of any three adjacent bytes is a byte of the mark: where it is not, the other two need not be
    // examined.
    let steps = (first..text.len()).rev().step_by(CUT.len());
    let begins = steps.filter(|at| text[*at] == b'.').flat_map(move |at| {
        let from = at.saturating_sub(CUT.len() - 1).max(first);
        (from..=at).rev()
    });
    begins
        .filter(|at| text[*at..].starts_with(CUT.as_bytes()))
        .take(MAX_CUTS)
}
