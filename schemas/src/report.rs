//! The report of a device run: one entry for each resource, and a summary.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::derived::each;
use crate::{Resource, Value};

/// What became of one resource.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(extend("required" = ["type", "title", "ref", "events"]))]
pub struct ResourceReport {
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its title.
    pub title: String,
    /// Both, as Puppet refers to it: `Frr_interface[swp1]`.
    #[serde(rename = "ref")]
    #[schemars(description = "Both, as Puppet refers to it: Frr_interface[swp1]")]
    pub reference: String,
    /// Where it was declared.
    #[schemars(extend("nullable" = true))]
    pub file: Option<String>,
    /// The line there, from 1.
    #[schemars(with = "i64", extend("nullable" = true))]
    pub line: Option<u32>,
    /// By what `tags` finds it.
    #[schemars(transform = each("A tag"))]
    pub tags: Vec<String>,
    /// What it is in, from the outside, and itself.
    #[schemars(transform = each("A reference"))]
    pub path: Vec<String>,
    /// Whether the device was not in the desired state.
    pub out_of_sync: bool,
    /// Whether the device was changed, and was seen to hold the change.
    pub changed: bool,
    /// Whether it could not be brought to the desired state.
    pub failed: bool,
    /// Whether a change was only told.
    pub noop: bool,
    /// Whether it was left alone.
    ///
    /// Something before it failed, or nobody asked for it.
    pub skipped: bool,
    /// Whether it has none of the tags of the run.
    pub left_out: bool,
    /// The state before, as the type has it; null where it was not there.
    #[schemars(extend("nullable" = true))]
    pub is: Option<Resource>,
    /// The desired state, as the type has it.
    #[schemars(extend("nullable" = true))]
    pub should: Resource,
    /// What was found and done.
    ///
    /// There is one event each property.
    pub events: Vec<ResourceEvent>,
    /// What was said about it.
    #[schemars(transform = each("A line"))]
    pub messages: Vec<String>,
    /// The configuration lines that make the change.
    ///
    /// Some providers can show none.
    #[schemars(transform = each("A line"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// The change, to be read by people.
    ///
    /// It is those lines, or else the attributes, before and after.
    #[schemars(transform = each("A line"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
    /// The changed resources that have told it so.
    #[schemars(transform = each("A reference"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notified_by: Vec<String>,
    /// When it was begun (RFC 3339).
    pub time: String,
    /// How long it took, in seconds.
    ///
    /// What many resources took together is shared out among them.
    pub evaluation_time: f64,
}

/// One thing that was found to be otherwise.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(extend("required" = ["message", "status"]))]
pub struct ResourceEvent {
    /// The property; null where it is about the resource as a whole.
    #[schemars(extend("nullable" = true))]
    pub property: Option<String>,
    /// What the device held.
    #[schemars(with = "serde_json::Value")]
    pub previous: Option<Value>,
    /// What it was to hold.
    #[schemars(with = "serde_json::Value")]
    pub desired: Option<Value>,
    /// All of that in Puppet's words.
    pub message: String,
    /// What became of it.
    pub status: EventStatus,
    /// When (RFC 3339).
    pub time: String,
}

/// What became of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventStatus {
    /// It was made to be as desired.
    Success,
    /// It could not be.
    Failure,
    /// It was only told.
    Noop,
    /// It is watched, and nothing is done about it.
    Audit,
}

/// What became of every resource of a device run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Each resource, in the order of the run.
    pub resources: Vec<ResourceReport>,
    /// How many resources met which end.
    pub summary: Summary,
    /// The whole in a word.
    pub status: RunStatus,
    /// Whether changes were only told.
    pub noop: bool,
    /// What the device itself says that the changes would change.
    ///
    /// Only some devices can tell, and only under noop.
    #[schemars(transform = each("A line"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_diff: Vec<String>,
    /// Whether everything was looked at.
    ///
    /// A run that is stopped leaves some alone.
    pub completed: bool,
    /// Whether the device was brought back to where it was before.
    pub rolled_back: bool,
    /// What went wrong beside the resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended (RFC 3339).
    pub ended: String,
    /// How long each type took.
    pub seconds: IndexMap<String, Seconds>,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The device held everything already.
    #[default]
    Unchanged,
    /// It was changed.
    Changed,
    /// Something failed, or was not looked at.
    Failed,
}

/// How long one type took, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Seconds {
    /// Reading what the device holds.
    pub get: f64,
    /// Changing it.
    pub set: f64,
}

/// How many resources met which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// All resources.
    pub total: usize,
    /// Those that the device did not hold as desired.
    pub out_of_sync: usize,
    /// Those that were changed.
    pub changed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that were left alone.
    pub skipped: usize,
    /// Those that were as desired.
    pub unchanged: usize,
}

impl Report {
    /// Adds what went wrong beside the resources. The run has failed.
    pub fn add_problem(&mut self, problem: impl Into<String>) {
        let before = self.problem.take().into_iter();
        let all: Vec<String> = before.chain([problem.into()]).collect();
        self.problem = Some(all.join("\n"));
        self.status = RunStatus::Failed;
    }

    /// Counts the resources, and sets the summary and the status.
    pub fn sum_up(&mut self) {
        let mut summary = Summary {
            total: self.resources.len(),
            ..Summary::default()
        };
        for resource in &self.resources {
            summary.out_of_sync += usize::from(resource.out_of_sync);
            summary.changed += usize::from(resource.changed);
            summary.failed += usize::from(resource.failed);
            summary.skipped += usize::from(resource.skipped);
            let settled = resource.out_of_sync || resource.failed || resource.skipped;
            summary.unchanged += usize::from(!settled);
        }
        self.status = match summary {
            _ if summary.failed > 0 || !self.completed || self.problem.is_some() => {
                RunStatus::Failed
            }
            _ if summary.changed > 0 => RunStatus::Changed,
            _ => RunStatus::Unchanged,
        };
        self.summary = summary;
    }
}
