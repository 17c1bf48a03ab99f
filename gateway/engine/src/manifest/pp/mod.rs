//! `.pp` files of resource declarations: the declarative part of Puppet's language, without computations.
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
//! Everything else in the language is refused by name, with its position and an alternative. No message quotes a value,
//! because it may be a secret.

mod evaluate;
mod fault;
mod lexer;
mod parse;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod unsupported;

use devgate_core::failure::Failure;

use crate::device_run::Catalog;
use fault::SourceText;

/// Reads the declarations of a `.pp` file.
///
/// # Errors
/// Fails for unsupported syntax, or with all problems of the declarations, with line and column.
pub(super) fn read(text: &str, file: &str) -> Result<Catalog, Failure> {
    let source = SourceText::new(file, text);
    let tokens = lexer::tokens(text).map_err(|fault| source.failure(&[fault]))?;
    let statements = parse::statements(tokens).map_err(|fault| source.failure(&[fault]))?;
    evaluate::catalog(&statements, &source).map_err(|faults| source.failure(&faults))
}
