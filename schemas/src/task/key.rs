//! The keys of metadata files: one table for each kind of object.

use serde_json::{Map, Value as Json, json};

use super::input_method::InputMethod;

/// A key of the specification.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    kind: KeyType,
}

/// The kind of a key's value, if it is not null.
pub(super) enum KeyType {
    Text,
    Flag,
    WholeNumber,
    Texts,
    Object,
    Any,
    InputMethod,
    /// A list of objects with these keys. The first key is mandatory.
    Sections(&'static [Key]),
    /// An object whose members are objects with these keys.
    Named(&'static [Key]),
}

impl Key {
    pub(super) const fn new(name: &'static str, kind: KeyType, about: &'static str) -> Self {
        Self { name, about, kind }
    }

    fn json_schema(&self) -> Json {
        let mut schema = match &self.kind {
            KeyType::Text => json!({ "type": ["string", "null"] }),
            KeyType::Flag => json!({ "type": ["boolean", "null"] }),
            KeyType::WholeNumber => json!({ "type": ["integer", "null"] }),
            KeyType::Texts => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
            KeyType::Object => json!({ "type": ["object", "null"] }),
            KeyType::Any => json!({}),
            // The specification writes an empty list for no value.
            KeyType::InputMethod => {
                let words = InputMethod::WORDS.map(|(word, _)| word);
                let none = [json!(null), json!([])];
                let all = words.into_iter().map(Json::from).chain(none);
                json!({ "enum": all.collect::<Vec<_>>() })
            }
            KeyType::Sections(keys) => {
                let mut item = object(keys);
                item["required"] = json!([keys[0].name]);
                // The mandatory key must not be null.
                item["properties"][keys[0].name]["type"] = json!("string");
                json!({ "type": ["array", "null"], "items": item })
            }
            KeyType::Named(keys) => json!({
                "type": ["object", "null"],
                "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$" },
                "additionalProperties": object(keys),
            }),
        };
        schema["description"] = self.about.into();
        schema
    }
}

/// Returns the JSON Schema of an object with these keys.
pub(super) fn object(keys: &[Key]) -> Json {
    let properties = keys.iter();
    let properties: Map<_, _> = properties
        .map(|key| (key.name.to_owned(), key.json_schema()))
        .collect();
    json!({ "type": "object", "properties": properties })
}
