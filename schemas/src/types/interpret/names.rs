//! The names of types and their meaning without parameters.

use crate::types::model::{Alias, EnumValues, Foreign, Type};

/// Returns the type of a name in any case; `None` if the name is unknown.
pub(super) fn known(name: &str) -> Option<Type> {
    let found = match name
        .strip_prefix("::")
        .unwrap_or(name)
        .to_ascii_lowercase()
        .as_str()
    {
        "any" => Type::Any,
        "array" => Type::any_array(),
        "binary" => Type::Binary,
        "boolean" => Type::BOOLEAN,
        "callable" => Type::Callable(None),
        "catalogentry" => Type::CatalogEntry,
        "class" => Type::Class(None),
        "collection" => Type::Collection(None),
        "data" => Type::Alias(Alias::Data),
        "default" => Type::Default,
        "enum" => Type::Enum(EnumValues::new(Vec::new(), false)),
        "float" => Type::FLOAT,
        "hash" => Type::any_hash(),
        "init" => Type::Init(None),
        "integer" => Type::INTEGER,
        "iterable" => Type::Iterable(None),
        "iterator" => Type::Iterator(None),
        "notundef" => Type::NotUndef(None),
        "numeric" => Type::Numeric,
        "object" => Type::Object,
        "optional" => Type::Optional(None),
        "pattern" => Type::Pattern(Vec::new()),
        "puppet::lookupkey" => Type::Alias(Alias::LookupKey),
        "puppet::lookupvalue" => Type::Alias(Alias::LookupValue),
        "regexp" => Type::Regexp(None),
        "resource" => Type::Resource(None),
        "richdata" => Type::Alias(Alias::RichData),
        "richdatakey" => Type::Alias(Alias::RichDataKey),
        "runtime" => Type::Runtime(String::new()),
        "scalar" => Type::Scalar,
        "scalardata" => Type::ScalarData,
        "semver" => Type::Foreign(Foreign::SemVer, String::new()),
        "semverrange" => Type::SemVerRange,
        "sensitive" => Type::Sensitive(Box::new(Type::Any)),
        "string" => Type::STRING,
        "struct" => Type::Struct(Vec::new()),
        "timespan" => Type::Foreign(Foreign::Timespan, String::new()),
        "timestamp" => Type::Foreign(Foreign::Timestamp, String::new()),
        "tuple" => Type::Tuple(Vec::new(), None),
        "type" => Type::Metatype(None),
        "typereference" => Type::Reference("UnresolvedReference".to_owned()),
        "typeset" => Type::SetOfTypes,
        "undef" => Type::Undef,
        "uri" => Type::Foreign(Foreign::Uri, String::new()),
        "variant" => Type::Variant(Vec::new()),
        _ => return None,
    };
    Some(found)
}

/// Capitalises every segment of a resource type's name; `None` if it is not a valid name.
pub(super) fn resource(name: &str) -> Option<String> {
    let capitalise = |segment: &str| {
        let mut chars = segment.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first
            .into_iter()
            .chain(chars.map(|c| c.to_ascii_lowercase()))
            .collect::<String>()
    };
    let name = if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        name.to_owned()
    } else {
        name.split("::")
            .map(capitalise)
            .collect::<Vec<_>>()
            .join("::")
    };
    let sound = name
        .strip_prefix("::")
        .unwrap_or(&name)
        .split("::")
        .all(|segment| {
            segment.starts_with(|c: char| c.is_ascii_uppercase())
                && segment
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
    sound.then_some(name)
}
