//! TextFSM: parses the output of `show` commands into rows.
//!
//! Specification: Google's implementation in Python, whose regular expressions and whose ends of lines are meant.
//! A template is compiled on first use and then kept, because compiling is expensive. The names of its
//! values are known without compiling, so that expressions over them can be checked at once.

mod collection;
mod machine;
mod regexp;
mod table;
mod template;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use devgate_schemas::{Hash, Value};

use template::{Template, ValueOption};

pub use collection::TemplateCollection;
pub use table::Table;

/// A TextFSM template.
#[derive(Debug)]
pub(crate) struct TextFsm {
    source: String,
    names: Vec<String>,
    compiled: OnceLock<Result<Template, Error>>,
}

/// One record of a command's output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The values by name: a text, or an array of texts or hashes for a `List` value, with none for what did not match.
    pub(crate) values: Hash,
    /// The lines of output, counted from 1, that gave this row.
    lines: (usize, usize),
}

/// A position in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
}

/// The reason why an output could not be parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Error {
    /// The template is invalid at this line.
    Template { line: usize, message: String },
    /// An `Error` rule of the template refuses this line of the output.
    Output { line: usize, message: String },
}

impl TextFsm {
    /// Creates a template without compiling it.
    pub(crate) fn new(source: impl Into<String>) -> Self {
        let source = source.into();
        Self {
            names: template::names(&source),
            source,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the names of the template's values.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the names of the values that together distinguish the rows.
    ///
    /// # Errors
    /// Fails when the template is invalid.
    fn keys(&self) -> Result<Vec<String>, Error> {
        let values = self.template()?.values.iter();
        let keys = values.filter(|value| value.has(ValueOption::Key));
        Ok(keys.map(|value| value.name.clone()).collect())
    }

    /// Compiles the template, unless it already is.
    ///
    /// # Errors
    /// Fails when the template is invalid.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.template().map(|_| ())
    }

    /// Parses an output into records.
    ///
    /// # Errors
    /// Fails when the template is invalid, or when one of its `Error` rules refuses a line.
    pub(crate) fn rows(&self, text: &str) -> Result<Vec<Row>, Error> {
        machine::rows(self.template()?, text)
    }

    fn template(&self) -> Result<&Template, Error> {
        let compiled = self
            .compiled
            .get_or_init(|| Template::compile(&self.source));
        compiled.as_ref().map_err(Clone::clone)
    }
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
fn lines(text: &str) -> impl Iterator<Item = &str> {
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
