//! The JSON Schema of metadata files, built from the tables of their keys.

use serde_json::Value as Json;

use super::key::object;
use super::metadata::{KEYS, Metadata};
use crate::json_document;

/// Remarks about all metadata that no keyword can express.
const REMARKS: &str = "A `null` is as good as no key. Other keys are ignored, with a warning. A `type` is a Puppet data \
                       type, which a `default` must fit; files must be there.";

impl Metadata {
    /// Returns the JSON Schema of a metadata file.
    pub fn json_schema() -> Json {
        let mut schema = object(&KEYS);
        schema["description"] =
            "The file `<task>.json` beside a task (Puppet Task Specification, version 1, revision 6)"
                .into();
        schema["$comment"] = REMARKS.into();
        json_document("Metadata of a task", schema)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pxp::JsonSchema;
    use crate::task::key::Key;
    use crate::task::{implementation, parameter};

    /// Asserts that the schema and the parser agree about a file.
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
        assert!(described(&KEYS));
        for value in &values {
            agree(&schema, value);
            for key in &KEYS {
                agree(&schema, &json!({ key.name: value }));
            }
            for key in &implementation::KEYS {
                let mut one = json!({ "name": "a.sh" });
                one[key.name] = value.clone();
                agree(&schema, &json!({ "implementations": [one] }));
            }
            // The schema of metadata files does not validate data types.
            for key in parameter::KEYS.iter().filter(|key| key.name != "type") {
                agree(
                    &schema,
                    &json!({ "parameters": { "a": { key.name: value } } }),
                );
            }
        }
    }
}
