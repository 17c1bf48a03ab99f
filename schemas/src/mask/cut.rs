//! Where texts were cut.

/// What stands at the end of a text whose rest was cut off.
pub const CUT: &str = "...";

/// In a longer text only the end is looked at: it is no message that quotes what was cut.
const LONGEST: usize = 64 * 1024;

/// So many marks of a message are looked at: a peer can send many.
const MOST: usize = 64;

/// The beginning of a text, marked where more of it was cut off.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

/// Where a text may have been cut.
pub(super) fn cuts(text: &[u8]) -> impl Iterator<Item = usize> {
    let is_message = text.len() <= LONGEST;
    let marks = text.windows(CUT.len()).enumerate().rev();
    let looked_at = if is_message { usize::MAX } else { 1 };
    let marks = marks
        .take(looked_at)
        .filter(|(_, bytes)| *bytes == CUT.as_bytes());
    marks.map(|(at, _)| at).take(MOST)
}
