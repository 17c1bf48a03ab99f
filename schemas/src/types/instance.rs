//! Checks whether a value is of a type. This is the most frequent operation, and it does not allocate.

use super::infer::{MAX_DEPTH, is_deeper, reduced};
use super::model::{Alias, Member, Range, Text, Type};
use super::secret::hidden;
use crate::{Key, Value};

/// A part of a hash or an array, seen as a value. The keys of a hash are not values themselves.
#[derive(Clone, Copy)]
pub(super) enum Subject<'v> {
    Value(&'v Value),
    Text(&'v str),
    Integer(i64),
}

impl<'v> From<&'v Key> for Subject<'v> {
    fn from(key: &'v Key) -> Self {
        match key {
            Key::String(text) => Self::Text(text),
            Key::Integer(number) => Self::Integer(*number),
        }
    }
}

impl Type {
    /// Whether the value is of this type.
    pub(super) fn admits(&self, value: &Value) -> bool {
        match value {
            Value::Sensitive(secret) => match self {
                Self::Sensitive(inner) => inner.admits(hidden(secret)),
                _ if self.speaks_of_secrets() => self.admits_plain(Subject::Value(value)),
                _ => self.admits(hidden(secret)),
            },
            Value::String(text) => self.admits_plain(Subject::Text(text)),
            Value::Integer(number) => self.admits_plain(Subject::Integer(*number)),
            other => self.admits_plain(Subject::Value(other)),
        }
    }

    fn admits_subject(&self, subject: Subject<'_>) -> bool {
        match subject {
            Subject::Value(value) => self.admits(value),
            plain => self.admits_plain(plain),
        }
    }

    fn admits_plain(&self, subject: Subject<'_>) -> bool {
        use Subject::{Integer, Text as EnumValues};
        let value = match subject {
            Subject::Value(value) => Some(value),
            _ => None,
        };
        let undef = || match value {
            Some(Value::Undef) => true,
            Some(Value::Symbol(name)) => name == "undef",
            _ => false,
        };
        match self {
            Self::Any | Self::Unit => true,
            Self::Undef => undef(),
            Self::Default => matches!(value, Some(Value::Symbol(name)) if name == "default"),
            Self::Scalar | Self::ScalarData => {
                matches!(subject, EnumValues(_) | Integer(_))
                    || matches!(value, Some(Value::Boolean(_) | Value::Float(_)))
            }
            Self::Numeric => {
                matches!(subject, Integer(_)) || matches!(value, Some(Value::Float(_)))
            }
            Self::Boolean(expected) => match value {
                Some(Value::Boolean(truth)) => expected.is_none_or(|expected| expected == *truth),
                _ => false,
            },
            Self::Integer(range) => match subject {
                Integer(number) => range.contains(number.into()),
                _ => false,
            },
            Self::Float(interval) => match value {
                Some(Value::Float(number)) => interval.contains(*number),
                _ => false,
            },
            Self::String(expected) => match subject {
                EnumValues(text) => expected.admits(text),
                _ => false,
            },
            Self::Enum(words) => match subject {
                EnumValues(text) => words.contains(text),
                _ => false,
            },
            Self::Pattern(patterns) => match subject {
                EnumValues(text) => {
                    patterns.is_empty()
                        || patterns
                            .iter()
                            .any(|one| one.regexp().is_match(text).unwrap_or(false))
                }
                _ => false,
            },
            Self::Optional(inner) => {
                undef()
                    || inner
                        .as_ref()
                        .is_some_and(|inner| inner.admits_subject(subject))
            }
            Self::NotUndef(inner) => {
                !undef()
                    && inner
                        .as_ref()
                        .is_none_or(|inner| inner.admits_subject(subject))
            }
            Self::Variant(types) => types.iter().any(|one| one.admits_subject(subject)),
            Self::Collection(size) => {
                let count = match value {
                    Some(Value::Array(items)) => items.len(),
                    Some(Value::Hash(hash)) => hash.len(),
                    _ => return false,
                };
                size.is_none_or(|size| size.contains_size(count))
            }
            Self::Array(element, size) => match value {
                Some(Value::Array(items)) => {
                    size.is_none_or(|size| size.contains_size(items.len()))
                        && items.iter().all(|item| element.admits(item))
                }
                _ => false,
            },
            Self::Hash(key, content, size) => match value {
                Some(Value::Hash(hash)) => {
                    size.is_none_or(|size| size.contains_size(hash.len()))
                        && hash.iter().all(|(name, value)| {
                            key.admits_subject(name.into()) && content.admits(value)
                        })
                }
                _ => false,
            },
            Self::Tuple(types, size) => match value {
                Some(Value::Array(items)) => tuple_admits(types, *size, items),
                _ => false,
            },
            Self::Struct(members) => match value {
                Some(Value::Hash(hash)) => struct_admits(members, hash),
                _ => false,
            },
            Self::Iterable(None) => match subject {
                EnumValues(_) => true,
                Integer(number) => number >= 0,
                Subject::Value(value) => matches!(value, Value::Array(_) | Value::Hash(_)),
            },
            Self::Iterable(Some(inner)) => {
                if inner.covers(&Self::Any) {
                    Self::Iterable(None).admits_plain(subject)
                } else {
                    self.admits_reduced(subject)
                }
            }
            Self::Runtime(_) | Self::CatalogEntry => self.admits_reduced(subject),
            Self::Alias(alias) => alias.admits(subject),
            Self::Init(None) => Alias::RichData.admits(subject),
            Self::Init(Some(creation)) => {
                creation.target.admits_subject(subject)
                    || creation
                        .sources
                        .iter()
                        .any(|source| source.admits_subject(subject))
            }
            Self::Sensitive(_)
            | Self::Binary
            | Self::SemVerRange
            | Self::Object
            | Self::SetOfTypes
            | Self::Regexp(_)
            | Self::Foreign(..)
            | Self::Metatype(_)
            | Self::Iterator(_)
            | Self::Callable(_)
            | Self::Class(_)
            | Self::Resource(_)
            | Self::Reference(_)
            | Self::Hidden(_) => false,
        }
    }
}

impl Type {
    /// Checks the inferred common type of all parts of the value.
    fn admits_reduced(&self, subject: Subject<'_>) -> bool {
        let too_deep = matches!(subject, Subject::Value(value) if is_deeper(value, MAX_DEPTH));
        !too_deep && self.covers(&reduced(subject))
    }
}

impl Text {
    fn admits(&self, text: &str) -> bool {
        match self {
            Self::All => true,
            Self::Sized(size) => {
                // A character has one to four bytes, so most texts need not be counted.
                size.covers(Range {
                    from: text.len().div_ceil(4) as i128,
                    to: text.len() as i128,
                }) || size.contains_size(text.chars().count())
            }
            Self::Exactly(expected) => expected == text,
        }
    }
}

impl Alias {
    fn admits(self, subject: Subject<'_>) -> bool {
        match subject {
            Subject::Text(_) | Subject::Integer(_) => true,
            Subject::Value(value) => self.admits_value(value, MAX_DEPTH),
        }
    }

    /// Checks a value down to a number of levels. A value that is nested deeper is not admitted.
    fn admits_value(self, value: &Value, levels: usize) -> bool {
        let is_rich = matches!(self, Self::RichData | Self::LookupValue);
        match value {
            Value::String(_) | Value::Integer(_) | Value::Float(_) => true,
            _ if matches!(self, Self::RichDataKey | Self::LookupKey) => false,
            Value::Undef | Value::Boolean(_) => true,
            Value::Symbol(name) => name == "undef" || (is_rich && name == "default"),
            Value::Array(_) | Value::Hash(_) if levels == 0 => false,
            Value::Array(items) => items.iter().all(|item| self.admits_value(item, levels - 1)),
            Value::Hash(hash) => hash.iter().all(|(key, value)| {
                (is_rich || matches!(key, Key::String(_))) && self.admits_value(value, levels - 1)
            }),
            Value::Sensitive(secret) => is_rich || self.admits_value(hidden(secret), levels),
        }
    }
}

fn tuple_admits(types: &[Type], size: Option<Range>, items: &[Value]) -> bool {
    let fits = match size {
        Some(size) => size.contains_size(items.len()),
        None => types.is_empty() || types.len() == items.len(),
    };
    let last = types.len().saturating_sub(1);
    fits && items.iter().enumerate().all(|(index, item)| {
        types
            .get(index.min(last))
            .is_none_or(|one| one.admits(item))
    })
}

fn struct_admits(members: &[Member], hash: &crate::Hash) -> bool {
    let mut matched = 0;
    let all = members.iter().all(|member| match hash.get(&member.name) {
        None => member.is_optional(),
        Some(value) => {
            matched += 1;
            member.value.admits(value)
        }
    });
    all && matched == hash.len()
}
