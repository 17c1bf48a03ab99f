//! The normal form of a type: no variant of a single type, no nested optionals, ranges joined.

use super::model::{EnumValues, Member, Range, Text, Type};
use super::pattern::Pattern;

impl Type {
    /// Returns the type in Puppet's normal form, which its messages show.
    pub(super) fn normalize(&self) -> Self {
        match self {
            Self::Optional(Some(inner)) => match inner.normalize() {
                Self::NotUndef(None) => Self::Optional(None),
                Self::NotUndef(Some(inner)) => Self::Optional(Some(inner)).normalize(),
                inner if inner.accepts_undef() => inner,
                inner => Self::Optional(Some(Box::new(inner))),
            },
            Self::NotUndef(Some(inner)) => match inner.normalize() {
                Self::Optional(None) => Self::NotUndef(None),
                Self::Optional(Some(inner)) => Self::NotUndef(Some(inner)).normalize(),
                inner if !inner.accepts_undef() => inner,
                Self::Any => Self::NotUndef(None),
                inner => Self::NotUndef(Some(Box::new(inner))),
            },
            Self::Metatype(Some(inner)) => Self::Metatype(Some(Box::new(inner.normalize()))),
            Self::Iterable(Some(inner)) => Self::Iterable(Some(Box::new(inner.normalize()))),
            Self::Iterator(Some(inner)) => Self::Iterator(Some(Box::new(inner.normalize()))),
            Self::Sensitive(inner) => Self::Sensitive(Box::new(inner.normalize().generalize())),
            Self::Collection(_) => Self::Collection(None),
            Self::Array(element, _) if **element == Self::Any => Self::any_array(),
            Self::Array(element, size) => Self::array(element.normalize(), *size),
            Self::Hash(key, value, size) => Self::hash(key.normalize(), value.normalize(), *size),
            Self::Tuple(types, size) => {
                Self::Tuple(types.iter().map(Self::normalize).collect(), *size)
            }
            Self::Struct(members) => Self::Struct(
                members
                    .iter()
                    .map(|member| Member {
                        value: member.value.normalize(),
                        ..member.clone()
                    })
                    .collect(),
            ),
            Self::Variant(types) if !types.is_empty() => {
                normal_variant(types.iter().map(Self::normalize).collect(), types)
            }
            _ => self.clone(),
        }
    }
}

fn normal_variant(mut types: Vec<Type>, original: &[Type]) -> Type {
    if types.len() == 1 {
        return types.swap_remove(0);
    }
    if types
        .iter()
        .any(|one| matches!(one, Type::Undef | Type::Optional(_)))
    {
        let defined = types.into_iter().filter_map(|one| match one {
            Type::Undef => None,
            Type::Optional(inner) => inner.map(|inner| *inner),
            other => Some(other),
        });
        return Type::Optional(Some(Box::new(Type::variant(defined.collect())))).normalize();
    }
    let altered = types != original;
    let mut types: Vec<Type> = types
        .into_iter()
        .flat_map(|one| match one {
            Type::Variant(types) => types,
            other => vec![other],
        })
        .collect();
    let count = types.len();
    for merge in [
        not_undefs,
        words,
        words_ignoring_case,
        patterns,
        integers,
        floats,
    ] {
        if types.len() > 1 {
            types = merge(types);
        }
    }
    match types.len() {
        1 => types.swap_remove(0),
        // Puppet keeps the original if nothing was joined, even if the order has changed.
        merged if merged == count && !altered => Type::Variant(original.to_vec()),
        _ => Type::variant(types),
    }
}

/// Separates the types of one kind from the others. Returns `None` if fewer than two are of that kind.
fn split<T>(types: &[Type], kind: impl Fn(&Type) -> Option<T>) -> Option<(Vec<T>, Vec<Type>)> {
    let parts: Vec<T> = types.iter().filter_map(&kind).collect();
    let others = types
        .iter()
        .filter(|one| kind(one).is_none())
        .cloned()
        .collect();
    (parts.len() > 1).then_some((parts, others))
}

fn not_undefs(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::NotUndef(inner) => Some(inner.as_ref().map_or(Type::Any, |inner| (**inner).clone())),
        _ => None,
    });
    let Some((parts, mut others)) = parts else {
        return types;
    };
    others.push(Type::NotUndef(Some(Box::new(
        Type::variant(parts).normalize(),
    ))));
    others
}

fn words(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::Enum(words) if !words.words.is_empty() && !words.ignore_case => {
            Some(words.words.clone())
        }
        Type::String(Text::Exactly(text)) => Some(vec![text.clone()]),
        _ => None,
    });
    let Some((parts, mut others)) = parts else {
        return types;
    };
    others.push(Type::Enum(EnumValues::new(parts.concat(), false)));
    others
}

fn words_ignoring_case(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::Enum(words) if !words.words.is_empty() && words.ignore_case => Some(
            words
                .words
                .iter()
                .map(|word| word.to_lowercase())
                .collect::<Vec<_>>(),
        ),
        _ => None,
    });
    let Some((parts, mut others)) = parts else {
        return types;
    };
    others.push(Type::Enum(EnumValues::new(parts.concat(), true)));
    others
}

fn patterns(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::Pattern(patterns) => Some(patterns.clone()),
        _ => None,
    });
    let Some((parts, mut others)) = parts else {
        return types;
    };
    let mut merged: Vec<Pattern> = Vec::new();
    for pattern in parts.concat() {
        if !merged.contains(&pattern) {
            merged.push(pattern);
        }
    }
    others.push(Type::Pattern(merged));
    others
}

fn integers(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::Integer(range) => Some(*range),
        _ => None,
    });
    let Some((parts, others)) = parts else {
        return types;
    };
    joined(parts, Range::merge)
        .into_iter()
        .map(Type::Integer)
        .chain(others)
        .collect()
}

fn floats(types: Vec<Type>) -> Vec<Type> {
    let parts = split(&types, |one| match one {
        Type::Float(interval) => Some(*interval),
        _ => None,
    });
    let Some((parts, others)) = parts else {
        return types;
    };
    joined(parts, |a, b| a.merge(b))
        .into_iter()
        .map(Type::Float)
        .chain(others)
        .collect()
}

/// Joins ranges that touch: the last range absorbs all it can, then the last of the rest, and so on.
fn joined<T: Copy>(mut ranges: Vec<T>, merge: impl Fn(T, T) -> Option<T>) -> Vec<T> {
    let mut result = Vec::new();
    while let Some(last) = ranges.pop() {
        let mut apart = Vec::new();
        let whole = ranges
            .iter()
            .fold(last, |whole, range| match merge(whole, *range) {
                Some(merged) => merged,
                None => {
                    apart.push(*range);
                    whole
                }
            });
        result.push(whole);
        ranges = apart;
    }
    result
}
