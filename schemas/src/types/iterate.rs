//! The element types of iteration, for `Iterable`.

use super::model::{Member, Range, Text, Type};

impl Type {
    pub(super) fn is_iterable(&self) -> bool {
        match self {
            Self::Enum(_)
            | Self::Integer(_)
            | Self::String(_)
            | Self::Collection(_)
            | Self::Array(..)
            | Self::Hash(..)
            | Self::Tuple(..)
            | Self::Struct(_)
            | Self::Iterable(_)
            | Self::Iterator(_) => true,
            Self::Metatype(Some(inner)) => match inner.as_ref() {
                Self::Enum(_) => true,
                Self::Integer(range) => range.is_finite(),
                _ => false,
            },
            Self::Alias(alias) => alias.definition().is_iterable(),
            _ => false,
        }
    }

    /// Returns the type of the elements when a value of this type is iterated.
    pub(super) fn iterated(&self) -> Option<Self> {
        match self {
            Self::Enum(_) | Self::String(_) => Some(Self::String(Text::Sized(Range::point(1)))),
            Self::Integer(_) => Some(Self::INTEGER),
            Self::Array(element, _) if **element != Self::Any => Some((**element).clone()),
            Self::Tuple(types, _) => Some(Self::variant(types.clone())),
            Self::Hash(key, value, size) => {
                let empty = *size == Some(Range::ZERO);
                let any = **key == Self::Any && **value == Self::Any && size.is_none();
                let pair = if any || empty {
                    vec![Self::Unit, Self::Unit]
                } else {
                    vec![(**key).clone(), (**value).clone()]
                };
                Some(Self::Tuple(pair, Some(Range::point(2))))
            }
            Self::Struct(members) => {
                let keys = Self::variant(members.iter().map(Member::key_type).collect());
                let values = Self::variant(members.iter().map(|one| one.value.clone()).collect());
                Some(Self::Tuple(vec![keys, values], Some(Range::point(2))))
            }
            Self::Iterable(Some(inner)) | Self::Iterator(Some(inner)) => Some((**inner).clone()),
            _ => None,
        }
    }
}
