//! Tables: the rows of a text, by a template in a file or by a collection of templates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_schemas::{Hash, Value};
use devgate_transports::reading;

use super::TextFsm;
use super::error::Error as TextFsmError;
use crate::error::Location;
use crate::{Error, Result};

/// The rows of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The rows: a text for each column, or an array of texts or hashes for a `List` value.
    pub rows: Vec<Hash>,
    /// The names of the columns that together distinguish the rows.
    pub(super) keys: Vec<String>,
}

impl Table {
    /// Parses a text with the template in a file. `label` is the name of the text for messages.
    ///
    /// # Errors
    /// Fails when the file cannot be read, when it is no template, or when an `Error` rule of it refuses the text.
    pub fn parse(template: &Path, label: &str, text: &str) -> Result<Self> {
        TemplateFile::read(template)?.parse(label, text)
    }

    /// Parses a text with a template. `located` gives an error in it its place.
    ///
    /// # Errors
    /// Fails when it is no template, or when an `Error` rule of it refuses the text.
    pub(crate) fn of(
        fsm: &TextFsm,
        text: &str,
        located: impl Fn(TextFsmError) -> Error,
    ) -> Result<Self> {
        let rows = fsm.rows(text).map_err(&located)?;
        Ok(Self {
            names: fsm.names().to_vec(),
            rows: rows.into_iter().map(|row| row.values).collect(),
            keys: fsm.keys().map_err(&located)?,
        })
    }

    /// The rows for programs, each an object.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        let rows = self.rows.iter().cloned();
        rows.map(|row| Value::Hash(row).to_json()).collect()
    }

    /// Adds the columns of another table to the rows with the same keys, or to those with the same number if there is
    /// no key.
    ///
    /// # Errors
    /// Fails with the key that one of the tables lacks.
    pub(super) fn extend(&mut self, other: Self) -> std::result::Result<(), String> {
        if self.keys.is_empty() {
            self.keys = other.keys;
        }
        let further = other.names.into_iter();
        let further: Vec<String> = further.filter(|name| !self.names.contains(name)).collect();
        for (number, row) in self.rows.iter_mut().enumerate() {
            let mut same = None;
            for (other_number, candidate) in other.rows.iter().enumerate() {
                let mut is_same = !self.keys.is_empty() || number == other_number;
                for key in &self.keys {
                    let values = (row.get(key), candidate.get(key));
                    let (Some(ours), Some(theirs)) = values else {
                        return Err(format!("a table has no value `{key}`, which is a key"));
                    };
                    is_same = is_same && ours == theirs;
                }
                if is_same {
                    same = Some(candidate);
                    break;
                }
            }
            for name in &further {
                let value = same.and_then(|same| same.get(name)).cloned();
                row.insert(name.as_str(), value.unwrap_or_else(|| Value::from("")));
            }
        }
        self.names.extend(further);
        Ok(())
    }
}

/// A template in a file.
#[derive(Debug)]
pub(super) struct TemplateFile {
    path: PathBuf,
    fsm: TextFsm,
}

impl TemplateFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let source = reading::text(path).map_err(|cause| unreadable(path, cause))?;
        Ok(Self {
            path: path.to_owned(),
            fsm: TextFsm::new(source),
        })
    }

    /// Parses a text. `label` is its name for messages.
    ///
    /// # Errors
    /// Fails when it is no template, or when an `Error` rule of it refuses the text.
    pub(super) fn parse(&self, label: &str, text: &str) -> Result<Table> {
        Table::of(&self.fsm, text, |error| match error {
            TextFsmError::Template { line, message } => {
                Error::Data(location(&self.path, line).problem(message))
            }
            TextFsmError::Output { line, message } => Error::Output {
                command: label.to_owned(),
                line,
                column: 1,
                message,
            },
        })
    }
}

pub(super) fn unreadable(file: &Path, cause: io::Error) -> Error {
    Error::File {
        what: "read",
        file: file.to_owned(),
        cause,
    }
}

/// The location of a line.
pub(super) fn location(file: &Path, line: usize) -> Location {
    Location {
        file: Arc::from(file.display().to_string()),
        line,
        column: 1,
        key: String::new(),
    }
}
