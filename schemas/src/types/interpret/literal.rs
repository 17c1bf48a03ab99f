//! The possible parameters of a type, and the type that each stands for.

use crate::types::display::{float, quoted};
use crate::types::error::Fault;
use crate::types::infer::common;
use crate::types::model::{Interval, Range, Text, Type};
use crate::types::pattern::Pattern;

/// A parameter of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Type(Type),
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Default,
    Undef,
    Regexp(Pattern),
    List(Vec<Self>),
    Hash(Vec<(Self, Self)>),
}

impl Literal {
    /// Parses a number. Integers in a type may have more than 64 bits.
    pub(super) fn number(number: &str) -> Result<Self, Fault> {
        let too_large = || {
            Fault::Argument(format!(
                "the number {number} is too large, expected at most 127 bits"
            ))
        };
        let lower = number.to_ascii_lowercase();
        let integer = if let Some(hex) = lower.strip_prefix("0x") {
            i128::from_str_radix(hex, 16)
        } else if lower.contains(['.', 'e']) {
            let float = lower.parse().ok().filter(|float| f64::is_finite(*float));
            return float.map(Self::Float).ok_or_else(too_large);
        } else if lower.len() > 1 && lower.starts_with('0') {
            i128::from_str_radix(&lower, 8)
        } else {
            lower.parse()
        };
        integer
            .ok()
            .filter(|value| *value < i128::MAX)
            .map(Self::Integer)
            .ok_or_else(too_large)
    }

    /// Returns the bound of a size: a number, or `Some(None)` for the word `default`. Other literals are
    /// not bounds.
    pub(super) fn bound(&self) -> Option<Option<i128>> {
        match self {
            Self::Integer(number) => Some(Some(*number)),
            Self::Default => Some(None),
            _ => None,
        }
    }

    /// Returns the literal's Ruby class, which some errors show.
    pub(super) fn class(&self) -> String {
        let name = match self {
            Self::Type(found) => return format!("Puppet::Pops::Types::P{}Type", found.name()),
            Self::Text(_) => "String",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::Boolean(true) => "TrueClass",
            Self::Boolean(false) => "FalseClass",
            Self::Default => "Symbol",
            Self::Undef => "NilClass",
            Self::Regexp(_) => "Regexp",
            Self::List(_) => "Array",
            Self::Hash(_) => "Hash",
        };
        name.to_owned()
    }

    /// Returns the literal if it is a type, and otherwise the general type of its value: a quirk of
    /// Puppet's `Tuple[1]`. A text names a class of the runtime.
    pub(super) fn into_type(self) -> Type {
        match self {
            Self::Type(found) => found,
            Self::Text(name) => Type::Runtime(format!("ruby, {}", quoted(&name))),
            other => other.inferred().generalize(),
        }
    }

    /// Returns the type of the literal as a value.
    pub(super) fn inferred(&self) -> Type {
        let reduce = |items: &mut dyn Iterator<Item = Type>| items.reduce(common);
        match self {
            Self::Type(found) => Type::Metatype(Some(Box::new(found.clone()))),
            Self::Text(text) => Type::String(Text::Exactly(text.clone())),
            Self::Integer(number) => Type::Integer(Range::point(*number)),
            Self::Float(number) => Type::Float(Interval {
                from: *number,
                to: *number,
            }),
            Self::Boolean(truth) => Type::Boolean(Some(*truth)),
            Self::Default => Type::Default,
            Self::Undef => Type::Undef,
            Self::Regexp(pattern) => Type::Regexp(Some(pattern.clone())),
            Self::List(items) => Type::array(
                reduce(&mut items.iter().map(Self::inferred)).unwrap_or(Type::Unit),
                Some(Range::of_size(items.len())),
            ),
            Self::Hash(pairs) => Type::hash(
                reduce(&mut pairs.iter().map(|(key, _)| key.inferred())).unwrap_or(Type::Unit),
                reduce(&mut pairs.iter().map(|(_, one)| one.inferred())).unwrap_or(Type::Unit),
                Some(Range::of_size(pairs.len())),
            ),
        }
    }

    /// Returns the canonical text of the literal.
    pub(super) fn canonical(&self) -> String {
        match self {
            Self::Type(found) => found.to_string(),
            Self::Text(text) => quoted(text),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => float(*number),
            Self::Boolean(truth) => truth.to_string(),
            Self::Default => "default".to_owned(),
            Self::Undef => "undef".to_owned(),
            Self::Regexp(pattern) => pattern.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::canonical).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Hash(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| format!("{} => {}", key.canonical(), value.canonical()))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }
}

/// Returns the only parameter, or an error if there is not exactly one.
pub(super) fn one(
    mut parameters: Vec<Literal>,
    name: &str,
    required: &str,
) -> Result<Literal, Fault> {
    match (parameters.pop(), parameters.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => Err(Fault::parameters(
            name,
            required,
            others + usize::from(last.is_some()),
        )),
    }
}
