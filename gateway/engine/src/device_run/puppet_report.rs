//! Converts the report of a device run to Puppet's own, as its servers, dashboards and PuppetDB accept it (report
//! format 12).

#[cfg(test)]
mod tests;

use devgate_schemas::{
    EventStatus, HIDDEN_PROPERTY, Report, ResourceEvent, ResourceReport, RunStatus, Value,
};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

/// The format's number (Puppet 7 and 8).
const FORMAT: u32 = 12;

/// Converts the report on a device. `version` identifies the applied manifest.
pub(crate) fn puppet_report(report: &Report, device: &str, version: &str) -> Json {
    let events = || {
        report
            .resources
            .iter()
            .flat_map(|resource| &resource.events)
    };
    let statuses: Map<String, Json> = report
        .resources
        .iter()
        .map(|resource| {
            (
                resource.reference.clone(),
                status(resource, &report.started),
            )
        })
        .collect();
    let resources = report.resources.iter();
    let logs: Vec<Json> = resources.flat_map(|it| logs(it, &report.started)).collect();
    json!({
        "host": device,
        "time": report.started,
        "configuration_version": version,
        "transaction_uuid": Uuid::new_v4().to_string(),
        "report_format": FORMAT,
        "puppet_version": concat!("devgate ", env!("CARGO_PKG_VERSION")),
        "status": match report.status {
            RunStatus::Unchanged => "unchanged",
            RunStatus::Changed => "changed",
            RunStatus::Failed => "failed",
        },
        "transaction_completed": report.completed,
        "noop": report.noop,
        "noop_pending": events().any(|event| event.status == EventStatus::Noop),
        "environment": "production",
        "corrective_change": false,
        "cached_catalog_status": "not_used",
        "logs": logs,
        "metrics": metrics(report),
        "resource_statuses": statuses,
    })
}

/// Writes the report as YAML, as Puppet stores it: JSON is YAML, with the class of the object in front.
pub(crate) fn as_puppet_yaml(report: &Json) -> String {
    format!("--- !ruby/object:Puppet::Transaction::Report\n{report:#}\n")
}

/// Returns when a resource was begun. For a skipped one that is the start of the run, because Puppet requires a time.
fn begun<'r>(resource: &'r ResourceReport, started: &'r str) -> &'r str {
    match resource.time.as_str() {
        "" => started,
        time => time,
    }
}

fn status(resource: &ResourceReport, started: &str) -> Json {
    let made = resource
        .events
        .iter()
        .filter(|event| event.status == EventStatus::Success);
    let differing = resource
        .events
        .iter()
        .filter(|event| event.status != EventStatus::Audit);
    let events = resource.events.iter().map(|it| event(resource, it));
    json!({
        "title": resource.title,
        "file": resource.file,
        "line": resource.line,
        "resource": resource.reference,
        "resource_type": type_of(resource),
        "provider_used": Json::Null,
        "containment_path": resource.path,
        "evaluation_time": resource.evaluation_time,
        "tags": resource.tags,
        "time": begun(resource, started),
        "failed": resource.failed,
        "failed_to_restart": false,
        "changed": resource.changed,
        "out_of_sync": resource.out_of_sync,
        "skipped": resource.skipped,
        "change_count": made.count(),
        "out_of_sync_count": differing.count(),
        "events": events.collect::<Vec<_>>(),
        "corrective_change": false,
    })
}

/// Returns the type as Puppet writes it: the reference without its title.
fn type_of(resource: &ResourceReport) -> &str {
    let reference = &resource.reference;
    reference
        .split_once('[')
        .map_or(reference, |(name, _)| name)
}

fn event(resource: &ResourceReport, event: &ResourceEvent) -> Json {
    let shown = |value: &Option<Value>| value.as_ref().map(Value::to_json);
    let is_secret = |value: &Option<Value>| value.as_ref().is_some_and(Value::has_secret);
    let is_gone = |value: &Value| value.as_str() == Some("absent");
    // As Puppet::Property#event_name.
    let name = match (event.property.as_deref(), &event.desired) {
        (Some("ensure"), Some(value)) if is_gone(value) => {
            format!("{}_removed", resource.type_name)
        }
        (Some("ensure"), Some(_)) => format!("{}_created", resource.type_name),
        (Some(property), _) => format!("{property}_changed"),
        (None, _) if event.status == EventStatus::Failure => "resource_error".to_owned(),
        (None, _) => format!("{HIDDEN_PROPERTY}_changed"),
    };
    json!({
        "audited": event.status == EventStatus::Audit,
        "property": event.property,
        "previous_value": shown(&event.previous),
        "desired_value": shown(&event.desired),
        "historical_value": Json::Null,
        "message": event.message,
        "name": name,
        "status": event.status,
        "time": event.time,
        "redacted": is_secret(&event.previous) || is_secret(&event.desired),
        "corrective_change": false,
    })
}

/// Returns what Puppet would have logged for a resource: each event, and the messages of a failure.
fn logs(resource: &ResourceReport, started: &str) -> Vec<Json> {
    let log = |level: &str, message: &str, property: Option<&str>, time: &str| {
        let mut source = format!("/{}", resource.path.join("/"));
        if let Some(property) = property {
            source.push_str(&format!("/{property}"));
        }
        let mut tags = vec![level.to_owned()];
        tags.extend(resource.tags.iter().cloned());
        json!({
            "level": level,
            "message": message,
            "source": source,
            "tags": tags,
            "time": time,
            "file": resource.file,
            "line": resource.line,
        })
    };
    let mut logs: Vec<Json> = Vec::new();
    for event in &resource.events {
        let level = match event.status {
            EventStatus::Failure => "err",
            EventStatus::Success | EventStatus::Noop | EventStatus::Audit => "notice",
        };
        let property = event.property.as_deref();
        logs.push(log(level, &event.message, property, &event.time));
    }
    if resource.failed {
        let said = |message: &&String| resource.events.iter().any(|it| it.message == **message);
        let others = resource.messages.iter().filter(|message| !said(message));
        let time = begun(resource, started);
        logs.extend(others.map(|message| log("err", message, None, time)));
    }
    logs
}

fn metrics(report: &Report) -> Json {
    let summary = &report.summary;
    let events = |status: EventStatus| {
        let events = report
            .resources
            .iter()
            .flat_map(|resource| &resource.events);
        json!(events.filter(|event| event.status == status).count())
    };
    let changes = events(EventStatus::Success);
    let (failures, noops) = (events(EventStatus::Failure), events(EventStatus::Noop));
    let audits = events(EventStatus::Audit);
    let all: usize = report.resources.iter().map(|it| it.events.len()).sum();
    let mut seconds: Vec<(&str, Json)> = Vec::new();
    let mut total = 0.0;
    for (name, spent) in &report.seconds {
        seconds.push((name, json!(spent.get + spent.set)));
        total += spent.get + spent.set;
    }
    seconds.extend([("config_retrieval", json!(0.0)), ("total", json!(total))]);
    let mut metrics = Map::new();
    for (name, label, values) in [
        (
            "resources",
            "Resources",
            vec![
                ("total", json!(summary.total)),
                ("skipped", json!(summary.skipped)),
                ("failed", json!(summary.failed)),
                ("failed_to_restart", json!(0)),
                ("restarted", json!(0)),
                ("changed", json!(summary.changed)),
                ("out_of_sync", json!(summary.out_of_sync)),
                ("scheduled", json!(0)),
                ("corrective_change", json!(0)),
            ],
        ),
        ("time", "Time", seconds),
        ("changes", "Changes", vec![("total", changes.clone())]),
        (
            "events",
            "Events",
            vec![
                ("total", json!(all)),
                ("failure", failures),
                ("success", changes),
                ("noop", noops),
                ("audit", audits),
            ],
        ),
    ] {
        let values: Vec<Json> = values
            .into_iter()
            .map(|(name, value)| json!([name, labelled(name), value]))
            .collect();
        metrics.insert(
            name.to_owned(),
            json!({ "name": name, "label": label, "values": values }),
        );
    }
    Json::Object(metrics)
}

/// Formats a name as Puppet does: `out_of_sync` becomes `Out of sync`.
fn labelled(name: &str) -> String {
    let text = name.replace('_', " ");
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}
