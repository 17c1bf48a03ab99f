//! When facts were collected, and their source: the target, or the cache.

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;

/// When facts were collected, and their source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Collected {
    /// When (RFC 3339).
    pub at: String,
    /// How long ago, in seconds.
    pub age: u64,
    /// From whom they come now.
    pub from: Origin,
    /// Why the target could not be asked, where its last facts stand in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = in_short)]
    pub because: Option<Failure>,
}

/// From whom facts come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a word of a schema, which says no more of it")]
pub enum Origin {
    Device,
    Cache,
}

/// A short text for a failure.
fn in_short(failure: &mut Schema) {
    failure.remove("additionalProperties");
    failure.insert(
        "properties".to_owned(),
        json!({
            "kind": { "type": "string", "description": "What kind of failure it is" },
            "msg": { "type": "string", "description": "What happened" },
            "details": { "type": "object", "description": "More, for programs" },
        }),
    );
}
