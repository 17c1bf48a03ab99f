//! Reads quoted texts, regular expressions and variables.

use super::{Lexer, TokenKind, is_word};
use crate::types::error::Fault;
use crate::types::pattern::Pattern;

impl Lexer<'_> {
    pub(super) fn single_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut value = String::new();
        let mut chars = self.text[offset + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' => {
                    self.at = offset + 1 + at + 1;
                    self.push(TokenKind::Text, value, offset);
                    return Ok(());
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('\\' | '\''))) => value.push(escaped),
                    Some((_, other)) => value.extend(['\\', other]),
                    None => break,
                },
                other => value.push(other),
            }
        }
        Err(self.unclosed("\"'\"", offset))
    }

    pub(super) fn double_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut value = String::new();
        let mut kind = TokenKind::Text;
        let mut before_interpolation = None;
        let mut at = offset + 1;
        while let Some(c) = self.text[at..].chars().next() {
            at += c.len_utf8();
            match c {
                '"' => {
                    self.at = at;
                    value.truncate(before_interpolation.unwrap_or(value.len()));
                    self.push(kind, value, offset);
                    return Ok(());
                }
                '\\' => at += unescape(&self.text[at..], &mut value),
                '$' if self.text[at..].starts_with('{')
                    || !variable_name(&self.text[at..]).is_empty() =>
                {
                    kind = TokenKind::Interpolated;
                    before_interpolation.get_or_insert(value.len());
                }
                other => value.push(other),
            }
        }
        Err(self.unclosed("'\"'", offset))
    }

    /// Returns Puppet's error for an unclosed quote, which shows the next characters and the place after
    /// the quote.
    fn unclosed(&self, quote: &str, offset: usize) -> Fault {
        let rest = &self.text[offset + 1..];
        let followed = if rest.is_empty() {
            "<eof>".to_owned()
        } else {
            let start: String = rest.chars().take(5).collect();
            start
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                + "..."
        };
        self.fault(
            format!("Unclosed quote after {quote} followed by '{followed}'"),
            offset + 1,
        )
    }

    /// Reads a regular expression. Returns `false` if no slash ends it.
    pub(super) fn regexp(&mut self) -> Result<bool, Fault> {
        let offset = self.at;
        let mut escaped = false;
        let mut source = String::new();
        for (at, c) in self.text[offset + 1..].char_indices() {
            match c {
                '/' if !escaped => {
                    self.at = offset + 1 + at + 1;
                    let pattern = Pattern::new(&source)?;
                    self.push(
                        TokenKind::Regexp(pattern),
                        format!("(?-mix:{source})"),
                        offset,
                    );
                    return Ok(true);
                }
                '/' => {
                    source.pop();
                    source.push('/');
                }
                other => source.push(other),
            }
            escaped = c == '\\' && !escaped;
        }
        Ok(false)
    }

    pub(super) fn variable(&mut self) {
        let offset = self.at;
        let name = variable_name(&self.rest()[1..]).to_owned();
        self.at += 1 + name.len();
        self.push(TokenKind::Variable, name, offset);
    }
}

/// Returns the variable name at the start of the text; empty if there is none.
fn variable_name(text: &str) -> &str {
    let mut end = if text.starts_with("::") { 2 } else { 0 };
    loop {
        let rest = &text[end..];
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            return text[..end].trim_end_matches("::");
        }
        end += word;
        if !text[end..].starts_with("::") {
            return &text[..end];
        }
        end += 2;
    }
}

/// Reads one escape after its backslash, and returns its length in bytes.
fn unescape(rest: &str, value: &mut String) -> usize {
    let Some(c) = rest.chars().next() else {
        return 0;
    };
    match c {
        'n' => value.push('\n'),
        'r' => value.push('\r'),
        't' => value.push('\t'),
        's' => value.push(' '),
        '\\' | '$' | '\'' | '"' => value.push(c),
        '\n' => {}
        'u' => {
            let hex = match rest[1..].strip_prefix('{') {
                Some(inner) => inner.split_once('}').map(|(hex, _)| (hex, hex.len() + 3)),
                None => rest.get(1..5).map(|hex| (hex, 5)),
            };
            if let Some((digits, length)) = hex
                && let Some(unicode) = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32)
            {
                value.push(unicode);
                return length;
            }
            value.push_str("\\u");
        }
        other => value.extend(['\\', other]),
    }
    c.len_utf8()
}
