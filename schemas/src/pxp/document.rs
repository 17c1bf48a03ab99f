//! The JSON Schemas of metadata and requests, which modules and their callers exchange.

use serde_json::{Map, Value as Json, json};

use super::{ActionRequest, Metadata, OutputFiles, metadata, request};
use crate::json_document;

impl Metadata {
    /// Returns the JSON Schema of a module's metadata; `input`, `results` and `configuration` are schemas
    /// themselves.
    pub fn json_schema() -> Json {
        let mut action = closed(&metadata::ACTION_KEYS, |key| match key {
            "name" => json!({ "type": "string", "minLength": 1 }),
            "description" => json!({ "type": "string" }),
            _ => json!({ "type": "object" }),
        });
        action["required"] = json!(["name", "input", "results"]);
        let mut schema = closed(&metadata::KEYS, |key| match key {
            "description" => json!({ "type": "string" }),
            "actions" => json!({ "type": "array", "items": action }),
            _ => json!({ "type": "object" }),
        });
        schema["required"] = json!(["actions"]);
        schema["description"] =
            "What a module prints when it is asked with `metadata`, or with nothing. pxp-agent wants a `description` \
             of the module, the specification one of each action"
                .into();
        json_document("Metadata of a PXP module", schema)
    }
}

impl ActionRequest {
    /// Returns the JSON Schema of an action's request on stdin.
    pub fn json_schema() -> Json {
        let mut files = closed(
            &OutputFiles::KEYS,
            |_| json!({ "type": "string", "minLength": 1 }),
        );
        files["required"] = json!(OutputFiles::KEYS);
        let mut schema = closed(&request::KEYS, |key| match key {
            "output_files" => files.clone(),
            _ => json!({ "type": "object" }),
        });
        schema["required"] = json!(["input"]);
        schema["description"] =
            "What an action reads on stdin; `output_files` name where its output goes instead of the streams"
                .into();
        json_document("ActionRequest to a PXP module", schema)
    }
}

/// Returns the schema of an object with these keys and no others.
fn closed(keys: &[&str], value: impl Fn(&str) -> Json) -> Json {
    let properties = keys.iter().map(|key| ((*key).to_owned(), value(key)));
    let properties: Map<_, _> = properties.collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pxp::JsonSchema;

    /// Returns every variation of an object and of the objects within it in which one member is missing,
    /// replaced or added.
    fn changed(of: &Json) -> Vec<Json> {
        let Json::Object(object) = of else {
            return Vec::new();
        };
        let mut all = vec![of.clone()];
        for (key, value) in object {
            let mut without = object.clone();
            without.shift_remove(key);
            all.push(without.into());
            let inner = match value {
                Json::Array(items) => {
                    let first = items.first().map(changed).unwrap_or_default();
                    first.into_iter().map(|item| json!([item])).collect()
                }
                value => changed(value),
            };
            let others = [
                json!(1),
                json!(""),
                json!("a"),
                json!([]),
                json!([1]),
                json!({}),
            ];
            for other in inner.into_iter().chain(others) {
                let mut with = object.clone();
                with[key] = other;
                all.push(with.into());
            }
        }
        let mut more = object.clone();
        more.insert("more".to_owned(), json!(1));
        all.push(more.into());
        all
    }

    #[test]
    fn the_json_schemas_of_modules_take_what_is_read_and_nothing_else() {
        let files = json!({"stdout": "/a", "stderr": "/b", "exitcode": "/c"});
        let request = json!({"input": {}, "configuration": {}, "output_files": files});
        let action = json!({"name": "run", "description": "runs", "input": {}, "results": {}});
        let metadata = json!({"description": "d", "configuration": {}, "actions": [action]});
        let of_requests = JsonSchema::new(&ActionRequest::json_schema()).expect("a schema");
        let of_metadata = JsonSchema::new(&Metadata::json_schema()).expect("a schema");
        for one in changed(&request) {
            let read = ActionRequest::read(one.to_string().as_bytes());
            assert_eq!(
                of_requests.check(&one).is_ok(),
                read.is_ok(),
                "{one}: {read:?}"
            );
        }
        for one in changed(&metadata) {
            let read = Metadata::read(one.to_string().as_bytes());
            assert_eq!(
                of_metadata.check(&one).is_ok(),
                read.is_ok(),
                "{one}: {read:?}"
            );
        }
    }
}
