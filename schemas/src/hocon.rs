//! HOCON, a superset of JSON for people: the format of the credential files of `puppet device`.
//!
//! Supported are comments (`#`, `//`), unquoted keys and texts, `=` or `:` or nothing before `{`, dotted
//! keys, texts in `"""`, newlines instead of commas, merging of objects and concatenation of values.
//! `include` and substitutions (`${x}`) are refused. No error quotes a value.

#[cfg(test)]
mod tests;

use crate::yaml::Error;
use crate::{Hash, Key, Value};

/// The maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = 100;

/// Characters that unquoted text must not contain, besides leading and trailing white space.
const RESERVED: &str = "$\"{}[]:=,+#`^?!@*&\\";

/// Parses a document: an object, with or without its braces.
///
/// # Errors
/// Fails with what was expected at the given line and column.
pub fn parse(text: &str) -> Result<Hash, Error> {
    let mut reader = HoconReader {
        text: text.strip_prefix('\u{feff}').unwrap_or(text),
        at: 0,
        depth: 0,
    };
    reader.blank(true);
    let has_braces = reader.take("{");
    let hash = reader.object(if has_braces { Some('}') } else { None })?;
    reader.blank(true);
    match reader.peek() {
        None => Ok(hash),
        Some(_) => Err(reader.error("expected the end of the document")),
    }
}

struct HoconReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

/// A part of a value. Adjacent parts on a line are concatenated.
enum ValuePart {
    /// Unquoted: a number, true, false, null or a text.
    Bare(String),
    Quoted(String),
    Object(Hash),
    List(Vec<Value>),
}

impl<'t> HoconReader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, start: &str) -> bool {
        let found = self.rest().starts_with(start);
        self.at += if found { start.len() } else { 0 };
        found
    }

    fn error(&self, message: &str) -> Error {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Error {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            path: String::new(),
            message: message.to_owned(),
        }
    }

    /// Skips blanks and comments, and also line ends if `lines` is set. Returns the blanks.
    fn blank(&mut self, lines: bool) -> &'t str {
        let begun = self.at;
        let mut blanks = "";
        while let Some(c) = self.peek() {
            if c == '#' || self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or_else(|| self.rest().len());
            } else if c.is_whitespace() && (lines || c != '\n') {
                self.at += c.len_utf8();
                blanks = &self.text[begun..self.at];
            } else {
                break;
            }
        }
        blanks
    }

    /// Reads the members of an object up to its closing brace, or up to the end of the document.
    fn object(&mut self, close: Option<char>) -> Result<Hash, Error> {
        let mut hash = Hash::new();
        loop {
            self.blank(true);
            match (self.peek(), close) {
                (None, None) => return Ok(hash),
                (None, Some(_)) => return Err(self.error("expected `}` at the end of an object")),
                (Some(c), Some(close)) if c == close => {
                    self.at += 1;
                    return Ok(hash);
                }
                _ => {}
            }
            let keys = self.keys()?;
            self.blank(false);
            let adds = self.take("+=");
            if adds {
                self.at -= 2;
                return Err(self.error("`+=` is not read here: write the whole list"));
            }
            if !self.take("=") && !self.take(":") && self.peek() != Some('{') {
                return Err(self.error("expected `=`, `:` or `{` behind a key"));
            }
            self.blank(true);
            let value = self.value()?;
            insert(&mut hash, &keys, value);
            self.separator(close)?;
        }
    }

    /// Reads the separator between two members or items: a comma or the end of a line.
    fn separator(&mut self, close: Option<char>) -> Result<(), Error> {
        let before = self.at;
        self.blank(true);
        let is_new_line = self.text[before..self.at].contains('\n');
        let is_end = self.peek().is_none() || self.peek() == close;
        if self.take(",") || is_new_line || is_end {
            Ok(())
        } else {
            Err(self.error("expected a comma or a new line"))
        }
    }

    /// Reads a key, or several keys joined by dots.
    fn keys(&mut self) -> Result<Vec<String>, Error> {
        let mut keys = Vec::new();
        loop {
            let key = if self.peek() == Some('"') {
                self.quoted()?
            } else {
                let rest = self.rest();
                let end =
                    rest.find(|c: char| c == '.' || c.is_whitespace() || RESERVED.contains(c));
                let key = &rest[..end.unwrap_or(rest.len())];
                if key.is_empty() {
                    return Err(self.error("expected a key"));
                }
                if key == "include" {
                    return Err(self.error("`include` is not read here: write it into this file"));
                }
                self.at += key.len();
                key.to_owned()
            };
            keys.push(key);
            if !self.take(".") {
                return Ok(keys);
            }
        }
    }

    /// Reads a value and concatenates its parts.
    fn value(&mut self) -> Result<Value, Error> {
        let mut whole: Option<ValuePart> = None;
        loop {
            let blanks = self.blank(false);
            let Some(part) = self.part()? else {
                break;
            };
            whole = Some(match (whole, part) {
                (None, part) => part,
                (Some(ValuePart::Object(mut all)), ValuePart::Object(more)) => {
                    merge(&mut all, more);
                    ValuePart::Object(all)
                }
                (Some(ValuePart::List(mut all)), ValuePart::List(more)) => {
                    all.extend(more);
                    ValuePart::List(all)
                }
                (
                    Some(ValuePart::Bare(all) | ValuePart::Quoted(all)),
                    ValuePart::Bare(more) | ValuePart::Quoted(more),
                ) => ValuePart::Quoted(format!("{all}{blanks}{more}")),
                _ => return Err(self.error("objects, lists and texts cannot be put together")),
            });
        }
        Ok(match whole {
            None => return Err(self.error("expected a value")),
            Some(ValuePart::Object(hash)) => Value::Hash(hash),
            Some(ValuePart::List(items)) => Value::Array(items),
            Some(ValuePart::Quoted(text)) => Value::String(text),
            Some(ValuePart::Bare(text)) => bare(text),
        })
    }

    /// Reads the next part of a value, if this line has one.
    fn part(&mut self) -> Result<Option<ValuePart>, Error> {
        let Some(first) = self.peek() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '\n' | ',' | '}' | ']' => return Ok(None),
            '"' => ValuePart::Quoted(self.quoted()?),
            '{' | '[' => {
                if self.depth == MAX_DEPTH {
                    return Err(self.error("this is nested too deeply"));
                }
                self.depth += 1;
                self.at += 1;
                let part = if first == '{' {
                    ValuePart::Object(self.object(Some('}'))?)
                } else {
                    ValuePart::List(self.items()?)
                };
                self.depth -= 1;
                part
            }
            '$' if self.rest().starts_with("${") => {
                return Err(self.error("substitutions (`${…}`) are not read here: write the value"));
            }
            c if RESERVED.contains(c) => {
                return Err(self.error("this character has a meaning: put the value in quotes"));
            }
            _ => {
                let rest = self.rest();
                let ends = |c: char| c.is_whitespace() || RESERVED.contains(c);
                let end = rest.find(ends).unwrap_or(rest.len());
                let end = rest[..end].find("//").unwrap_or(end);
                self.at += end;
                ValuePart::Bare(rest[..end].to_owned())
            }
        }))
    }

    fn items(&mut self) -> Result<Vec<Value>, Error> {
        let mut items = Vec::new();
        loop {
            self.blank(true);
            if self.take("]") {
                return Ok(items);
            }
            if self.peek().is_none() {
                return Err(self.error("expected `]` at the end of a list"));
            }
            items.push(self.value()?);
            self.separator(Some(']'))?;
        }
    }

    fn quoted(&mut self) -> Result<String, Error> {
        if self.rest().starts_with("\"\"\"") {
            let Some(end) = self.rest()[3..].find("\"\"\"") else {
                return Err(self.error("the text is not closed by `\"\"\"`"));
            };
            // Additional quotes at the end belong to the text.
            let behind = &self.rest()[3 + end + 3..];
            let more = behind.len() - behind.trim_start_matches('"').len();
            let text = self.rest()[3..3 + end + more].to_owned();
            self.at += 3 + end + more + 3;
            return Ok(text);
        }
        let begun = self.at;
        let unclosed = HoconReader { at: begun, ..*self }.error("the text is not closed by `\"`");
        let mut is_escaped = false;
        for (at, c) in self.rest()[1..].char_indices() {
            match c {
                '\n' => return Err(unclosed),
                '"' if !is_escaped => {
                    let text = &self.rest()[..at + 2];
                    let text = serde_json::from_str(&text.replace('\t', "\\t"));
                    let wrong = "expected a text as JSON has it: this escape is none";
                    let text = text.map_err(|_| self.error(wrong))?;
                    self.at += at + 2;
                    return Ok(text);
                }
                _ => is_escaped = c == '\\' && !is_escaped,
            }
        }
        Err(unclosed)
    }
}

/// Returns the value of an unquoted text.
fn bare(text: String) -> Value {
    match text.as_str() {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        "null" => Value::Undef,
        _ if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => Value::String(text),
        _ => match (text.parse(), text.parse::<f64>()) {
            (Ok(number), _) => Value::Integer(number),
            (_, Ok(number)) if number.is_finite() => Value::Float(number),
            _ => Value::String(text),
        },
    }
}

/// Sets a value at a path of keys. An object is merged into an existing object.
fn insert(hash: &mut Hash, keys: &[String], value: Value) {
    let Some((first, others)) = keys.split_first() else {
        return;
    };
    let mut value = value;
    for key in others.iter().rev() {
        value = Value::Hash([(Key::from(key.as_str()), value)].into_iter().collect());
    }
    merge(
        hash,
        [(Key::from(first.as_str()), value)].into_iter().collect(),
    );
}

/// Merges an object into another. Values that are not objects replace existing ones.
fn merge(hash: &mut Hash, more: Hash) {
    for (key, value) in more {
        match (hash.get_mut(&key), value) {
            (Some(Value::Hash(there)), Value::Hash(value)) => merge(there, value),
            (_, value) => {
                hash.insert(key, value);
            }
        }
    }
}
