//! Parts that our schemas are made of. They are written for JSON Schema, draft 4, as pxp-agent reads it,
//! and without references, which not every reader follows.

use serde_json::{Value as Json, json};

/// An object with these properties and no others.
pub(super) fn closed(about: &str, required: &[&str], properties: Json) -> Json {
    let mut schema = open(about, properties);
    schema["additionalProperties"] = json!(false);
    // Draft 4 knows no empty list here.
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// An object with these properties and any others.
pub(super) fn open(about: &str, properties: Json) -> Json {
    json!({ "type": "object", "description": about, "properties": properties })
}

/// A list of these.
pub(super) fn list(about: &str, of: Json) -> Json {
    json!({ "type": "array", "description": about, "items": of })
}

/// A text.
pub(super) fn text(about: &str) -> Json {
    of_type("string", about)
}

/// A text that is not empty.
pub(super) fn word(about: &str) -> Json {
    json!({ "type": "string", "description": about, "minLength": 1 })
}

/// One of these words.
pub(super) fn one_of(about: &str, words: &[&str]) -> Json {
    json!({ "type": "string", "description": about, "enum": words })
}

/// A whole number from `least`.
pub(super) fn whole(about: &str, least: u32) -> Json {
    json!({ "type": "integer", "description": about, "minimum": least })
}

/// A whole number from `least` that a request may hold.
pub(super) fn count(about: &str, least: u32) -> Json {
    let mut count = whole(about, least);
    count["maximum"] = json!(u32::MAX);
    count
}

/// `true` or `false`.
pub(super) fn flag(about: &str) -> Json {
    of_type("boolean", about)
}

/// Anything of a type, or of one of several.
pub(super) fn of_type(type_name: impl Into<Json>, about: &str) -> Json {
    json!({ "type": type_name.into(), "description": about })
}

/// The properties of one object and of another.
pub(super) fn both(one: Json, other: Json) -> Json {
    let (Json::Object(mut all), Json::Object(other)) = (one, other) else {
        unreachable!("our schemas have objects of properties");
    };
    all.extend(other);
    Json::Object(all)
}
