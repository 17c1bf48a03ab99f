//! Audit: compares the state of a device with that of the last run, whatever has changed it.

use std::time::SystemTime;

use devgate_core::time::to_the_nanosecond;
use devgate_schemas::{
    Behaviour, EventStatus, Resource, ResourceEvent, ResourceReport, TypeSchema, Value,
};
use serde_json::{Map, Value as Json};

use super::catalog::Audit;
use super::format::format_value;

/// The recorded states of audited resources, by reference and attribute. Secrets are not recorded.
#[derive(Debug, Default)]
pub(crate) struct Audited(Map<String, Json>);

impl Audited {
    /// Reads the recorded states. Anything of another form counts as empty.
    pub(crate) fn from_json(stored: Json) -> Self {
        match stored {
            Json::Object(resources) => Self(resources),
            _ => Self::default(),
        }
    }

    /// Returns the states to record.
    pub(crate) fn into_json(self) -> Json {
        Json::Object(self.0)
    }

    /// Reports the changes of a resource since it was last recorded, and records its current state. The report contains
    /// the state before the run; `now` is the state after it.
    pub(super) fn compare_and_record(
        &mut self,
        audit: &Audit,
        schema: &TypeSchema,
        report: &mut ResourceReport,
        now: Option<&Resource>,
    ) {
        let names = names(audit, schema);
        if names.is_empty() {
            return;
        }
        let recorded = self.0.entry(report.reference.clone());
        let recorded = recorded.or_insert_with(|| Json::Object(Map::new()));
        for name in names {
            let value = |resource: Option<&Resource>| match resource.map(|one| one.get(name)) {
                None => Value::from("absent"),
                Some(Some(value)) => value.clone(),
                // Rows need not contain `ensure` for an existing resource.
                Some(None) if name == "ensure" => Value::from("present"),
                Some(None) => Value::Undef,
            };
            let before = value(report.is.as_ref());
            let last = recorded.get(name).cloned().map(Value::from);
            let message = match &last {
                None => format!(
                    "audit change: newly-recorded value {}",
                    format_value(&before)
                ),
                Some(last) if *last == before => String::new(),
                Some(last) => format!(
                    "audit change: previously recorded value {} has been changed to {}",
                    format_value(last),
                    format_value(&before)
                ),
            };
            if !message.is_empty() {
                report.messages.push(format!("{name}: {message}"));
                report.events.push(ResourceEvent {
                    property: Some(name.to_owned()),
                    previous: last,
                    desired: None,
                    message,
                    status: EventStatus::Audit,
                    time: to_the_nanosecond(SystemTime::now()),
                });
            }
            recorded[name] = value(now).to_json();
        }
    }
}

/// Returns the audited attributes. Secret attributes are never audited.
fn names<'s>(audit: &Audit, schema: &'s TypeSchema) -> Vec<&'s str> {
    let attributes = schema.attributes().iter();
    let open = attributes.filter(|(_, attribute)| !attribute.sensitive);
    open.filter(|(name, attribute)| match audit {
        Audit::Nothing => false,
        Audit::Only(names) => names.contains(name),
        Audit::All => matches!(
            attribute.behaviour,
            Behaviour::Property | Behaviour::ReadOnly | Behaviour::InitOnly
        ),
    })
    .map(|(name, _)| name.as_str())
    .collect()
}
