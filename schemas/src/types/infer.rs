//! Infers the type of a value: exactly for every part, or reduced to a common type of its parts.

use super::instance::Subject;
use super::model::{Alias, EnumValues, Interval, KeyKind, Member, Range, Text, Type};
use super::secret::hidden;
use crate::{Hash, Key, Value};

/// The maximum nesting depth of values whose content is checked: more than JSON parsers accept.
pub(super) const MAX_DEPTH: usize = 150;

/// Whether the value is nested more than this many levels deep.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Hash(_) if levels == 0 => true,
        Value::Array(items) => items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Hash(hash) => hash.iter().any(|(_, value)| is_deeper(value, levels - 1)),
        Value::Sensitive(secret) => is_deeper(hidden(secret), levels),
        _ => false,
    }
}

/// Returns the exact type of a value, each part by itself.
pub(super) fn exact(value: &Value) -> Type {
    match value {
        Value::Undef => Type::Undef,
        Value::Boolean(truth) => Type::Boolean(Some(*truth)),
        Value::Integer(number) => Type::Integer(Range::point((*number).into())),
        Value::Float(number) => Type::Float(Interval {
            from: *number,
            to: *number,
        }),
        Value::String(text) => Type::String(Text::Exactly(text.clone())),
        Value::Symbol(name) => symbol(name),
        Value::Sensitive(secret) => Type::Hidden(Box::new(exact(hidden(secret)))),
        Value::Array(items) if items.is_empty() => Type::array(Type::Unit, Some(Range::ZERO)),
        Value::Array(items) => Type::Tuple(items.iter().map(exact).collect(), None),
        Value::Hash(hash) => exact_hash(hash),
    }
}

fn exact_hash(hash: &Hash) -> Type {
    if hash.is_empty() {
        return Type::hash(Type::Unit, Type::Unit, Some(Range::ZERO));
    }
    let members: Option<Vec<Member>> = hash
        .iter()
        .map(|(key, value)| match key {
            Key::String(name) if !name.is_empty() => Some(Member {
                name: name.to_string(),
                key: KeyKind::Required,
                value: exact(value),
            }),
            _ => None,
        })
        .collect();
    members.map_or_else(
        || {
            let keys = Type::variant(hash.iter().map(|(key, _)| plain(key.into())).collect());
            let values = Type::variant(hash.iter().map(|(_, value)| exact(value)).collect());
            Type::hash(keys, values, Some(Range::of_size(hash.len())))
        },
        Type::Struct,
    )
}

fn symbol(name: &str) -> Type {
    match name {
        "default" => Type::Default,
        "undef" => Type::Undef,
        _ => Type::Runtime("ruby, 'Symbol'".to_owned()),
    }
}

fn plain(subject: Subject<'_>) -> Type {
    match subject {
        Subject::Text(text) => Type::String(Text::Exactly(text.to_owned())),
        Subject::Integer(number) => Type::Integer(Range::point(number.into())),
        Subject::Value(value) => exact(value),
    }
}

/// Returns the type of a value, with one common type for all parts of a collection.
pub(super) fn reduced(subject: Subject<'_>) -> Type {
    let reduce = |types: &mut dyn Iterator<Item = Type>| types.reduce(common).unwrap_or(Type::Unit);
    match subject {
        Subject::Value(Value::Array(items)) if !items.is_empty() => Type::array(
            reduce(&mut items.iter().map(|item| reduced(Subject::Value(item)))),
            Some(Range::of_size(items.len())),
        ),
        Subject::Value(Value::Hash(hash)) if !hash.is_empty() => Type::hash(
            reduce(&mut hash.iter().map(|(key, _)| plain(key.into()))),
            reduce(&mut hash.iter().map(|(_, value)| reduced(Subject::Value(value)))),
            Some(Range::of_size(hash.len())),
        ),
        Subject::Value(Value::Sensitive(secret)) => {
            Type::Hidden(Box::new(reduced(Subject::Value(hidden(secret)))))
        }
        other => plain(other),
    }
}

/// Returns the most specific type that covers both.
pub(super) fn common(one: Type, other: Type) -> Type {
    match (one, other) {
        (Type::Undef | Type::Unit, other) | (other, Type::Undef | Type::Unit) => other,
        (one, other) if one.covers(&other) => one,
        (one, other) if other.covers(&one) => other,
        (Type::Array(one, _), Type::Array(other, _)) => Type::array(common(*one, *other), None),
        (Type::Hash(key, value, _), Type::Hash(other_key, other_value, _)) => {
            Type::hash(common(*key, *other_key), common(*value, *other_value), None)
        }
        (Type::Integer(one), Type::Integer(other)) => Type::Integer(one.hull(other)),
        (Type::Float(one), Type::Float(other)) => Type::Float(one.hull(other)),
        (Type::String(Text::Exactly(one)), Type::String(Text::Exactly(other))) => {
            Type::Enum(EnumValues::new(vec![one, other], false))
        }
        (Type::Enum(mut words), Type::String(Text::Exactly(word)))
        | (Type::String(Text::Exactly(word)), Type::Enum(mut words)) => {
            words.words.push(word);
            Type::Enum(EnumValues::new(words.words, false))
        }
        (Type::Enum(one), Type::Enum(other)) => {
            Type::Enum(EnumValues::new([one.words, other.words].concat(), false))
        }
        (Type::Regexp(_), Type::Regexp(_)) => Type::Regexp(None),
        (Type::Metatype(Some(one)), Type::Metatype(Some(other))) => {
            Type::Metatype(Some(Box::new(common(*one, *other))))
        }
        (one, other) => [
            Type::Numeric,
            Type::ScalarData,
            Type::Scalar,
            Type::Alias(Alias::Data),
            Type::Alias(Alias::RichData),
        ]
        .into_iter()
        .find(|general| general.covers(&one) && general.covers(&other))
        .unwrap_or(Type::Any),
    }
}
