//! The errors of texts that are not data types, in Puppet's wording.

use std::fmt;

/// The reason why a text is not a data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    text: String,
    fault: Fault,
}

impl TypeError {
    pub(super) fn new(text: &str, fault: Fault) -> Self {
        Self {
            text: text.to_owned(),
            fault,
        }
    }

    /// Returns the full error text for a schema's attribute, in the Resource API's wording.
    pub fn for_attribute(&self, name: &str) -> String {
        let Self { text, fault } = self;
        match fault {
            Fault::Syntax(reason) => {
                format!("The type of the `{name}` attribute `{text}` could not be parsed: {reason}")
            }
            Fault::Unrecognised(reason) => {
                format!("The type of the `{name}` attribute `{text}` is not recognised: {reason}")
            }
            Fault::Argument(reason) => reason.clone(),
        }
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, fault } = self;
        match fault {
            Fault::Syntax(reason) => write!(f, "the type `{text}` could not be parsed: {reason}"),
            Fault::Unrecognised(reason) => {
                write!(f, "the type `{text}` is not recognised: {reason}")
            }
            Fault::Argument(reason) => write!(f, "the type `{text}` is wrong: {reason}"),
        }
    }
}

impl std::error::Error for TypeError {}

/// The problem, by the stage of Puppet that finds it: each stage words its errors differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text does not follow the grammar.
    Syntax(String),
    /// The text follows the grammar but is not a type.
    Unrecognised(String),
    /// A type refuses its parameters.
    Argument(String),
}

impl Fault {
    /// Creates a syntax fault with its line and column.
    pub(super) fn syntax_at(message: impl Into<String>, text: &str, at: usize) -> Self {
        Self::Syntax(placed(message.into(), text, at))
    }

    /// Creates the fault of an unrecognised expression with its line and column.
    pub(super) fn unrecognised_at(message: &str, text: &str, at: usize) -> Self {
        Self::Unrecognised(placed(message.to_owned(), text, at))
    }

    pub(super) fn parameters(name: &str, required: &str, given: usize) -> Self {
        Self::Unrecognised(format!(
            "Invalid number of type parameters specified: {name} requires {required}, {given} provided"
        ))
    }

    pub(super) fn expression(text: &str) -> Self {
        Self::Unrecognised(format!(
            "The expression <{text}> is not a valid type specification."
        ))
    }
}

fn placed(message: String, text: &str, at: usize) -> String {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!("{message} (line: {line}, column: {column})")
}
