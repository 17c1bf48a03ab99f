//! Turns a JSON Schema into a standalone document.

use serde_json::{Value as Json, json};

/// The JSON Schema dialect of the documents.
pub(crate) const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Adds a title and the dialect (`$schema`) to a schema.
pub fn json_document(title: &str, schema: Json) -> Json {
    let mut document = json!({ "$schema": DRAFT, "title": title });
    if let (Json::Object(document), Json::Object(schema)) = (&mut document, schema) {
        document.extend(schema);
    }
    document
}
