//! The results of actions: the document that `--format json` prints.

use std::path::PathBuf;

use devgate_core::failure::Failure;
use devgate_core::results::Item;
use devgate_schemas::derived::{plain, raw};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// What became of each target; `_error` alone where nothing could be begun.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(extend("anyOf" = [
    { "required": ["items"] },
    { "required": ["_file"] },
    { "required": ["_error"] },
]))]
pub(super) struct Results {
    /// What became of each target, in the order in which they were done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Item<'static>>>")]
    pub(super) items: Option<Vec<Json>>,
    /// How many targets there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target_count: Option<usize>,
    /// How long it took, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) elapsed_time: Option<u64>,
    /// How many targets went which way, where the items are in `_file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) statuses: Option<Statuses>,
    /// Who failed and why, as many as there is room for, where the items are in `_file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<Vec<Failed>>,
    #[serde(rename = "_file", skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<File>,
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = false))]
    pub(super) error: Option<Failure>,
}

/// How many targets went which way.
#[derive(Serialize, JsonSchema)]
pub(super) struct Statuses {
    /// How many went well.
    pub(super) success: usize,
    /// How many failed.
    pub(super) failure: usize,
}

/// A target that failed.
#[derive(Serialize, JsonSchema)]
pub(super) struct Failed {
    /// The target's name.
    pub(super) target: String,
    /// Why it failed.
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Json>,
}

/// A file on the node of this module that holds what was too large to be sent (configuration `limits.results`), as
/// JSON; it is there for 14 days.
#[derive(Serialize, JsonSchema)]
pub(super) struct File {
    /// Where it is.
    pub(super) path: PathBuf,
    /// How large it is, in bytes.
    pub(super) size: usize,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub(super) sha256: String,
}

/// The schema of the results of an action.
pub(super) fn schema<V: JsonSchema>(action: &str, about: &str, additional_keys: &[&str]) -> Json {
    let mut results = raw::<Results>();
    let all = &mut results.ensure_object()["properties"];
    let mut value = raw::<V>();
    value.insert("description".to_owned(), about.into());
    // After a failure, these may be the only keys.
    value.remove("required");
    for key in ["_error", "_file"] {
        let open = value.get("additionalProperties") == Some(&json!(true));
        let schema = match open {
            // Values of others may use these keys, too.
            true => json!({ "description": all[key]["description"] }),
            false => all[key].clone(),
        };
        let properties = value.ensure_object().entry("properties");
        properties.or_insert_with(|| json!({}))[key] = schema;
    }
    let item = &mut all["items"]["items"]["properties"];
    let keys = ["target", "action", "status", "value"]
        .iter()
        .chain(additional_keys);
    *item = keys.map(|key| (*key, item[key].clone())).collect();
    item["action"]["enum"] = json!([action]);
    item["value"] = value.into();
    plain(&mut results);
    results.into()
}
