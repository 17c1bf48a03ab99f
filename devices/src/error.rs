//! What can go wrong between a family and a device: one variant per situation.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use devgate_schemas::yaml;
use thiserror::Error;

use crate::template;

/// The result of a call of a family, a resource type or a provider.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a family, a resource type or a provider failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A family's files have errors; all of them are listed.
    #[error("{}", joined(.0))]
    Family(Vec<Problem>),

    /// A family's file cannot be read or written.
    #[error("cannot {what} {}: {cause}", file.display())]
    File {
        /// The operation: read, write or remove.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },

    /// An expression, a template or a TextFSM template of a family failed on these values.
    #[error("{0}")]
    Data(Problem),

    /// A device's output does not match its type's definition.
    #[error("output of `{command}`, line {line}, column {column}: {message}")]
    Output {
        /// The command whose output it is.
        command: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What was expected.
        message: String,
    },

    /// A row of a device's output is not a valid resource of its type.
    #[error("{0}")]
    Row(String),

    /// The answer to a query does not match the definition.
    #[error("answer to `{query}`{}: {message}", row.map(|row| format!(", row {row}")).unwrap_or_default())]
    Answer {
        /// The query.
        query: String,
        /// The number of the row, from 1, where the error is in a row.
        row: Option<usize>,
        /// What was expected.
        message: String,
    },

    /// A desired value holds a character that the device would act upon, or that cannot be written.
    #[error(
        "`{attribute}` of {title} holds {character:?}, which {medium} does not take as text: nothing was sent"
    )]
    Unwritable {
        /// The resource.
        title: String,
        /// The attribute.
        attribute: String,
        /// The first such character.
        character: char,
        /// Where the value would be written: a command line, XML.
        medium: &'static str,
    },

    /// A desired text holds what ends it on the device.
    #[error("`{attribute}` of {title} holds `{end}`, which ends the text: nothing was sent")]
    TextEnd {
        /// The resource.
        title: String,
        /// The attribute.
        attribute: String,
        /// What ends a text there.
        end: String,
    },

    /// A change needs an attribute that is neither desired nor present on the device.
    #[error("`{0}` is missing, and this change needs it: set it")]
    Missing(String),

    /// The family refuses a change, in its own words.
    #[error("{0}: nothing was sent")]
    Refused(String),

    /// The device does not have what is desired, according to a `when` of its family.
    #[error("{what} does not exist on this device: `{condition}` is false{}", facts_of(.facts))]
    NotOnDevice {
        /// The attribute, or the type.
        what: String,
        /// The condition.
        condition: String,
        /// The facts that it is about, and their values on the device.
        facts: Vec<(String, String)>,
    },

    /// A device was not restored. The text lists the differences and holds no secret.
    #[error("the device did not return to its configuration from before the run: {0}")]
    NotRestored(String),

    /// The type or the session does not support the operation.
    #[error("{0}")]
    Unsupported(String),

    /// The target could not be read or changed.
    #[error(transparent)]
    Transport(#[from] devgate_transports::Error),
}

/// A location in a family's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The path of keys: `cli.get.command`; empty at the top.
    pub key: String,
}

/// An error in a family's files, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The location.
    pub location: Location,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Location {
    /// The location of a line (from 1) of the text that begins here.
    pub(crate) fn line_of_text(&self, line: usize) -> Self {
        match line.checked_sub(1) {
            None | Some(0) => self.clone(),
            Some(further) => Self {
                line: self.line + further,
                ..self.clone()
            },
        }
    }

    /// An error in an expression or a template that begins here, at its own line.
    pub(crate) fn template_problem(&self, error: &template::Error) -> Problem {
        let message = match &error.expression {
            Some(expression) => format!("`{expression}`: {}", error.message),
            None => error.message.clone(),
        };
        self.line_of_text(error.line).problem(message)
    }

    /// An error at this location.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            location: self.clone(),
            message: message.into(),
        }
    }
}

impl Problem {
    /// A YAML error in a file, or below `key` in it.
    pub(crate) fn of_yaml(file: &Arc<str>, key: &str, error: yaml::Error) -> Self {
        let yaml::Error {
            line,
            column,
            path,
            message,
        } = error;
        let separator = if key.is_empty() || path.is_empty() || path.starts_with('[') {
            ""
        } else {
            "."
        };
        Self {
            location: Location {
                file: Arc::clone(file),
                line,
                column,
                key: format!("{key}{separator}{path}"),
            },
            message,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if self.key.is_empty() {
            Ok(())
        } else {
            write!(f, "at {}: ", self.key)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.location, self.message)
    }
}

fn facts_of(facts: &[(String, String)]) -> String {
    let facts = facts
        .iter()
        .map(|(path, value)| format!(", `{path}` is {value}"));
    facts.collect()
}

fn joined(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(Problem::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
