//! The incomplete answer that an error keeps: its beginning and its end, because a peer can send any amount.

use devgate_schemas::{CUT, shortened};

use super::text::LONGEST_QUOTED;

/// The beginning and the end of an incomplete answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialOutput {
    text: String,
    last_line: String,
    bytes: usize,
}

impl PartialOutput {
    /// The number of bytes that the error for a request keeps.
    pub const OF_REQUEST: usize = 64 << 10;

    /// The number of bytes that the error for opening a session keeps.
    pub const OF_OPENING: usize = 4 << 10;

    /// Keeps at most about `most` bytes of a text.
    ///
    /// The cuts are at line ends where there are any, so that no part of a secret remains. The end of a line that is
    /// longer than what is kept is left out for the same reason.
    pub fn new(text: &str, most: usize) -> Self {
        let last_line = text.trim().lines().last().unwrap_or_default();
        Self {
            text: if text.len() <= most {
                text.to_owned()
            } else {
                ends(text, most)
            },
            last_line: shortened(last_line, LONGEST_QUOTED),
            bytes: text.len(),
        }
    }

    /// Returns what is kept. It says how much was left out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the beginning of the last line that is not empty, if there is one.
    pub(super) fn last_line(&self) -> Option<&str> {
        Some(self.last_line.as_str()).filter(|line| !line.is_empty())
    }

    /// Returns the size of the whole text.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl From<&str> for PartialOutput {
    fn from(text: &str) -> Self {
        Self::new(text, Self::OF_REQUEST)
    }
}

/// Returns the beginning and the end of a text, and between them how much was left out.
fn ends(text: &str, most: usize) -> String {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let begin = (0..=most / 2).rev().find(is_boundary);
    let begin = &text[..begin.unwrap_or_default()];
    let begin = begin.rfind('\n').map_or(begin, |at| &begin[..at]);
    let end = (text.len() - most / 2..text.len()).find(is_boundary);
    let end = &text[end.unwrap_or(text.len())..];
    let end = end.split_once('\n').map_or("", |(_, lines)| lines);
    let left_out = text.len() - begin.len() - end.len();
    format!("{begin}{CUT}\n[{left_out} bytes left out]\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_of_a_long_text_are_kept_in_whole_lines() {
        let lines: Vec<String> = (0..1_000_000).map(|line| format!("line {line}")).collect();
        let text = lines.join("\n");
        let kept = PartialOutput::new(&text, 1_000);
        assert!(kept.text().len() < 1_100, "{}", kept.text().len());
        let (begin, rest) = kept.text().split_once("...\n[").expect("a cut");
        let (left_out, end) = rest.split_once(" bytes left out]\n").expect("its size");
        assert!(begin.starts_with("line 0\nline 1\n"), "{begin}");
        assert!(text.starts_with(&format!("{begin}\n")), "{begin}");
        assert!(text.ends_with(&format!("\n{end}")), "{end}");
        let size = begin.len() + end.len() + left_out.parse::<usize>().expect("a number");
        assert_eq!(size, text.len());
        assert_eq!(kept.bytes(), text.len());
        assert_eq!(kept.last_line(), Some("line 999999"));
    }

    #[test]
    fn the_end_of_an_endless_line_is_left_out() {
        let kept = PartialOutput::new(&"é".repeat(100_000), 4_001);
        let left_out = "...\n[198000 bytes left out]\n";
        assert_eq!(kept.text(), format!("{}{left_out}", "é".repeat(1_000)));
        assert_eq!(
            kept.last_line().map(|line| line.ends_with("é...")),
            Some(true)
        );
    }

    #[test]
    fn a_short_text_is_kept_whole() {
        let kept = PartialOutput::from("one\ntwo\n");
        assert_eq!((kept.text(), kept.bytes()), ("one\ntwo\n", 8));
        assert_eq!(PartialOutput::from(" \n").last_line(), None);
    }
}
