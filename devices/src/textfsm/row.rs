//! The rows of an output, and where they are in it.

use devgate_schemas::{Hash, Value};

/// One record of a command's output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The values by name: a text, or an array of texts or hashes for a `List` value, with none for what did not match.
    pub(crate) values: Hash,
    /// The lines of output, counted from 1, that gave this row.
    pub(super) lines: (usize, usize),
}

/// A position in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
}

impl Row {
    /// Returns the position of a row's value in the output. If the value is not found there, as with
    /// `Filldown`, it is the row's last line.
    pub(crate) fn position(&self, output: &str, name: &str) -> Position {
        let (first, last) = self.lines;
        let value_text = match self.values.get(name) {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        let lines = lines(output).enumerate().take(last).skip(first - 1);
        let found = lines
            .filter(|_| !value_text.is_empty())
            .filter_map(|(index, line)| {
                Some((index, line[..line.find(value_text)?].chars().count()))
            })
            .last();
        found.map_or(
            Position {
                line: last,
                column: 1,
            },
            |(index, column)| Position {
                line: index + 1,
                column: column + 1,
            },
        )
    }
}

/// The lines of an output. Every character that ends a line in Unicode does so here, as in Python.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends =
        |c| matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, end) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let first = end.chars().next().map_or(0, char::len_utf8);
        rest = end.strip_prefix("\r\n").unwrap_or_else(|| &end[first..]);
        Some(line)
    })
}
