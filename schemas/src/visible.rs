//! Makes control characters in foreign text visible, so that a terminal does not obey them.
//!
//! A device, a server or a task may send anything, and an operator's terminal obeys some of it: it moves
//! its cursor, hides lines, answers as if somebody typed (ECMA-48), or changes the order of words (UAX #9).
//! Each such character is therefore written as its number, such as `\u001b`. This is JSON's escape, so that
//! a JSON text keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal acts on this character, or reorders other text because of it.
fn is_acted_upon(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        // C0, DEL and C1; the directional marks and controls.
        c => {
            c.is_control()
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        }
    }
}

/// Returns a text that is safe for a terminal or a log, with `\u001b` for an escape character. Tabs and
/// line ends stay, and CRLF becomes LF.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_acted_upon) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_acted_upon(c) => {
                // All of these characters have four hexadecimal digits. Writing to a String cannot fail.
                let _ = write!(shown, "\\u{:04x}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_upon_is_shown_and_the_rest_stays() {
        for (text, shown) in [
            ("a\tb\nc", "a\tb\nc"),
            ("a\r\nb", "a\nb"),
            ("a\rb", r"a\u000db"),
            ("\u{1b}[2J\u{7}", r"\u001b[2J\u0007"),
            ("\u{9b}31m\u{7f}\0", r"\u009b31m\u007f\u0000"),
            ("\u{202e}txt\u{2066}", r"\u202etxt\u2066"),
            ("Zürich 東京 שלום \u{fffd}", "Zürich 東京 שלום \u{fffd}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn json_has_no_characters_that_a_terminal_acts_upon() {
        let value = serde_json::json!({"\u{9b}k": "\u{1b}\u{7f}\u{85}\u{202e}\u{2069}\t\n\r é"});
        let text = serde_json::to_string(&value).expect("JSON");
        let shown = visible(&text);
        assert!(!shown.contains(is_acted_upon), "{shown}");
        let again: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(again, value);
    }
}
