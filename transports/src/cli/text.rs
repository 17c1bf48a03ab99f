//! Texts of several lines, such as banners and certificates: the lines that open them, and what ends them.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};

use super::pattern::Pattern;

/// The lines that open a text of several lines: an item of `text` in a dialect.
#[derive(Clone, Debug)]
pub enum TextOpening {
    /// The first group of the pattern ends the text, wherever it occurs: `banner motd ^`.
    Delimited(Pattern),
    /// A line of its own ends the text.
    Terminated(TerminatedText),
}

/// A text that a fixed line ends: `{ opens: '^banner login$', end: EOF }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminatedText {
    /// The lines that open the text.
    opens: Pattern,
    /// The line that ends it.
    end: String,
}

/// What ends an open text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// This, anywhere in a line.
    Delimiter(String),
    /// This, alone in a line.
    Line(String),
}

impl TextOpening {
    /// Returns what ends the text that this line opens, and the beginning of the text in the line itself.
    pub(super) fn opened_by<'l>(&self, line: &'l str) -> Option<(TextEnd, &'l str)> {
        match self {
            Self::Delimited(pattern) => {
                let (at, end) = pattern.first_group(line)?;
                let begun = &line[at + end.len()..];
                (!end.is_empty()).then(|| (TextEnd::Delimiter(end.to_owned()), begun))
            }
            Self::Terminated(TerminatedText { opens, end }) => {
                let is_opened = opens.is_found_in(line);
                is_opened.then(|| (TextEnd::Line(end.trim().to_owned()), ""))
            }
        }
    }
}

impl TextEnd {
    /// Returns what has to be typed to end the text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Delimiter(end) | Self::Line(end) => end,
        }
    }

    /// Returns whether a line of the text ends it.
    pub fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Delimiter(end) => line.contains(end.as_str()),
            Self::Line(end) => line.trim() == end,
        }
    }

    /// Returns whether a line of the text ends it, and nothing follows the end.
    pub fn is_last_in(&self, line: &str) -> bool {
        let before = line.trim_end().strip_suffix(self.as_str());
        self.is_in(line) && before.is_some_and(|before| !self.is_in(before))
    }
}

impl<'de> Deserialize<'de> for TextOpening {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OpeningVisitor;
        impl<'de> Visitor<'de> for OpeningVisitor {
            type Value = TextOpening;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pattern whose first group ends the text, or `opens` and `end`")
            }

            fn visit_str<E: de::Error>(self, source: &str) -> Result<TextOpening, E> {
                let pattern = Pattern::new(source).map_err(E::custom)?;
                Ok(TextOpening::Delimited(pattern))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOpening, A::Error> {
                let terminated = TerminatedText::deserialize(MapAccessDeserializer::new(map))?;
                if terminated.end.trim().is_empty() || terminated.end.contains('\n') {
                    return Err(de::Error::custom(
                        "`end` is the one line that ends the text",
                    ));
                }
                Ok(TextOpening::Terminated(terminated))
            }
        }
        deserializer.deserialize_any(OpeningVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::Dialect;

    fn dialect(text: serde_json::Value) -> Result<Dialect, String> {
        let dialect = serde_json::json!({ "text": [text] });
        serde_json::from_value(dialect).map_err(|error| error.to_string())
    }

    #[test]
    fn a_delimiter_ends_a_text_anywhere_and_a_terminator_alone_in_a_line() {
        let delimited = dialect(serde_json::json!(r"^banner \S+ (\S)")).expect("a dialect");
        let end = delimited.text_end("banner motd #one").expect("it is open");
        assert!(end.is_in("two#") && end.is_last_in("two# ") && !end.is_last_in("t#wo#"));
        assert!(!end.is_last_in("two# three"));
        assert_eq!(delimited.text_end("banner motd #one#"), None);
        assert_eq!(delimited.text_end("hostname a"), None);
        let terminated = serde_json::json!({ "opens": "^banner login$", "end": "EOF" });
        let terminated = dialect(terminated).expect("a dialect");
        let end = terminated.text_end("banner login").expect("it is open");
        assert!(end.is_in(" EOF ") && end.is_last_in("EOF") && !end.is_in("EOF, or not"));
        assert_eq!(terminated.text_end("banner motd"), None);
    }

    #[test]
    fn an_opening_that_cannot_be_read_says_what_was_expected() {
        for (text, expected) in [
            (
                serde_json::json!(3),
                "a pattern whose first group ends the text, or `opens` and `end`",
            ),
            (
                serde_json::json!("("),
                "end pattern with unmatched parenthesis",
            ),
            (
                serde_json::json!({ "opens": "^banner" }),
                "missing field `end`",
            ),
            (
                serde_json::json!({ "opens": "^b", "end": " " }),
                "`end` is the one line",
            ),
        ] {
            let error = dialect(text).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
    }
}
