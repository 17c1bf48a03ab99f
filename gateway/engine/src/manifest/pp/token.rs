//! The tokens of Puppet's language that declarations need.

use devgate_schemas::Value;

/// A token, and the byte at which it starts.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) offset: usize,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name, a keyword or a bare word: `frr_interface`, `true`, `a::b`.
    Name(String),
    /// A type's name: `Frr_interface`, `A::B`.
    TypeName(String),
    /// A variable, without its `$`.
    Variable(String),
    /// A number.
    Number(Value),
    /// A text in quotes, or a heredoc.
    Text(Vec<Piece>),
    /// An operator, or punctuation.
    Symbol(&'static str),
    /// The end of the text, or of an interpolation.
    End,
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Literal text.
    Literal(String),
    /// An interpolation: `${…}`.
    Code(Vec<Token>),
}

/// Pieces are never equal. Parsers compare kinds only to find symbols and names.
impl PartialEq for Piece {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

impl Token {
    /// Whether the token is this operator or punctuation.
    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(found) if found == symbol)
    }

    /// Describes the token for messages, without its value.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Name(_) => "a word".to_owned(),
            TokenKind::TypeName(name) => format!("the type `{name}`"),
            TokenKind::Variable(name) => format!("`${name}`"),
            TokenKind::Number(_) => "a number".to_owned(),
            TokenKind::Text(_) => "a text".to_owned(),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::End => "the end".to_owned(),
        }
    }
}
