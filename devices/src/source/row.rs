//! A row of an answer: of a command's output, or of a document.

use std::sync::Arc;

use devgate_schemas::Hash;

use super::answers::Answers;
use super::document::DocumentRow;
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
    Answer(DocumentRow),
}

impl Row {
    pub(crate) fn values(&self) -> &Hash {
        match self {
            Self::Output { row, .. } => &row.values,
            Self::Answer(document) => &document.values,
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
            Self::Answer(document) => format!(", row {}", document.number),
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
            Self::Answer(document) => Error::Answer {
                query: document.query.to_string(),
                row: Some(document.number),
                message,
            },
        }
    }
}
