//! Puppet's wording for a wrong type, a text that does not match, and a wrong size.

use std::fmt::{self, Display, Formatter};

use super::mismatch::Quoting;
use super::model::{EnumValues, Range, Text, Type};

/// Returns the type's name, with the name of its single inner type.
fn short_name(shown: &Type) -> String {
    let inner = match shown {
        Type::Metatype(inner)
        | Type::NotUndef(inner)
        | Type::Optional(inner)
        | Type::Iterable(inner)
        | Type::Iterator(inner) => inner.as_deref(),
        Type::Init(creation) => creation.as_ref().map(|creation| &creation.target),
        Type::Sensitive(inner) => Some(inner.as_ref()),
        _ => None,
    };
    match inner {
        Some(inner) if *inner != Type::Any => format!("{}[{}]", shown.name(), inner.name()),
        _ => shown.name().to_owned(),
    }
}

/// Returns the general type of this kind: `Integer` for `Integer[0, 3]`.
fn default_of(shown: &Type) -> Type {
    match shown {
        Type::Boolean(_) => Type::BOOLEAN,
        Type::Integer(_) => Type::INTEGER,
        Type::Float(_) => Type::FLOAT,
        Type::String(_) => Type::STRING,
        Type::Enum(_) => Type::Enum(EnumValues::new(Vec::new(), false)),
        Type::Pattern(_) => Type::Pattern(Vec::new()),
        Type::Regexp(_) => Type::Regexp(None),
        Type::Foreign(kind, _) => Type::Foreign(*kind, String::new()),
        Type::Optional(_) => Type::Optional(None),
        Type::NotUndef(_) => Type::NotUndef(None),
        Type::Sensitive(_) | Type::Hidden(_) => Type::Sensitive(Box::new(Type::Any)),
        Type::Metatype(_) => Type::Metatype(None),
        Type::Iterable(_) => Type::Iterable(None),
        Type::Iterator(_) => Type::Iterator(None),
        Type::Init(_) => Type::Init(None),
        Type::Variant(_) => Type::Variant(Vec::new()),
        Type::Collection(_) => Type::Collection(None),
        Type::Array(..) => Type::any_array(),
        Type::Hash(..) => Type::any_hash(),
        Type::Tuple(..) => Type::Tuple(Vec::new(), None),
        Type::Struct(_) => Type::Struct(Vec::new()),
        Type::Callable(_) => Type::Callable(None),
        Type::Runtime(_) => Type::Runtime(String::new()),
        Type::Class(_) => Type::Class(None),
        Type::Resource(_) => Type::Resource(None),
        other => other.clone(),
    }
}

/// Whether both types are of the same kind, so that only their parameters differ.
fn same_kind(expected: &Type, actual: &Type) -> bool {
    std::mem::discriminant(expected) == std::mem::discriminant(actual)
        || matches!(expected, Type::Alias(_))
        || matches!((expected, actual), (Type::Sensitive(_), Type::Hidden(_)))
        || matches!((expected, actual), (Type::Struct(_), Type::Hash(..)))
        || matches!((expected, actual), (Type::Tuple(..), Type::Array(..)))
}

pub(super) fn type_message(
    expected: &Type,
    actual: &Type,
    quoting: Quoting,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let (optional, inner) = match expected {
        Type::Optional(Some(inner)) => (true, inner.as_ref()),
        other => (false, other),
    };
    let alternatives = match inner {
        Type::Variant(types) => types.as_slice(),
        other => std::slice::from_ref(other),
    };
    let always = alternatives.iter().any(|one| same_kind(one, actual));
    let detailed = always
        || alternatives
            .iter()
            .any(|one| default_of(one).covers(actual));
    let actual = if quoting == Quoting::Forbidden {
        actual.name().to_owned()
    } else if !detailed {
        short_name(actual)
    } else if shows_parameters(alternatives, actual) {
        if f.alternate() {
            plain(actual)
        } else {
            actual.to_string()
        }
    } else {
        actual.name().to_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for one in alternatives {
        let name = if detailed {
            one.to_string()
        } else {
            short_name(one)
        };
        if detailed || !names.contains(&name) {
            names.push(name);
        }
    }
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match names.as_slice() {
        [only] => {
            let article =
                if only.starts_with(['A', 'E', 'I', 'O', 'U', 'Y', 'a', 'e', 'i', 'o', 'u', 'y']) {
                    "an"
                } else {
                    "a"
                };
            write!(f, "expects {article} {only} value, got {actual}")
        }
        [one, other] => write!(f, "expects a value of type {one} or {other}, got {actual}"),
        [most @ .., last] => {
            write!(
                f,
                "expects a value of type {}, or {last}, got {actual}",
                most.join(", ")
            )
        }
        [] => write!(f, "expects a value of type , or , got {actual}"),
    }
}

/// Formats a value's type for people: a number is shown as it is, where Puppet shows its range.
fn plain(actual: &Type) -> String {
    match actual {
        Type::Integer(range) if range.from == range.to => range.from.to_string(),
        Type::Float(range) if range.from == range.to => range.from.to_string(),
        Type::Integer(_) | Type::Float(_) => actual.to_string(),
        other => other.generalize().to_string(),
    }
}

/// Whether the actual type's parameters help to explain the mismatch.
fn shows_parameters(alternatives: &[Type], actual: &Type) -> bool {
    let resolved: Vec<Type> = alternatives
        .iter()
        .map(|one| match one {
            Type::Alias(alias) => alias.definition(),
            other => other.clone(),
        })
        .collect();
    let general = actual.generalize();
    resolved.iter().any(|one| same_kind(one, actual))
        || resolved.iter().any(|one| one.covers(&general))
}

pub(super) fn match_message(
    expected: &Type,
    actual: &Type,
    quoting: Quoting,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let (prefix, expected) = match expected {
        Type::Optional(Some(inner)) => ("an undef value or ", inner.as_ref()),
        other => ("", other),
    };
    write!(f, "expects {prefix}a match for {expected}, got ")?;
    match actual {
        Type::String(Text::Exactly(text)) if quoting == Quoting::Allowed => write!(f, "'{text}'"),
        other if quoting == Quoting::Allowed => f.write_str(&short_name(other)),
        other => f.write_str(other.name()),
    }
}

/// A range of sizes, formatted in words.
pub(super) struct Sizes(pub(super) Range);

impl Display for Sizes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.0.from.max(0), self.0.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (0, Range::UNBOUNDED_ABOVE) => f.write_str("unlimited"),
            (0, to) => write!(f, "at most {to}"),
            (from, Range::UNBOUNDED_ABOVE) => write!(f, "at least {from}"),
            (from, to) => write!(f, "between {from} and {to}"),
        }
    }
}
