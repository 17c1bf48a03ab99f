//! Constructs of Puppet's language that declarations do not support: their names, and alternatives.

use super::fault::Fault;
use super::token::{Token, TokenKind};

/// A construct and its alternative.
type Refusal = (&'static str, &'static str);

const CONDITION: &str = "conditions are not evaluated: write the result";
const CALCULATION: &str = "calculations are not made: write the result";
const DECLARE: &str = "declare the resource itself";
const GIVE: &str = "give the value";

/// Returns the fault of an unsupported construct.
pub(super) fn refused(offset: usize, (what, instead): Refusal) -> Fault {
    let message = format!(
        "{what} is not supported: {instead}, or compile the manifest with Puppet and apply the catalog (--apply \
         catalog.json)"
    );
    Fault::new(offset, message)
}

pub(super) const OVERRIDE: Refusal = (
    "an override of a resource (`Type['x'] { … }`)",
    "set it where the resource is declared",
);
pub(super) const CLASS: Refusal = (
    "a class (`class { 'x': }`)",
    "write the resources themselves",
);
pub(super) const FUNCTION: Refusal = (
    "a call of a function",
    "functions run in Puppet; give the value",
);
pub(super) const TYPE_AS_VALUE: Refusal = ("a data type as a value", GIVE);
pub(super) const REGEXP: Refusal = ("a regular expression", CONDITION);
pub(super) const DESTRUCTURING: Refusal = (
    "an assignment to several variables",
    "assign them one by one",
);
pub(super) const FACTS: Refusal = (
    "a variable of Puppet's (facts, trusted, settings of a class)",
    "facts are not known to a manifest; give the value",
);

/// Returns the unsupported construct that a token begins.
pub(super) fn of(token: &Token) -> Option<Refusal> {
    match &token.kind {
        TokenKind::Name(name) => keyword(name),
        TokenKind::Symbol(symbol) => operator(symbol),
        _ => None,
    }
}

fn keyword(name: &str) -> Option<Refusal> {
    const WRITE: &str = "write the resources themselves";
    Some(match name {
        "class" => ("the definition of a class", WRITE),
        "define" => ("the definition of a resource type", WRITE),
        "node" => ("the definition of a node", WRITE),
        "function" => ("the definition of a function", GIVE),
        "type" => ("the definition of a data type", "leave it out"),
        "plan" | "application" | "site" => ("a plan or an application", WRITE),
        "inherits" | "import" => ("an import or an inheritance", WRITE),
        "if" | "elsif" | "else" | "unless" => ("a condition (`if`, `unless`)", CONDITION),
        "case" => ("a condition (`case`)", CONDITION),
        "and" | "or" | "in" => ("a condition (`and`, `or`, `in`)", CONDITION),
        _ => return None,
    })
}

fn operator(symbol: &str) -> Option<Refusal> {
    Some(match symbol {
        "?" => ("a selector (`?`)", CONDITION),
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "=~" | "!~" | "!" => ("a comparison", CONDITION),
        "+" | "-" | "*" | "/" | "%" | "<<" | ">>" => ("a calculation", CALCULATION),
        "." => (
            "a call of a method",
            "functions run in Puppet; give the value",
        ),
        "|" => ("a lambda", "write the resources themselves"),
        "<|" | "|>" => ("a collector (`<| |>`)", DECLARE),
        "<<|" | "|>>" => ("a collector of exported resources (`<<| |>>`)", DECLARE),
        "@" => ("a virtual resource (`@`)", DECLARE),
        "@@" => ("an exported resource (`@@`)", DECLARE),
        "+>" => (
            "an attribute that is added to (`+>`)",
            "set it where the resource is declared",
        ),
        "+=" | "-=" => ("an assignment that adds (`+=`)", CALCULATION),
        _ => return None,
    })
}
