//! JSON Schemas derived from Rust types. They use Draft 4, which pxp-agent reads, and no references, which
//! some readers do not follow.
//!
//! The first paragraph of a doc comment becomes the description. An `Option` is an optional member; a value
//! that may be null is marked `nullable`. An object with named members allows no others unless it is marked
//! `additionalProperties`.

use std::slice;

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value as Json, json};

/// Returns the schema of a type.
pub fn schema<T: JsonSchema>() -> Json {
    let mut schema = raw::<T>();
    plain(&mut schema);
    schema.into()
}

/// Returns the schema of a type before [`plain`] is applied, so that the caller can change it first.
pub fn raw<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().subschema_for::<T>()
}

/// Returns a transform that sets the description of a list's items.
pub fn each(about: &'static str) -> impl FnMut(&mut Schema) {
    move |list: &mut Schema| {
        if let Some(item) = list.get_mut("items") {
            item["description"] = about.into();
        }
    }
}

/// Transforms a raw schema into devgate's form. Apply it only once: it removes the marks (`nullable`,
/// `additionalProperties`) that it reads.
pub fn plain(schema: &mut Schema) {
    transform_subschemas(&mut plain, schema);
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    if !keys.contains_key("type") {
        join(keys);
    }
    describe(keys);
    // The formats of numbers are Rust's own; the bounds carry the same information.
    keys.shift_remove("format");
    if let Some(types) = keys.get_mut("type")
        && let Json::Array(all) = types
    {
        all.retain(|one| one != "null");
        if all.len() == 1 {
            *types = all.remove(0);
        }
    }
    let of = keys.get("type").cloned().unwrap_or_default();
    let nullable = keys.shift_remove("nullable").is_some();
    // A map names no members and may have any. Where members are named, any other member is a mistake.
    if of == "object" && !nullable {
        if keys.contains_key("additionalProperties") {
            keys.entry("properties").or_insert_with(|| json!({}));
        } else if keys.contains_key("properties") {
            keys.shift_insert(0, "additionalProperties".to_owned(), json!(false));
        }
    }
    if keys.get("additionalProperties") == Some(&json!(true)) {
        keys.shift_remove("additionalProperties");
    }
    // The order suits human readers: type, meaning, content. A list of types says less than the
    // description, so the description comes first.
    let ordered = match of.is_array() {
        true => ["properties", "type", "description"],
        false => ["properties", "description", "type"],
    };
    for key in ordered {
        if let Some(value) = keys.shift_remove(key) {
            keys.shift_insert(0, key.to_owned(), value);
        }
    }
    if let Some(items) = keys.shift_remove("items") {
        keys.insert("items".to_owned(), items);
    }
    if nullable {
        keys.insert("type".to_owned(), json!([of, "null"]));
    }
}

/// Merges alternatives into one schema. Each alternative has its own type or is a word.
fn join(keys: &mut Map<String, Json>) {
    let ways = keys.shift_remove("oneOf");
    let ways = ways.or_else(|| keys.shift_remove("anyOf"));
    let ways = ways.iter().filter_map(Json::as_array).flatten();
    for (key, value) in ways.filter_map(Json::as_object).flatten() {
        let all = match key.as_str() {
            "type" => keys.entry("type"),
            "const" | "enum" => keys.entry("enum"),
            "description" => continue,
            _ => {
                keys.insert(key.clone(), value.clone());
                continue;
            }
        };
        let Json::Array(all) = all.or_insert_with(|| json!([])) else {
            continue;
        };
        let one = slice::from_ref(value);
        for value in value.as_array().map_or(one, Vec::as_slice) {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
    }
}

/// Turns a doc comment into a description, and appends the default if it is a word or a number.
fn describe(keys: &mut Map<String, Json>) {
    let default = match keys.shift_remove("default") {
        Some(Json::String(word)) => format!(" (default: {word})"),
        Some(Json::Number(number)) => format!(" (default: {number})"),
        _ => String::new(),
    };
    if let Some(Json::String(comment)) = keys.get_mut("description") {
        let first = comment.split("\n\n").next().unwrap_or_default();
        *comment = first.trim_end_matches('.').replace('\n', " ") + &default;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that
    /// there is.
    ///
    /// This is for who reads the code.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is asked for")]
    struct All {
        /// Who.
        who: Option<Words>,
        /// How often.
        #[schemars(default = "twice", range(max = 9))]
        often: u8,
        #[schemars(extend("nullable" = true))]
        place: Option<String>,
        any: Map<String, Json>,
        course: Course,
    }

    #[derive(JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is asked for")]
    enum Words {
        One(String),
        Many(#[schemars(length(min = 1), transform = each("A word"))] Vec<String>),
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is asked for")]
    enum Course {
        /// There.
        To,
        /// And back.
        Fro,
    }

    fn twice() -> u8 {
        2
    }

    #[test]
    fn the_schema_of_a_type_has_this_order() {
        let expected = json!({
            "type": "object",
            "description": "All that there is",
            "properties": {
                "who": {
                    "description": "Who",
                    "type": ["string", "array"],
                    "minItems": 1,
                    "items": { "type": "string", "description": "A word" },
                },
                "often": {
                    "type": "integer",
                    "description": "How often (default: 2)",
                    "minimum": 0,
                    "maximum": 9,
                },
                "place": { "type": ["string", "null"] },
                "any": { "type": "object", "properties": {} },
                "course": { "type": "string", "enum": ["to", "fro"] },
            },
            "additionalProperties": false,
            "required": ["any", "course"],
        });
        assert_eq!(schema::<All>().to_string(), expected.to_string());
    }
}
