//! What our actions answer, as a schema: the document that `--format json` prints.

use serde_json::{Value as Json, json};

use super::schema::{both, closed, list, of_type, one_of, open, text, whole};
use crate::failure::Failure;

/// The value of a target: `properties` where it went well, why where it did not.
pub(super) enum Value {
    /// With these properties and no others.
    Closed(Json),
    /// With any others: what a task answers, what a device tells of itself.
    Open(&'static str),
}

const ERROR: &str = "Why it failed";

const FILE: &str = "A file on the node of this module that holds what was too large to be sent \
                    (configuration `limits.results`), as JSON; it is there for 14 days";

/// The schema of an action's results. `item` are more properties of what became of one target.
pub(super) fn schema(action: &str, value: Value, item: Json) -> Json {
    let value = match value {
        Value::Closed(properties) => {
            let about = "What came of it; with `_error` where it failed";
            let of_all = json!({ "_error": error(), "_file": file() });
            closed(about, &[], both(properties, of_all))
        }
        // Whatever others say is a result, under these keys, too.
        Value::Open(about) => open(
            about,
            json!({ "_error": { "description": ERROR }, "_file": { "description": FILE } }),
        ),
    };
    let properties = json!({
        "target": text("The target's name"),
        "action": one_of("What was asked of it", &[action]),
        "status": one_of("Whether it went well", &["success", "failure"]),
        "value": value,
    });
    let item = closed(
        "What became of one target",
        &["target", "action", "status", "value"],
        both(properties, item),
    );
    let mut schema = closed(
        "What became of each target; `_error` alone where nothing could be begun",
        &[],
        json!({
            "items": list("What became of each target, in the order in which they were done", item),
            "target_count": whole("How many targets there were", 0),
            "elapsed_time": whole("How long it took, in seconds", 0),
            "statuses": closed(
                "How many targets went which way, where the items are in `_file`",
                &["success", "failure"],
                json!({
                    "success": whole("How many went well", 0),
                    "failure": whole("How many failed", 0),
                }),
            ),
            "failed": list(
                "Who failed and why, as many as there is room for, where the items are in `_file`",
                closed(
                    "A target that failed",
                    &["target"],
                    json!({
                        "target": text("The target's name"),
                        "_error": { "description": ERROR },
                    }),
                ),
            ),
            "_file": file(),
            "_error": error(),
        }),
    );
    schema["anyOf"] = json!([
        { "required": ["items"] },
        { "required": ["_file"] },
        { "required": ["_error"] },
    ]);
    schema
}

/// Why something failed.
fn error() -> Json {
    let mut schema = Failure::json_schema();
    schema["additionalProperties"] = json!(false);
    schema
}

/// What stands for that which is too large.
fn file() -> Json {
    closed(
        FILE,
        &["path", "size", "sha256"],
        json!({
            "path": text("Where it is"),
            "size": whole("How large it is, in bytes", 0),
            "sha256": text("The SHA-256 of its bytes, in hexadecimal digits"),
        }),
    )
}

/// A text, or nothing.
pub(super) fn perhaps_text(about: &str) -> Json {
    of_type(json!(["string", "null"]), about)
}
