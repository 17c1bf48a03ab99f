//! Errors of documents, with their places.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::{KeyNode, Node};
use crate::{Key, suggest};

/// A problem and its place in a document.
///
/// The message names kinds and keys and never quotes a scalar. The only exception is an error that a type
/// itself raises through `serde::de::Error::custom`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The keys and indexes that lead to the place: `groups[0].targets[2]`; empty at the top.
    pub path: String,
    /// What was expected and what was found.
    pub message: String,
}

impl Error {
    /// Creates an error without a place: line 0.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            line: 0,
            column: 0,
            path: String::new(),
            message: message.into(),
        }
    }

    /// Sets the place of the error, unless an inner node has already set it.
    pub(super) fn at(self, node: &Node) -> Self {
        self.at_mark(node.line as usize, node.column as usize)
    }

    /// Sets the place of the error to a key, unless an inner node has already set it.
    pub(super) fn at_key(self, key: &KeyNode) -> Self {
        self.at_mark(key.line as usize, key.column as usize)
    }

    pub(super) fn at_mark(mut self, line: usize, column: usize) -> Self {
        if self.line == 0 {
            (self.line, self.column) = (line, column);
        }
        self
    }

    /// Prepends a key to the path.
    pub(super) fn under(mut self, key: &Key) -> Self {
        let key = match key {
            Key::String(text) if text.is_empty() || text.contains(['.', '[', ' ', '\n']) => {
                format!("{text:?}")
            }
            other => other.to_string(),
        };
        self.path = match self.path.as_str() {
            "" => key,
            rest if rest.starts_with('[') => format!("{key}{rest}"),
            rest => format!("{key}.{rest}"),
        };
        self
    }

    /// Prepends the index of a list item to the path.
    pub(super) fn item(mut self, index: usize) -> Self {
        self.path = match self.path.as_str() {
            rest if rest.is_empty() || rest.starts_with('[') => format!("[{index}]{rest}"),
            rest => format!("[{index}].{rest}"),
        };
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        // serde's message for an untagged enum names a Rust type.
        if message.starts_with("data did not match any variant of untagged enum") {
            return Self::new("expected one of the forms that are possible here, found another");
        }
        Self::new(message)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "expected {}, found {}",
            plain(expected),
            kind(&found)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "expected {}, found another value ({})",
            plain(expected),
            kind(&found)
        ))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "expected {}, found {length} items",
            plain(expected)
        ))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!(
            "expected one of {}, found another text",
            expected.join(", ")
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let hint = if expected.is_empty() {
            "; expected no keys".to_owned()
        } else {
            suggest(field, expected.iter().copied())
        };
        Self::new(format!("unknown key `{field}`{hint}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("missing key `{field}`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("key `{field}` is given twice"))
    }
}

fn kind(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a float",
        Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "a text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq | Unexpected::TupleVariant => "a list",
        Unexpected::Map | Unexpected::StructVariant | Unexpected::NewtypeStruct => "a mapping",
        Unexpected::Enum | Unexpected::UnitVariant | Unexpected::NewtypeVariant => "a choice",
        Unexpected::Other(_) => "something else",
    }
}

/// Formats what was expected with the terms of YAML instead of Rust's.
fn plain(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "a string" | "string" | "str" | "a borrowed string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping".to_owned(),
        "unit" => "nothing".to_owned(),
        "u8" => format!("an integer from 0 to {}", u8::MAX),
        "u16" => format!("an integer from 0 to {}", u16::MAX),
        "u32" => format!("an integer from 0 to {}", u32::MAX),
        "u64" | "usize" | "u128" => "an integer from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" | "i128" => "an integer".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        rust if rust.starts_with("struct ") => "a mapping".to_owned(),
        rust if rust.starts_with("enum ") => "a choice by name".to_owned(),
        _ => words,
    }
}

/// Adds to a message of the YAML parser what to check.
pub(super) fn plain_syntax(message: &str) -> String {
    if message.contains("tabs disallowed") {
        return "found a tab: indent with blanks".to_owned();
    }
    let is_block = [
        "did not find expected '-' indicator",
        "did not find expected key",
    ];
    match is_block.iter().any(|text| message.contains(text)) {
        true => format!("{message}: check the indentation"),
        false => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_it_would_be_written() {
        let error = Error::new("x")
            .under(&Key::from("c"))
            .item(2)
            .item(0)
            .under(&Key::from("a.b"));
        assert_eq!(error.path, r#""a.b"[0][2].c"#);
    }
}
