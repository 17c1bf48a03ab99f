//! The keys of metadata files: one table for each kind of object, from which follow what is unknown and the JSON Schema.

use serde_json::{Map, Value as Json, json};

use super::{InputMethod, Metadata, metadata};
use crate::json_document;

/// A key that the specification knows.
pub(super) struct Key {
    pub(super) name: &'static str,
    about: &'static str,
    kind: Kind,
}

/// What the value of a key is, where it is not null.
pub(super) enum Kind {
    Text,
    Flag,
    WholeNumber,
    Texts,
    Object,
    Any,
    InputMethod,
    /// A list of objects with these keys, the first of which each needs.
    Sections(&'static [Key]),
    /// An object whose members have these keys.
    Named(&'static [Key]),
}

/// What holds for all metadata, and no keyword can say.
const REMARKS: &str = "A `null` is as good as no key. Other keys are ignored, with a warning. A `type` is a Puppet data \
                       type, which a `default` must fit; files must be there.";

impl Key {
    pub(super) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind }
    }

    fn json_schema(&self) -> Json {
        let mut schema = match &self.kind {
            Kind::Text => json!({ "type": ["string", "null"] }),
            Kind::Flag => json!({ "type": ["boolean", "null"] }),
            Kind::WholeNumber => json!({ "type": ["integer", "null"] }),
            Kind::Texts => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
            Kind::Object => json!({ "type": ["object", "null"] }),
            Kind::Any => json!({}),
            // An empty list is the specification's word for none.
            Kind::InputMethod => {
                let words = InputMethod::WORDS.map(|(word, _)| word);
                let none = [json!(null), json!([])];
                let all = words.into_iter().map(Json::from).chain(none);
                json!({ "enum": all.collect::<Vec<_>>() })
            }
            Kind::Sections(keys) => {
                let mut item = object(keys);
                item["required"] = json!([keys[0].name]);
                // Here it may not be null.
                item["properties"][keys[0].name]["type"] = json!("string");
                json!({ "type": ["array", "null"], "items": item })
            }
            Kind::Named(keys) => json!({
                "type": ["object", "null"],
                "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$" },
                "additionalProperties": object(keys),
            }),
        };
        schema["description"] = self.about.into();
        schema
    }
}

fn object(keys: &[Key]) -> Json {
    let properties = keys.iter();
    let properties: Map<_, _> = properties
        .map(|key| (key.name.to_owned(), key.json_schema()))
        .collect();
    json!({ "type": "object", "properties": properties })
}

impl Metadata {
    /// What a metadata file may hold, as JSON Schema.
    pub fn json_schema() -> Json {
        let mut schema = object(&metadata::KEYS);
        schema["description"] =
            "The file `<task>.json` beside a task (Puppet Task Specification, version 1, revision 6)"
                .into();
        schema["$comment"] = REMARKS.into();
        json_document("Metadata of a task", schema)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{implementation, parameter};
    use super::*;
    use crate::pxp::JsonSchema;

    /// The schema and the reader say the same of a file.
    #[track_caller]
    fn agree(schema: &JsonSchema, file: &Json) {
        let read = Metadata::from_json(file.clone());
        assert_eq!(schema.check(file).is_ok(), read.is_ok(), "{file}: {read:?}");
    }

    #[test]
    fn the_json_schema_of_metadata_takes_what_is_read_and_nothing_else() {
        let schema = JsonSchema::new(&Metadata::json_schema()).expect("it is a schema");
        let values = [
            json!(null),
            json!(true),
            json!(1),
            json!(1.5),
            json!("stdin"),
            json!([]),
            json!(["a"]),
            json!([1]),
            json!({}),
            json!([{ "name": "a.sh" }]),
            json!([{}]),
            json!({ "a": {} }),
            json!({ "a": 1 }),
            json!({ "A": {} }),
        ];
        let described = |keys: &[Key]| keys.iter().all(|key| !key.about.is_empty());
        assert!(described(&metadata::KEYS));
        for value in &values {
            agree(&schema, value);
            for key in &metadata::KEYS {
                agree(&schema, &json!({ key.name: value }));
            }
            for key in &implementation::KEYS {
                let mut one = json!({ "name": "a.sh" });
                one[key.name] = value.clone();
                agree(&schema, &json!({ "implementations": [one] }));
            }
            // What a type takes is no matter of a schema of files.
            for key in parameter::KEYS.iter().filter(|key| key.name != "type") {
                agree(
                    &schema,
                    &json!({ "parameters": { "a": { key.name: value } } }),
                );
            }
        }
    }
}
