//! Expressions of the Puppet language, as far as they can be part of a type.

use super::lexer::Token;
use super::pattern::Pattern;

/// An expression with its byte range.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) form: Form,
    pub(super) offset: usize,
    pub(super) end: usize,
}

/// The forms that can be part of a type. All other forms are one variant.
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
    /// Pairs in braces, or pairs without braces among a type's parameters.
    Hash {
        pairs: Vec<(Expression, Expression)>,
        braces: bool,
    },
    Access(Box<Expression>, Vec<Expression>),
    Minus(Box<Expression>),
    /// A form that is never a type: an operator, a call or a variable.
    Other(Vec<Expression>),
}

impl Expression {
    /// Creates an expression at the place of its token.
    pub(super) fn at(form: Form, token: &Token) -> Self {
        Self {
            form,
            offset: token.offset,
            end: token.end,
        }
    }

    /// Creates an expression that is never a type. It spans all of its parts.
    pub(super) fn other(parts: Vec<Self>) -> Self {
        let offset = parts.first().map_or(0, |first| first.offset);
        let end = parts.last().map_or(0, |last| last.end);
        Self {
            form: Form::Other(parts),
            offset,
            end,
        }
    }

    /// Returns the byte range of this expression and all of its parts.
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
