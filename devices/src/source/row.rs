//! A row of an answer: of a command's output, or of a document.

use std::sync::Arc;

use devgate_schemas::{Hash, Value};

use super::answers::Answers;
use crate::{Error, textfsm};

/// A row of an answer: values by name.
#[derive(Debug)]
pub(crate) enum Row {
    /// A row of a command's output.
    Output {
        command: Arc<str>,
        row: textfsm::Row,
    },
    /// A row of a document.
    Document {
        query: Arc<str>,
        /// The number of the row in the answer, counted from 1.
        number: usize,
        values: Hash,
    },
}

impl Row {
    pub(crate) fn values(&self) -> &Hash {
        match self {
            Self::Output { row, .. } => &row.values,
            Self::Document { values, .. } => values,
        }
    }

    /// Adds a value of another row.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        let values = match self {
            Self::Output { row, .. } => &mut row.values,
            Self::Document { values, .. } => values,
        };
        values.insert(name, value);
    }

    pub(super) fn into_values(self) -> Hash {
        match self {
            Self::Output { row, .. } => row.values,
            Self::Document { values, .. } => values,
        }
    }

    /// The location of a value in the answer, for messages.
    pub(crate) fn location(&self, answers: &Answers, name: &str) -> String {
        match self {
            Self::Output { command, row } => {
                let position = row.position(answers.output(command), name);
                format!(
                    ", output line {}, column {}",
                    position.line, position.column
                )
            }
            Self::Document { number, .. } => format!(", row {number}"),
        }
    }

    /// An error about the value of this name.
    pub(crate) fn error(&self, answers: &Answers, name: &str, message: String) -> Error {
        match self {
            Self::Output { command, row } => {
                let position = row.position(answers.output(command), name);
                Error::Output {
                    command: command.to_string(),
                    line: position.line,
                    column: position.column,
                    message,
                }
            }
            Self::Document { query, number, .. } => Error::Answer {
                query: query.to_string(),
                row: Some(*number),
                message,
            },
        }
    }
}
