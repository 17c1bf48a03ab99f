//! Expressions of the Puppet language, as far as they can be part of a type.

use super::lexer::Token;
use super::pattern::Pattern;

/// An expression and where it stands, in bytes.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) form: Form,
    pub(super) offset: usize,
    pub(super) end: usize,
}

/// The expressions that can be part of a type, and all others in one.
#[derive(Debug)]
pub(super) enum Form {
    Name(String),
    Reference(String),
    Text(String),
    Number(String),
    Boolean(bool),
    Default,
    Undef,
    Regexp(Pattern),
    List(Vec<Expression>),
    /// Pairs in braces, or without them among a type's parameters.
    Hash {
        pairs: Vec<(Expression, Expression)>,
        braces: bool,
    },
    Access(Box<Expression>, Vec<Expression>),
    Minus(Box<Expression>),
    /// What can never be a type: operators, calls, variables.
    Other(Vec<Expression>),
}

impl Expression {
    /// An expression that stands where its token stands.
    pub(super) fn at(form: Form, token: &Token) -> Self {
        Self {
            form,
            offset: token.offset,
            end: token.end,
        }
    }

    /// What can never be a type, from its first part to its last.
    pub(super) fn other(parts: Vec<Self>) -> Self {
        let offset = parts.first().map_or(0, |first| first.offset);
        let end = parts.last().map_or(0, |last| last.end);
        Self {
            form: Form::Other(parts),
            offset,
            end,
        }
    }

    /// The bytes from the first to the last that belong to this expression or a part of it.
    pub(super) fn extent(&self) -> (usize, usize) {
        let mut extent = (self.offset, self.end);
        let mut widen = |part: &Self| {
            let (from, to) = part.extent();
            extent = (extent.0.min(from), extent.1.max(to));
        };
        match &self.form {
            Form::List(parts) | Form::Other(parts) => parts.iter().for_each(widen),
            Form::Access(left, parts) => {
                widen(left);
                parts.iter().for_each(widen);
            }
            Form::Minus(part) => widen(part),
            Form::Hash { pairs, .. } => pairs.iter().for_each(|(key, value)| {
                widen(key);
                widen(value);
            }),
            _ => {}
        }
        extent
    }
}
