//! JSON Schemas of a family's files, for editors.

use devgate_schemas::json_document;
use serde_json::{Map, Value as Json, json};

use super::FamilyDocument;
use super::table::{Kind, Object};

/// What texts with a meaning of their own are: their names as definitions, and their descriptions.
const TEXTS: [(&str, &str); 3] = [
    ("pattern", "a regular expression"),
    (
        "template",
        "a text with `{{ expressions }}` and `{% blocks %}`, as in Jinja",
    ),
    (
        "expression",
        "an expression, as in Jinja; a number, true or false is itself",
    ),
];

impl FamilyDocument {
    /// The file as JSON Schema 2020-12.
    pub fn json_schema(self) -> Json {
        let mut definitions = Map::new();
        let object = self.object();
        let mut schema = object_schema(object, &mut definitions);
        if self == Self::Type {
            schema = like_another(object, schema);
        }
        schema["$defs"] = Json::Object(definitions);
        json_document(object.name, schema)
    }
}

/// The schema of a file that is as described, unless it is like another one: then it may have parts of everything.
fn like_another(object: &Object, schema: Json) -> Json {
    let names: Vec<&str> = object.keys.iter().map(|key| key.name).collect();
    json!({
        "description": object.desc,
        "type": "object",
        "if": { "required": ["like"] },
        "then": { "propertyNames": { "enum": names } },
        "else": schema,
    })
}

fn object_schema(object: &Object, definitions: &mut Map<String, Json>) -> Json {
    let mut properties = Map::new();
    for key in object.keys {
        let mut value = kind_schema(&key.kind, definitions);
        value["description"] = key.desc.into();
        properties.insert(key.name.to_owned(), value);
    }
    let mut schema = json!({
        "description": object.desc,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    let required = object.keys.iter().filter(|key| key.is_required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn kind_schema(kind: &Kind, definitions: &mut Map<String, Json>) -> Json {
    match kind {
        Kind::Any => json!({}),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Text => json!({ "type": "string" }),
        Kind::Pattern => text(0, json!({ "type": "string" }), definitions),
        Kind::Template => text(1, json!({ "type": "string" }), definitions),
        Kind::Expression => {
            let types = json!({ "type": ["string", "number", "boolean"] });
            text(2, types, definitions)
        }
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Object(object) => {
            if !definitions.contains_key(object.name) {
                // It may contain itself.
                definitions.insert(object.name.to_owned(), Json::Null);
                let schema = object_schema(object, definitions);
                definitions.insert(object.name.to_owned(), schema);
            }
            reference(object.name)
        }
        Kind::Map(value) => {
            json!({ "type": "object", "additionalProperties": kind_schema(value, definitions) })
        }
        Kind::List(item) => json!({ "type": "array", "items": kind_schema(item, definitions) }),
        Kind::Items(item) => {
            let item = kind_schema(item, definitions);
            json!({ "anyOf": [item, { "type": "array", "items": item }] })
        }
        Kind::OneOf(kinds) => {
            let kinds = kinds.iter().map(|kind| kind_schema(kind, definitions));
            json!({ "anyOf": kinds.collect::<Vec<_>>() })
        }
    }
}

/// A text with a meaning of its own.
fn text(at: usize, mut schema: Json, definitions: &mut Map<String, Json>) -> Json {
    let (name, desc) = TEXTS[at];
    schema["description"] = desc.into();
    definitions.insert(name.to_owned(), schema);
    reference(name)
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/$defs/{}", name.replace(' ', "%20")) })
}
