//! What can go wrong between a family and a device: one variant per situation.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use devgate_schemas::yaml;
use thiserror::Error;

/// The result of asking a family, a resource type or a provider for something.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a family, a resource type or a provider could not do what it was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A family's files are wrong: everything at once.
    #[error("{}", joined(.0))]
    Family(Vec<Problem>),

    /// A family's file cannot be read or written.
    #[error("cannot {what} {}: {cause}", file.display())]
    File {
        /// Read, write.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system says.
        cause: io::Error,
    },

    /// An expression, a template or a TextFSM template of a family does not work with these values.
    #[error("{0}")]
    Data(Problem),

    /// A device's output is not as its type's definition expects.
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

    /// A row of a device's output makes no resource of its type.
    #[error("{0}")]
    Row(String),

    /// The answer to a question is not as a definition expects.
    #[error("answer to `{ask}`{}: {message}", row.map(|row| format!(", row {row}")).unwrap_or_default())]
    Answer {
        /// What was asked.
        ask: String,
        /// Which of its rows, from 1, where it is one.
        row: Option<usize>,
        /// What was expected.
        message: String,
    },

    /// A desired value holds a character that the device would act upon, or that cannot be written.
    #[error(
        "`{attribute}` of {title} holds {character:?}, which {medium} does not take as text: nothing was sent"
    )]
    Unwritable {
        /// Whose attribute.
        title: String,
        /// The attribute.
        attribute: String,
        /// The first such character.
        character: char,
        /// What it would be written as.
        medium: &'static str,
    },

    /// A change cannot be written without an attribute that nobody has said and the device does not hold.
    #[error("`{0}` is missing: without it this change cannot be made; say it")]
    Missing(String),

    /// A device is not back where it was; what differs holds no secret.
    #[error("the device did not go back to its configuration from before the run: {0}")]
    NotRestored(String),

    /// The type or the session has no such ability.
    #[error("{0}")]
    Unsupported(String),

    /// The target could not be asked or changed.
    #[error(transparent)]
    Transport(#[from] devgate_transports::Error),
}

/// A place in a family's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The keys that lead there: `cli.get.command`; empty at the top.
    pub key: String,
}

/// One thing that is wrong in a family's files, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub location: Location,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Location {
    /// The place of a line (from 1) of the text that begins at this place.
    pub(crate) fn line_of_text(&self, line: usize) -> Self {
        match line.checked_sub(1) {
            None | Some(0) => self.clone(),
            Some(further) => Self {
                line: self.line + further,
                ..self.clone()
            },
        }
    }

    /// Something that is wrong here.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            location: self.clone(),
            message: message.into(),
        }
    }
}

impl Problem {
    /// What was wrong with a file, or with what stands at `key` in it, when it was read as a whole.
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

fn joined(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(Problem::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
