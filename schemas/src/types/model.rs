//! The model of Puppet's data types.
//!
//! Values are described with the same model: when a check fails, the type of the value is inferred.

use std::fmt;

use super::pattern::Pattern;
pub(super) use super::range::{Interval, Range};

/// One of Puppet's data types, with the terms of its type system.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Any,
    /// Puppet's private "ignored type": the elements of an empty array.
    Unit,
    Undef,
    Default,
    Scalar,
    ScalarData,
    Numeric,
    Binary,
    CatalogEntry,
    SemVerRange,
    Object,
    SetOfTypes,
    Boolean(Option<bool>),
    Integer(Range),
    Float(Interval),
    String(Text),
    Enum(EnumValues),
    Pattern(Vec<Pattern>),
    Regexp(Option<Pattern>),
    /// A type whose values JSON cannot express, with the canonical text of its parameters.
    Foreign(Foreign, String),
    Optional(Option<Box<Self>>),
    NotUndef(Option<Box<Self>>),
    Sensitive(Box<Self>),
    /// `Type[T]`, the type of types.
    Metatype(Option<Box<Self>>),
    Iterable(Option<Box<Self>>),
    Iterator(Option<Box<Self>>),
    /// Every value from which a type can be made.
    Init(Option<Box<Creation>>),
    Variant(Vec<Self>),
    Collection(Option<Range>),
    Array(Box<Self>, Option<Range>),
    Hash(Box<Self>, Box<Self>, Option<Range>),
    Tuple(Vec<Self>, Option<Range>),
    Struct(Vec<Member>),
    Callable(Option<Box<Signature>>),
    /// A value of the runtime, such as a Ruby symbol.
    Runtime(String),
    Class(Option<String>),
    Resource(Option<(String, Option<String>)>),
    Alias(Alias),
    /// An unknown type name.
    Reference(String),
    /// The inferred type of a sensitive value, with the type of the hidden value.
    Hidden(Box<Self>),
}

/// Types whose values no text format here can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    SemVer,
    Timespan,
    Timestamp,
    Uri,
}

/// Types that Puppet defines in terms of other types, including themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alias {
    Data,
    RichData,
    RichDataKey,
    LookupKey,
    LookupValue,
}

/// The texts of a `String`: all, those of a given size, or exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    All,
    Sized(Range),
    Exactly(String),
}

/// The words of an `Enum`, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnumValues {
    pub(super) words: Vec<String>,
    pub(super) ignore_case: bool,
}

/// A member of a `Struct`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) key: KeyKind,
    pub(super) value: Type,
}

/// The form of a member's key, which decides whether the member may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Required,
    Optional,
}

/// The target and the sources of an `Init`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Creation {
    pub(super) target: Type,
    /// The canonical texts of further arguments.
    pub(super) arguments: Vec<String>,
    /// The types from which a value of the target can be made.
    pub(super) sources: Vec<Type>,
}

/// The parameters and the result of a `Callable`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signature {
    pub(super) parameters: Vec<Type>,
    pub(super) size: Option<Range>,
    pub(super) block: Option<Type>,
    pub(super) returns: Option<Type>,
}

impl Type {
    pub(super) const STRING: Self = Self::String(Text::All);
    pub(super) const INTEGER: Self = Self::Integer(Range::ALL);
    pub(super) const FLOAT: Self = Self::Float(Interval::ALL);
    pub(super) const BOOLEAN: Self = Self::Boolean(None);

    pub(super) fn array(element: Self, size: Option<Range>) -> Self {
        let element = if size == Some(Range::ZERO) {
            Self::Unit
        } else {
            element
        };
        Self::Array(Box::new(element), size.map(Range::to_size))
    }

    pub(super) fn hash(key: Self, value: Self, size: Option<Range>) -> Self {
        let (key, value) = if size == Some(Range::ZERO) {
            (Self::Unit, Self::Unit)
        } else {
            (key, value)
        };
        Self::Hash(Box::new(key), Box::new(value), size.map(Range::to_size))
    }

    pub(super) fn any_array() -> Self {
        Self::array(Self::Any, None)
    }

    pub(super) fn any_hash() -> Self {
        Self::hash(Self::Any, Self::Any, None)
    }

    /// Combines types into one without duplicates. A single type is returned without a variant.
    pub(super) fn variant(types: Vec<Self>) -> Self {
        let mut unique: Vec<Self> = Vec::with_capacity(types.len());
        let flat = types.into_iter().flat_map(|one| match one {
            Self::Variant(types) => types,
            other => vec![other],
        });
        for one in flat {
            if !unique.contains(&one) {
                unique.push(one);
            }
        }
        match unique.len() {
            1 => unique.swap_remove(0),
            _ => Self::Variant(unique),
        }
    }

    /// Returns the type's name without parameters, as messages show it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Any => "Any",
            Self::Unit => "Unit",
            Self::Undef => "Undef",
            Self::Default => "Default",
            Self::Scalar => "Scalar",
            Self::ScalarData => "ScalarData",
            Self::Numeric => "Numeric",
            Self::Binary => "Binary",
            Self::CatalogEntry => "CatalogEntry",
            Self::SemVerRange => "SemVerRange",
            Self::Object => "Object",
            Self::SetOfTypes => "DefaultTypeSet",
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::String(_) => "String",
            Self::Enum(_) => "Enum",
            Self::Pattern(_) => "Pattern",
            Self::Regexp(_) => "Regexp",
            Self::Foreign(kind, _) => kind.name(),
            Self::Optional(_) => "Optional",
            Self::NotUndef(_) => "NotUndef",
            Self::Sensitive(_) | Self::Hidden(_) => "Sensitive",
            Self::Metatype(_) => "Type",
            Self::Iterable(_) => "Iterable",
            Self::Iterator(_) => "Iterator",
            Self::Init(_) => "Init",
            Self::Variant(_) => "Variant",
            Self::Collection(_) => "Collection",
            Self::Array(..) => "Array",
            Self::Hash(..) => "Hash",
            Self::Tuple(..) => "Tuple",
            Self::Struct(_) => "Struct",
            Self::Callable(_) => "Callable",
            Self::Runtime(_) => "Runtime",
            Self::Class(_) => "Class",
            Self::Resource(_) => "Resource",
            Self::Alias(alias) => alias.name(),
            Self::Reference(_) => "TypeReference",
        }
    }
}

impl Foreign {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SemVer => "SemVer",
            Self::Timespan => "Timespan",
            Self::Timestamp => "Timestamp",
            Self::Uri => "URI",
        }
    }
}

impl Alias {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Data => "Data",
            Self::RichData => "RichData",
            Self::RichDataKey => "RichDataKey",
            Self::LookupKey => "Puppet::LookupKey",
            Self::LookupValue => "Puppet::LookupValue",
        }
    }

    /// Returns the definition of the alias.
    pub(super) fn definition(self) -> Type {
        match self {
            Self::Data => Type::Variant(vec![
                Type::ScalarData,
                Type::Undef,
                Type::hash(Type::STRING, Type::Alias(Self::Data), None),
                Type::array(Type::Alias(Self::Data), None),
            ]),
            Self::RichDataKey => Type::Variant(vec![Type::STRING, Type::Numeric]),
            Self::RichData => Type::Variant(vec![
                Type::Scalar,
                Type::SemVerRange,
                Type::Binary,
                Type::Sensitive(Box::new(Type::Any)),
                Type::Metatype(None),
                Type::SetOfTypes,
                Type::Foreign(Foreign::Uri, String::new()),
                Type::Object,
                Type::Undef,
                Type::Default,
                Type::hash(
                    Type::Alias(Self::RichDataKey),
                    Type::Alias(Self::RichData),
                    None,
                ),
                Type::array(Type::Alias(Self::RichData), None),
            ]),
            Self::LookupKey => Type::Alias(Self::RichDataKey),
            Self::LookupValue => Type::Alias(Self::RichData),
        }
    }
}

impl EnumValues {
    pub(super) fn new(mut words: Vec<String>, ignore_case: bool) -> Self {
        words.sort();
        words.dedup();
        Self { words, ignore_case }
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        self.words.iter().any(|word| {
            if self.ignore_case {
                word.eq_ignore_ascii_case(text)
            } else {
                word == text
            }
        })
    }
}

impl Member {
    pub(super) fn is_optional(&self) -> bool {
        self.key == KeyKind::Optional
    }

    /// Returns the type of the member's key.
    pub(super) fn key_type(&self) -> Type {
        let name = Type::String(Text::Exactly(self.name.clone()));
        match self.key {
            KeyKind::Required => name,
            KeyKind::Optional => Type::Optional(Some(Box::new(name))),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::display::canonical(self, f)
    }
}

impl Type {
    /// Returns the unknown type names in this type, from left to right.
    pub(super) fn references(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Reference(name) => Box::new(std::iter::once(name.as_str())),
            Self::Optional(inner)
            | Self::NotUndef(inner)
            | Self::Metatype(inner)
            | Self::Iterable(inner)
            | Self::Iterator(inner) => Box::new(inner.iter().flat_map(|one| one.references())),
            Self::Init(creation) => Box::new(
                creation
                    .iter()
                    .flat_map(|creation| creation.target.references()),
            ),
            Self::Sensitive(inner) | Self::Array(inner, _) | Self::Hidden(inner) => {
                inner.references()
            }
            Self::Hash(key, value, _) => Box::new(key.references().chain(value.references())),
            Self::Variant(types) | Self::Tuple(types, _) => {
                Box::new(types.iter().flat_map(Self::references))
            }
            Self::Struct(members) => {
                Box::new(members.iter().flat_map(|one| one.value.references()))
            }
            Self::Callable(Some(signature)) => Box::new(
                signature
                    .parameters
                    .iter()
                    .chain(&signature.block)
                    .chain(&signature.returns)
                    .flat_map(Self::references),
            ),
            _ => Box::new(std::iter::empty()),
        }
    }
}
