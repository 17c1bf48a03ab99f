//! The source text, and the conversion of parameters to types and sizes.

use super::literal::Literal;
use super::scalars;
use crate::types::error::Fault;
use crate::types::expression::Expression;
use crate::types::model::{Range, Text, Type};

pub(super) struct TypeReader<'t> {
    pub(super) text: &'t str,
}

impl TypeReader<'_> {
    pub(super) fn original(&self, expression: &Expression) -> &str {
        let (from, to) = expression.extent();
        &self.text[from..to]
    }

    pub(super) fn refuse(&self, expression: &Expression) -> Fault {
        Fault::expression(self.original(expression))
    }

    /// Converts a parameter to a type.
    pub(super) fn kind(&self, whole: &Expression, parameter: Literal) -> Result<Type, Fault> {
        match parameter {
            Literal::Type(found) => Ok(found),
            _ => Err(self.refuse(whole)),
        }
    }

    pub(super) fn types(
        &self,
        whole: &Expression,
        parameters: Vec<Literal>,
    ) -> Result<Vec<Type>, Fault> {
        parameters
            .into_iter()
            .map(|one| self.kind(whole, one))
            .collect()
    }

    /// Converts a parameter to a type; a text becomes the type of this text alone.
    pub(super) fn text_or_type(
        &self,
        whole: &Expression,
        parameter: Literal,
    ) -> Result<Type, Fault> {
        match parameter {
            Literal::Text(text) => Ok(Type::String(Text::Exactly(text))),
            other => self.kind(whole, other),
        }
    }

    /// Converts one or two bounds, or an `Integer` type, to a size.
    pub(super) fn size(&self, whole: &Expression, parameters: &[Literal]) -> Result<Range, Fault> {
        let bound = |one: &Literal| one.bound().ok_or_else(|| self.refuse(whole));
        match parameters {
            [Literal::Type(Type::Integer(range))] => Ok(*range),
            [from] => scalars::range(bound(from)?, None),
            [from, to] => scalars::range(bound(from)?, bound(to)?),
            _ => Err(self.refuse(whole)),
        }
    }
}
