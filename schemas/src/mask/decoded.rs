//! Undoes the escapes in a text and records where each character came from.
//!
//! JSON, HTML, Python and URLs each have several ways to spell one character, and each program escapes a
//! different set. Undoing every escape is safer than guessing what a program would write.

use std::ops::Range;

/// The characters with which escapes begin.
pub(super) const MARKS: [u8; 3] = [b'\\', b'&', b'%'];

/// The maximum length of an escape.
pub(super) const MAX_ESCAPE_LENGTH: usize = 12;

/// A text in which the escapes of one kind are undone.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// For each escape, its end in the decoded text and its end in the original.
    behind: Vec<(usize, usize)>,
}

/// A decoded escape: its character and its length.
struct Escape {
    char: char,
    length: usize,
}

impl Decoded {
    /// Undoes the escapes that begin with this mark. Returns `None` if there are none.
    pub(super) fn of(text: &[u8], mark: u8) -> Option<Self> {
        // Most texts have no escapes; this is a quick way to find out.
        if !text.contains(&mark) {
            return None;
        }
        let mut decoded = Self {
            bytes: Vec::new(),
            behind: Vec::new(),
        };
        let mut at = 0;
        while let Some(next) = text[at..].iter().position(|byte| *byte == mark) {
            decoded.bytes.extend_from_slice(&text[at..at + next]);
            at += next;
            let rest = &text[at..];
            let escape = match mark {
                b'\\' => backslash(rest),
                b'&' => reference(rest),
                _ => {
                    // Percent escapes are bytes: the bytes of one letter follow each other.
                    if let Some(byte) = hex(rest.get(1..3)) {
                        decoded.bytes.extend(u8::try_from(byte));
                        at += 3;
                        decoded.behind.push((decoded.bytes.len(), at));
                        continue;
                    }
                    None
                }
            };
            match escape {
                Some(Escape { char, length }) => {
                    let mut utf8 = [0; 4];
                    let utf8 = char.encode_utf8(&mut utf8);
                    decoded.bytes.extend_from_slice(utf8.as_bytes());
                    at += length;
                    decoded.behind.push((decoded.bytes.len(), at));
                }
                None => {
                    decoded.bytes.push(mark);
                    at += 1;
                }
            }
        }
        decoded.bytes.extend_from_slice(&text[at..]);
        (!decoded.behind.is_empty()).then_some(decoded)
    }

    /// Returns the range of the original text for a range of the decoded text.
    pub(super) fn source(&self, place: &Range<usize>) -> Range<usize> {
        self.source_of(place.start)..self.source_of(place.end)
    }

    fn source_of(&self, at: usize) -> usize {
        let escapes = self.behind.partition_point(|(here, _)| *here <= at);
        match escapes.checked_sub(1).map(|last| self.behind[last]) {
            Some((here, there)) => there + (at - here),
            None => at,
        }
    }
}

/// `\"`, `\/`, `\n`, `\u00e4`, `\ud83d\ude00`, `\xe4`.
fn backslash(rest: &[u8]) -> Option<Escape> {
    let (char, length) = match rest.get(1)? {
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'x' => (char::from_u32(hex(rest.get(2..4))?)?, 4),
        b'u' => {
            let unit = |rest: &[u8]| {
                hex(rest.strip_prefix(b"\\u")?.get(..4)).and_then(|unit| u16::try_from(unit).ok())
            };
            let first = unit(rest)?;
            let second = rest.get(6..).and_then(unit);
            let units = [first, second.unwrap_or_default()];
            let char = char::decode_utf16(units).next()?.ok()?;
            (char, 6 * char.len_utf16())
        }
        other if other.is_ascii_punctuation() || *other == b' ' => (char::from(*other), 2),
        _ => return None,
    };
    Some(Escape { char, length })
}

/// `&amp;`, `&#38;`, `&#x26;`.
fn reference(rest: &[u8]) -> Option<Escape> {
    let length = rest
        .iter()
        .take(MAX_ESCAPE_LENGTH)
        .position(|byte| *byte == b';')?
        + 1;
    let char = match &rest[1..length - 1] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(Some(digits))?)?,
        [b'#', digits @ ..] => {
            let digits = std::str::from_utf8(digits).ok()?;
            char::from_u32(digits.parse().ok()?)?
        }
        _ => return None,
    };
    Some(Escape { char, length })
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = std::str::from_utf8(digits?).ok()?;
    let are_all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| are_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_and_it_is_known_where_they_stood() {
        for (text, mark, plain) in [
            (
                r#"a\u0026b\/\"\u00e4\ud83d\ude00\xe4!"#,
                b'\\',
                "a&b/\"\u{e4}\u{1f600}\u{e4}!",
            ),
            ("a&#38;b&#x26;&#034;&lt;!", b'&', "a&b&\"<!"),
            ("a%26%C3%a4%!", b'%', "a&\u{e4}%!"),
            (r"\uD83D\u12 \d", b'\\', r"\uD83D\u12 \d"),
            ("&#99999999;&auml;&", b'&', "&#99999999;&auml;&"),
        ] {
            let decoded = Decoded::of(text.as_bytes(), mark);
            let bytes = decoded.as_ref().map(|decoded| decoded.bytes.as_slice());
            assert_eq!(bytes.unwrap_or(text.as_bytes()), plain.as_bytes());
            if let Some(decoded) = decoded {
                let end = decoded.bytes.len();
                assert_eq!(decoded.source(&(0..1)), 0..1);
                assert_eq!(decoded.source(&(end - 1..end)), text.len() - 1..text.len());
            }
        }
    }
}
