//! `.pp` files of resource declarations: that part of Puppet's language that says what is, without
//! computing anything.
//!
//! ```text
//! file        = { assignment | defaults | chain }
//! assignment  = VARIABLE "=" expression
//! defaults    = TYPE "{" [ attributes ] "}"
//! chain       = operand { ("->" | "~>" | "<-" | "<~") operand }
//! operand     = resource | reference | "[" reference { "," reference } "]"
//! resource    = NAME "{" body { ";" body } "}"
//! body        = expression ":" [ attributes ]          "default:" is for its neighbours
//! attributes  = attribute { "," attribute }            attribute = (WORD | "*") "=>" expression
//! expression  = text | heredoc | number | true | false | undef | default | WORD | list | hash
//!             | VARIABLE { "[" expression "]" } | reference | "Sensitive" "(" expression ")"
//! ```
//!
//! Everything else of the language is refused by name, with its place and what to use instead. No
//! message quotes a value: it may be a secret.

mod evaluate;
mod lexer;
mod parse;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod unsupported;

use std::sync::Arc;

use crate::device_run::{Catalog, Place, invalid};
use devgate_core::failure::Failure;

/// Reads the declarations of a `.pp` file.
///
/// # Errors
/// What is not read here, or everything that is wrong with the declarations, with line and column.
pub(super) fn read(text: &str, file: &str) -> Result<Catalog, Failure> {
    let source = Source::new(file, text);
    let tokens = lexer::tokens(text).map_err(|fault| source.failure(&[fault]))?;
    let statements = parse::statements(tokens).map_err(|fault| source.failure(&[fault]))?;
    evaluate::catalog(&statements, &source).map_err(|faults| source.failure(&faults))
}

/// What is wrong, and where: a byte of the text.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    offset: usize,
    message: String,
}

impl Fault {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }
}

/// A file's name and its text, which turn bytes into places.
struct Source<'t> {
    file: Arc<str>,
    text: &'t str,
    /// Where its lines begin.
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(file: &str, text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            file: file.into(),
            text,
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|start| *start <= offset);
        let before = &self.text[self.lines[line - 1]..offset];
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Place {
            file: Arc::clone(&self.file),
            line: count(line),
            column: count(before.chars().count() + 1),
        }
    }

    fn failure(&self, faults: &[Fault]) -> Failure {
        let told = |fault: &Fault| format!("{}: {}", self.place(fault.offset), fault.message);
        invalid(&faults.iter().map(told).collect::<Vec<_>>())
    }
}
