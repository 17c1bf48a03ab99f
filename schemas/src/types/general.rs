//! The general form of a type: what types of similar values have in common.

use super::model::{EnumValues, Foreign, Member, Range, Signature, Text, Type};

impl Type {
    /// Returns the type without parameters that are specific to a value: ranges, words, sizes.
    pub(super) fn generalize(&self) -> Self {
        let inner =
            |inner: &Option<Box<Self>>| inner.as_ref().map(|inner| Box::new(inner.generalize()));
        match self {
            Self::Boolean(_) => Self::BOOLEAN,
            Self::Integer(_) => Self::INTEGER,
            Self::Float(_) => Self::FLOAT,
            Self::String(_) => Self::STRING,
            Self::Enum(words) => words.generalize(),
            Self::Foreign(kind @ (Foreign::Timespan | Foreign::Timestamp | Foreign::Uri), _) => {
                Self::Foreign(*kind, String::new())
            }
            Self::Optional(one) => Self::Optional(inner(one)),
            Self::NotUndef(one) => Self::NotUndef(inner(one)),
            Self::Metatype(one) => Self::Metatype(inner(one)),
            Self::Iterable(one) => Self::Iterable(inner(one)),
            Self::Iterator(one) => Self::Iterator(inner(one)),
            Self::Sensitive(one) => Self::Sensitive(Box::new(one.generalize())),
            Self::Hidden(one) => Self::Hidden(Box::new(one.generalize())),
            Self::Collection(_) => Self::Collection(None),
            Self::Array(element, _) => Self::array(element.generalize(), None),
            Self::Hash(key, _, Some(Range::ZERO)) if **key == Self::Unit => self.clone(),
            Self::Hash(key, value, _) => Self::hash(key.generalize(), value.generalize(), None),
            Self::Callable(Some(signature)) => {
                let all = |types: &[Self]| types.iter().map(Self::generalize).collect();
                Self::Callable(Some(Box::new(Signature {
                    parameters: all(&signature.parameters),
                    size: signature.size,
                    block: signature.block.as_ref().map(Self::generalize),
                    returns: signature.returns.as_ref().map(Self::generalize),
                })))
            }
            Self::Variant(types) if !types.is_empty() => {
                Self::variant(types.iter().map(Self::generalize).collect())
            }
            Self::Tuple(types, size) => {
                Self::Tuple(types.iter().map(Self::generalize).collect(), *size)
            }
            Self::Struct(members) => Self::Struct(
                members
                    .iter()
                    .map(|member| Member {
                        value: member.value.generalize(),
                        ..member.clone()
                    })
                    .collect(),
            ),
            _ => self.clone(),
        }
    }

    /// Returns the general type without sizes: all that may be shown of a secret.
    pub(super) fn bare(&self) -> Self {
        match self.generalize() {
            Self::String(_) => Self::STRING,
            Self::Hash(key, value, _) => Self::hash(key.bare(), value.bare(), None),
            Self::Array(element, _) => Self::array(element.bare(), None),
            Self::Tuple(..) => Self::any_array(),
            Self::Struct(_) => Self::any_hash(),
            other => other,
        }
    }
}

impl EnumValues {
    fn generalize(&self) -> Type {
        let sizes = self
            .words
            .iter()
            .map(|word| Range::of_size(word.chars().count()));
        sizes
            .reduce(Range::hull)
            .map_or(Type::STRING, |size| Type::String(Text::Sized(size)))
    }
}
