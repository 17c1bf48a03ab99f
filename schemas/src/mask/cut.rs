//! Where texts were cut.

/// What stands at the end of a text whose rest was cut off.
pub const CUT: &str = "...";

/// So much of a text's end is looked at: what is longer is no message that quotes what was cut.
const LOOKED_AT: usize = 128 * 1024;

/// So many marks of a message are looked at: a peer can send many.
const MOST: usize = 64;

/// The beginning of a text, marked where more of it was cut off.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

/// Where a text may have been cut, the last place first.
pub(super) fn cuts(text: &[u8]) -> impl Iterator<Item = usize> {
    let first = text.len().saturating_sub(LOOKED_AT);
    // One of so many bytes in a row is one of the mark's: no other is looked at where it is none.
    let steps = (first..text.len()).rev().step_by(CUT.len());
    let begins = steps.filter(|at| text[*at] == b'.').flat_map(move |at| {
        let from = at.saturating_sub(CUT.len() - 1).max(first);
        (from..=at).rev()
    });
    begins
        .filter(|at| text[*at..].starts_with(CUT.as_bytes()))
        .take(MOST)
}
