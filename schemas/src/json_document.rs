//! A JSON Schema as a document of its own.

use serde_json::{Value as Json, json};

/// The dialect of JSON Schema that is written.
pub(crate) const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema with a title, which says of which draft it is.
pub fn json_document(title: &str, schema: Json) -> Json {
    let mut document = json!({ "$schema": DRAFT, "title": title });
    if let (Json::Object(document), Json::Object(schema)) = (&mut document, schema) {
        document.extend(schema);
    }
    document
}
