//! The report of a device run as a schema: what stands in the value of each device.

use serde_json::{Value as Json, json};

use super::results::perhaps_text;
use super::schema::{closed, flag, list, of_type, one_of, open, text, whole};

/// The properties of a report.
pub(super) fn properties() -> Json {
    let seconds = closed(
        "How long one type took, in seconds",
        &["get", "set"],
        json!({
            "get": of_type("number", "Reading what the device holds"),
            "set": of_type("number", "Changing it"),
        }),
    );
    let mut of_types = open("How long each type took", json!({}));
    of_types["additionalProperties"] = seconds;
    json!({
        "resources": list("Each resource, in the order of the run", resource()),
        "summary": summary(),
        "status": one_of("The whole in a word", &["unchanged", "changed", "failed"]),
        "noop": flag("Whether changes were only told"),
        "completed": flag("Whether everything was looked at"),
        "rolled_back": flag("Whether the device was brought back to where it was before"),
        "problem": text("What went wrong beside the resources"),
        "started": text("When it began (RFC 3339)"),
        "ended": text("When it ended (RFC 3339)"),
        "seconds": of_types,
    })
}

fn summary() -> Json {
    let counts = [
        ("total", "All resources"),
        (
            "out_of_sync",
            "Those that the device did not hold as desired",
        ),
        ("changed", "Those that were changed"),
        ("failed", "Those that failed"),
        ("skipped", "Those that were left alone"),
        ("unchanged", "Those that were as desired"),
    ];
    let properties = counts.map(|(name, about)| (name.to_owned(), whole(about, 0)));
    let names = counts.map(|(name, _)| name);
    closed(
        "How many resources met which end",
        &names,
        properties.into_iter().collect(),
    )
}

fn resource() -> Json {
    let of_type_own = |about| of_type(json!(["object", "null"]), about);
    closed(
        "What became of one resource",
        &["type", "title", "ref", "events"],
        json!({
            "type": text("Its type"),
            "title": text("Its title"),
            "ref": text("Both, as Puppet refers to it: Frr_interface[swp1]"),
            "file": perhaps_text("Where it was declared"),
            "line": of_type(json!(["integer", "null"]), "The line there, from 1"),
            "tags": list("By what `tags` finds it", text("A tag")),
            "path": list("What it is in, from the outside, and itself", text("A reference")),
            "out_of_sync": flag("Whether the device was not in the desired state"),
            "changed": flag("Whether the device was changed, and was seen to hold the change"),
            "failed": flag("Whether it could not be brought to the desired state"),
            "noop": flag("Whether a change was only told"),
            "skipped": flag("Whether it was left alone"),
            "left_out": flag("Whether it has none of the tags of the run"),
            "is": of_type_own("The state before, as the type has it; null where it was not there"),
            "should": of_type_own("The desired state, as the type has it"),
            "events": list("What was found and done", event()),
            "messages": list("What was said about it", text("A line")),
            "lines": list("The configuration lines that make the change", text("A line")),
            "diff": list("The change, to be read by people", text("A line")),
            "notified_by": list("The changed resources that have told it so", text("A reference")),
            "time": text("When it was begun (RFC 3339)"),
            "evaluation_time": of_type("number", "How long it took, in seconds"),
        }),
    )
}

fn event() -> Json {
    let value = |about: &str| json!({ "description": about });
    closed(
        "One thing that was found to be otherwise",
        &["message", "status"],
        json!({
            "property": perhaps_text("The property; null where it is about the resource as a whole"),
            "previous": value("What the device held"),
            "desired": value("What it was to hold"),
            "message": text("All of that in Puppet's words"),
            "status": one_of("What became of it", &["success", "failure", "noop", "audit"]),
            "time": text("When (RFC 3339)"),
        }),
    )
}
