//! Interprets the parameters of types with parts: elements, members, sizes, signatures.

use super::literal::{Literal, one};
use super::reader::TypeReader;
use super::scalars;
use crate::types::error::Fault;
use crate::types::expression::Expression;
use crate::types::model::{KeyKind, Member, Range, Signature, Text, Type};

impl TypeReader<'_> {
    pub(super) fn array(
        &self,
        whole: &Expression,
        mut parameters: Vec<Literal>,
    ) -> Result<Type, Fault> {
        let given = parameters.len();
        if given == 2 && !matches!(parameters[0], Literal::Type(_)) {
            let size = self.size(whole, &parameters)?;
            return Ok(Type::array(Type::Default, Some(size)));
        }
        if !(1..=3).contains(&given) {
            return Err(Fault::parameters("Array", "1 to 3", given));
        }
        let sizes = parameters.split_off(1);
        let element = self.kind(whole, one(parameters, "Array", "1 to 3")?)?;
        let size = match sizes.as_slice() {
            [] => None,
            sizes => Some(self.size(whole, sizes)?),
        };
        Ok(Type::array(element, size))
    }

    pub(super) fn hash(
        &self,
        whole: &Expression,
        mut parameters: Vec<Literal>,
    ) -> Result<Type, Fault> {
        let given = parameters.len();
        if !(2..=4).contains(&given) {
            return Err(Fault::parameters("Hash", "2 to 4", given));
        }
        let typed = matches!(parameters[..2], [Literal::Type(_), Literal::Type(_)]);
        if given == 2 && !typed {
            let size = self.size(whole, &parameters)?;
            return Ok(Type::hash(Type::Default, Type::Default, Some(size)));
        }
        let sizes = parameters.split_off(2);
        let mut types = self.types(whole, parameters)?.into_iter();
        let size = match sizes.as_slice() {
            [] => None,
            sizes => Some(self.size(whole, sizes)?),
        };
        match (types.next(), types.next()) {
            (Some(key), Some(value)) => Ok(Type::hash(key, value, size)),
            _ => Err(self.refuse(whole)),
        }
    }

    pub(super) fn tuple(
        &self,
        whole: &Expression,
        mut parameters: Vec<Literal>,
    ) -> Result<Type, Fault> {
        let given = parameters.len();
        // A quoted 'default' is only valid as the lower bound: the upper bound accepts only the bare word.
        let from = |one: &Literal| match one {
            Literal::Text(text) if text == "default" => Some(None),
            other => other.bound(),
        };
        let is_bound = |back: usize| given >= back && from(&parameters[given - back]).is_some();
        let bounds = match (is_bound(2), is_bound(1)) {
            (true, true) => 2,
            (true, false) => return Err(self.refuse(whole)),
            (false, true) => 1,
            (false, false) => 0,
        };
        let size = match parameters.split_off(given - bounds).as_slice() {
            [] => None,
            [low, rest @ ..] => {
                let to = rest.first().and_then(|to| to.bound().flatten());
                Some(scalars::range(Some(from(low).flatten().unwrap_or(0)), to)?.to_size())
            }
        };
        Ok(Type::Tuple(
            parameters.into_iter().map(Literal::into_type).collect(),
            size,
        ))
    }

    pub(super) fn members(
        &self,
        whole: &Expression,
        parameters: Vec<Literal>,
    ) -> Result<Type, Fault> {
        let Literal::Hash(pairs) = one(parameters, "Struct", "1")? else {
            return Err(self.refuse(whole));
        };
        let members: Result<Vec<Member>, Fault> = pairs
            .into_iter()
            .map(|(key, value)| member(key, value.into_type()))
            .collect();
        Ok(Type::Struct(members?))
    }
}

fn member(key: Literal, value: Type) -> Result<Member, Fault> {
    let (key, name) = match key {
        Literal::Text(name) if name.is_empty() => {
            return Err(Fault::Argument(
                "Struct element key cannot be an empty String".to_owned(),
            ));
        }
        Literal::Text(name) => {
            let key = if value.accepts_undef() {
                KeyKind::Optional
            } else {
                KeyKind::Required
            };
            return Ok(Member { name, key, value });
        }
        Literal::Type(Type::NotUndef(Some(inner))) => (KeyKind::Required, *inner),
        Literal::Type(Type::Optional(Some(inner))) => (KeyKind::Optional, *inner),
        Literal::Type(Type::Enum(words)) if words.words.len() == 1 => (
            KeyKind::Required,
            Type::String(Text::Exactly(words.words.concat())),
        ),
        Literal::Type(
            found @ (Type::String(_) | Type::Enum(_) | Type::NotUndef(_) | Type::Optional(_)),
        ) => (KeyKind::Required, found),
        other => {
            return Err(Fault::Argument(format!(
                "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. \
                 Got: {}",
                other.class()
            )));
        }
    };
    match name {
        Type::String(Text::Exactly(name)) => Ok(Member { name, key, value }),
        other => Err(Fault::Argument(format!(
            "Unable to extract a non-empty literal string from Struct member key type {other}"
        ))),
    }
}

/// Interprets a `Callable`: parameters, bounds of their number and a block, and optionally the return type
/// after a list of these.
pub(super) fn callable(mut parameters: Vec<Literal>) -> Result<Type, Fault> {
    let mut returns = None;
    if parameters.len() > 1 && matches!(parameters[0], Literal::List(_)) {
        let given = parameters.len();
        match (parameters.pop(), parameters.pop()) {
            (Some(last), Some(Literal::List(inner))) if given == 2 => {
                returns = Some(last.into_type()).filter(|found| *found != Type::Any);
                parameters = inner;
            }
            _ => {
                let required = "2 when first parameter is an array";
                return Err(Fault::parameters("callable", required, given));
            }
        }
    }
    let block = match parameters.last() {
        Some(Literal::Type(last)) if last.is_callable() => parameters.pop().map(Literal::into_type),
        _ => None,
    };
    let given = parameters.len();
    let is_bound = |back: usize| given >= back && parameters[given - back].bound().is_some();
    let bounds = if is_bound(1) {
        1 + usize::from(is_bound(2))
    } else {
        0
    };
    let size = match parameters.split_off(given - bounds).as_slice() {
        [] => None,
        [from] => Some(scalars::range(from.bound().flatten(), None)?.to_size()),
        [from, to, ..] => {
            Some(scalars::range(from.bound().flatten(), to.bound().flatten())?.to_size())
        }
    };
    let mut types: Vec<Type> = parameters.into_iter().map(Literal::into_type).collect();
    if types.is_empty() && size.is_some_and(|size: Range| size.to > 0) {
        types.push(Type::Unit);
    }
    let signature = Signature {
        parameters: types,
        size,
        block,
        returns,
    };
    Ok(Type::Callable(Some(Box::new(signature))))
}
