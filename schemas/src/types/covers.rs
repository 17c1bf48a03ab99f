//! Whether one type covers another: every value of the other is a value of the one.

use super::model::{Alias, EnumValues, Foreign, KeyKind, Member, Range, Text, Type};
use super::pattern::Pattern;

impl Type {
    /// Whether every value of the other type is a value of this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unit, _) | (_, Self::Unit) => true,
            (Self::Variant(types), Self::Undef) if types.is_empty() => false,
            (Self::Variant(types), Self::Variant(others)) => {
                types.is_empty()
                    || (!others.is_empty() && others.iter().all(|one| self.covers(one)))
            }
            (Self::Alias(alias), Self::Alias(other)) => alias.covers(*other),
            (_, Self::Alias(alias)) => self.covers(&alias.definition()),
            (Self::Any, Self::Variant(_)) => true,
            (Self::NotUndef(inner), Self::Variant(others)) if others.is_empty() => {
                inner.as_ref().is_none_or(|inner| inner.covers(other))
            }
            (_, Self::Variant(others)) => {
                !others.is_empty() && others.iter().all(|one| self.covers(one))
            }
            (_, Self::Optional(inner)) => {
                self.covers(&Self::Undef) && inner.as_ref().is_none_or(|inner| self.covers(inner))
            }
            (_, Self::NotUndef(Some(inner))) if !inner.accepts_undef() => self.covers(inner),
            (_, Self::Hidden(inner)) if !self.speaks_of_secrets() => self.covers(inner),
            _ => self.covers_plain(other),
        }
    }

    /// Whether `undef` is a value of this type.
    pub(super) fn accepts_undef(&self) -> bool {
        self.covers(&Self::Undef)
    }

    /// Whether this type checks a sensitive value as such, instead of the hidden value.
    pub(super) fn speaks_of_secrets(&self) -> bool {
        match self {
            Self::Sensitive(_) => true,
            Self::Optional(Some(inner)) | Self::NotUndef(Some(inner)) => inner.speaks_of_secrets(),
            Self::Variant(types) => types.iter().any(Self::speaks_of_secrets),
            _ => false,
        }
    }

    pub(super) fn is_callable(&self) -> bool {
        match self {
            Self::Callable(_) => true,
            Self::Optional(Some(inner)) => inner.is_callable(),
            Self::Variant(types) => types.iter().all(Self::is_callable),
            _ => false,
        }
    }

    fn covers_plain(&self, other: &Self) -> bool {
        match self {
            Self::Any | Self::Unit => true,
            Self::Variant(types) => types.iter().any(|one| one.covers(other)),
            Self::Alias(alias) => alias.definition().covers(other),
            Self::Optional(None) => true,
            Self::Optional(Some(inner)) => *other == Self::Undef || inner.covers(other),
            Self::NotUndef(inner) => {
                !other.accepts_undef() && inner.as_ref().is_none_or(|inner| inner.covers(other))
            }
            Self::Scalar => {
                Self::ScalarData.covers(other)
                    || matches!(
                        other,
                        Self::Scalar
                            | Self::Regexp(_)
                            | Self::SemVerRange
                            | Self::Foreign(
                                Foreign::SemVer | Foreign::Timespan | Foreign::Timestamp,
                                _
                            )
                    )
            }
            Self::ScalarData => matches!(
                other,
                Self::ScalarData
                    | Self::Numeric
                    | Self::Integer(_)
                    | Self::Float(_)
                    | Self::Boolean(_)
                    | Self::String(_)
                    | Self::Enum(_)
                    | Self::Pattern(_)
            ),
            Self::Numeric => matches!(other, Self::Numeric | Self::Integer(_) | Self::Float(_)),
            Self::Boolean(truth) => {
                matches!(other, Self::Boolean(other) if truth.is_none() || truth == other)
            }
            Self::Integer(range) => matches!(other, Self::Integer(other) if range.covers(*other)),
            Self::Float(interval) => {
                matches!(other, Self::Float(other) if interval.covers(*other))
            }
            Self::String(text) => text.covers(other),
            Self::Enum(words) => words.covers(other),
            Self::Pattern(patterns) => patterns_cover(patterns, other),
            Self::Regexp(pattern) => {
                matches!(other, Self::Regexp(other) if pattern.is_none() || pattern == other)
            }
            Self::Foreign(kind, parameters) => matches!(
                other,
                Self::Foreign(other, given)
                    if kind == other && (parameters.is_empty() || parameters == given)
            ),
            Self::Sensitive(inner) => match other {
                Self::Sensitive(other) => inner.covers(other),
                Self::Hidden(other) => inner.covers(&other.generalize()),
                _ => false,
            },
            Self::Metatype(inner) => match (inner, other) {
                (None, Self::Metatype(_)) => true,
                (Some(inner), Self::Metatype(Some(other))) => inner.covers(other),
                _ => false,
            },
            Self::Collection(size) => other
                .size()
                .is_some_and(|other| size.unwrap_or(Range::SIZES).covers(other)),
            Self::Array(element, size) => match other {
                Self::Tuple(types, _) => {
                    size.unwrap_or(Range::SIZES)
                        .covers(other.size().unwrap_or(Range::SIZES))
                        && types.iter().all(|one| element.covers(one))
                }
                Self::Array(others, other_size) => {
                    size.unwrap_or(Range::SIZES)
                        .covers(other_size.unwrap_or(Range::SIZES))
                        && element.covers(others)
                }
                _ => false,
            },
            Self::Hash(key, value, size) => match other {
                Self::Hash(_, _, Some(Range::ZERO)) if size.is_none_or(|size| size.from == 0) => {
                    true
                }
                Self::Hash(other_key, other_value, other_size) => {
                    key.covers(other_key)
                        && value.covers(other_value)
                        && size
                            .unwrap_or(Range::SIZES)
                            .covers(other_size.unwrap_or(Range::SIZES))
                }
                Self::Struct(members) => {
                    size.unwrap_or(Range::SIZES).contains_size(members.len())
                        && members.iter().all(|member| {
                            key.covers(&Self::String(Text::Exactly(member.name.clone())))
                                && value.covers(&member.value)
                        })
                }
                _ => false,
            },
            Self::Tuple(types, size) => {
                self == other || tuple_covers(types, *size, self.tuple_size(), other)
            }
            Self::Struct(members) => struct_covers(members, other),
            Self::Callable(signature) => match (signature, other) {
                (None, Self::Callable(_)) => true,
                _ => self == other,
            },
            Self::Runtime(name) => match other {
                Self::Runtime(other) => name.is_empty() || name == other,
                _ => false,
            },
            Self::Class(_) | Self::Resource(_) => self.name() == other.name(),
            Self::CatalogEntry => {
                matches!(
                    other,
                    Self::CatalogEntry | Self::Class(_) | Self::Resource(_)
                )
            }
            Self::Iterable(None) => other.is_iterable(),
            Self::Iterable(Some(inner)) => {
                other
                    .iterated()
                    .is_some_and(|element| inner.covers(&element))
                    || (inner.covers(&Self::Any) && other.is_iterable())
            }
            Self::Init(None) => Self::Alias(Alias::RichData).covers(other),
            Self::Init(Some(creation)) => match other {
                Self::Init(Some(other)) => creation.target.covers(&other.target),
                _ => {
                    creation.target.covers(other)
                        || creation.sources.iter().any(|source| source.covers(other))
                }
            },
            Self::Undef
            | Self::Default
            | Self::Binary
            | Self::SemVerRange
            | Self::Object
            | Self::SetOfTypes
            | Self::Iterator(_)
            | Self::Reference(_)
            | Self::Hidden(_) => self == other,
        }
    }

    /// Returns the possible sizes of a collection of this type.
    fn size(&self) -> Option<Range> {
        match self {
            Self::Collection(size) | Self::Array(_, size) | Self::Hash(_, _, size) => {
                Some(size.unwrap_or(Range::SIZES))
            }
            Self::Tuple(types, size) => Some(size.unwrap_or(Range::of_size(types.len()))),
            Self::Struct(members) => Some(Range::of_size(members.len())),
            _ => None,
        }
    }

    /// Returns the possible sizes of a tuple. A tuple without types has any size.
    pub(super) fn tuple_size(&self) -> Range {
        match self {
            Self::Tuple(_, Some(size)) => *size,
            Self::Tuple(types, None) if !types.is_empty() => Range::of_size(types.len()),
            _ => Range::SIZES,
        }
    }
}

impl Alias {
    fn covers(self, other: Self) -> bool {
        let plain = |alias| match alias {
            Self::LookupKey => Self::RichDataKey,
            Self::LookupValue => Self::RichData,
            other => other,
        };
        matches!(
            (plain(self), plain(other)),
            (Self::RichData, _)
                | (Self::Data, Self::Data | Self::RichDataKey)
                | (Self::RichDataKey, Self::RichDataKey)
        )
    }
}

impl Text {
    fn derived_size(&self) -> Range {
        match self {
            Self::All => Range::SIZES,
            Self::Sized(size) => *size,
            Self::Exactly(text) => Range::of_size(text.chars().count()),
        }
    }

    fn covers(&self, other: &Type) -> bool {
        match (self, other) {
            (Self::All, Type::String(_) | Type::Enum(_) | Type::Pattern(_)) => true,
            (Self::Sized(size), Type::String(other)) => size.covers(other.derived_size()),
            (Self::Sized(size), Type::Enum(words)) if !words.words.is_empty() => words
                .words
                .iter()
                .all(|word| size.contains_size(word.chars().count())),
            (Self::Sized(size), Type::Enum(_) | Type::Pattern(_)) => size.covers(Range::SIZES),
            (Self::Exactly(_), Type::String(other)) => self == other,
            (Self::Exactly(_), Type::Enum(words)) => words.words.len() == 1 && !words.ignore_case,
            _ => false,
        }
    }
}

impl EnumValues {
    fn covers(&self, other: &Type) -> bool {
        match other {
            Type::String(_) | Type::Enum(_) | Type::Pattern(_) if self.words.is_empty() => true,
            Type::String(Text::Exactly(text)) => self.contains(text),
            Type::Enum(others) => {
                self == others
                    || (!others.words.is_empty()
                        && (self.ignore_case || !others.ignore_case)
                        && others.words.iter().all(|word| self.contains(word)))
            }
            _ => false,
        }
    }
}

fn patterns_cover(patterns: &[Pattern], other: &Type) -> bool {
    let matches = |text: &str| {
        patterns
            .iter()
            .any(|one| one.regexp().is_match(text).unwrap_or(false))
    };
    match other {
        Type::String(Text::Exactly(text)) => patterns.is_empty() || matches(text),
        Type::Enum(words) if !words.words.is_empty() => {
            patterns.is_empty() || words.words.iter().all(|word| matches(word))
        }
        Type::Pattern(others) if others == patterns => true,
        Type::String(_) | Type::Enum(_) | Type::Pattern(_) => patterns.is_empty(),
        _ => false,
    }
}

fn tuple_covers(types: &[Type], size: Option<Range>, sizes: Range, other: &Type) -> bool {
    let at = |index: usize| types.get(index.min(types.len().saturating_sub(1)));
    match other {
        Type::Tuple(others, _) => {
            if !sizes.covers(other.tuple_size()) {
                return false;
            }
            if !types.is_empty() && others.is_empty() {
                return sizes.from == 0;
            }
            others
                .iter()
                .enumerate()
                .all(|(index, one)| at(index).is_none_or(|expected| expected.covers(one)))
        }
        Type::Array(element, other_size) => {
            let other_size = other_size.unwrap_or(Range::SIZES);
            let count = (types.len() as i128).min(other_size.to);
            (size.unwrap_or(sizes)).covers(other_size)
                && types
                    .iter()
                    .take(usize::try_from(count).unwrap_or(0))
                    .all(|one| one.covers(element))
        }
        _ => false,
    }
}

fn struct_covers(members: &[Member], other: &Type) -> bool {
    match other {
        Type::Struct(others) => {
            let mut matched = 0;
            let all = members.iter().all(|member| {
                match others.iter().rev().find(|other| other.name == member.name) {
                    None => member.is_optional(),
                    Some(other) => {
                        matched += 1;
                        (member.is_optional() || other.key == KeyKind::Required)
                            && member.value.covers(&other.value)
                    }
                }
            });
            all && matched == others.len()
        }
        Type::Hash(key, value, size) => {
            let required = members.iter().filter(|member| !member.is_optional());
            let all = required
                .clone()
                .all(|member| member.value.covers(value) && Type::STRING.covers(key));
            let sizes = Range {
                from: required.count() as i128,
                to: members.len() as i128,
            };
            all && sizes.covers(size.unwrap_or(Range::SIZES))
        }
        _ => false,
    }
}
