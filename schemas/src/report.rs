//! What a device run did: per resource, and in sum.

use serde::Serialize;

use crate::Resource;

/// What became of one resource in a device run.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceReport {
    /// The resource's type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its title.
    pub title: String,
    /// Whether the device was not in the desired state.
    pub out_of_sync: bool,
    /// Whether the device was changed, and was seen to hold the change.
    pub changed: bool,
    /// Whether it could not be brought to the desired state.
    pub failed: bool,
    /// Whether a change was only told, not made.
    pub noop: bool,
    /// Whether it was left alone because something before it failed.
    #[serde(skip)]
    pub skipped: bool,
    /// The state before; `null` where it was not there.
    pub is: Option<Resource>,
    /// The desired state.
    pub should: Resource,
    /// What was said about it.
    pub messages: Vec<String>,
    /// The configuration lines that make the change, where the provider can show them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// What became of every resource of a device run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Each resource, in the order of the run.
    pub resources: Vec<ResourceReport>,
    /// The counts.
    pub summary: Summary,
}

/// How many resources met which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All of them.
    pub total: usize,
    /// Those that the device did not hold as desired.
    pub out_of_sync: usize,
    /// Those that were changed.
    pub changed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that were left alone because of a failure before them.
    pub skipped: usize,
    /// Those that were as desired.
    pub unchanged: usize,
}

impl Report {
    /// A report of these resources.
    pub fn new(resources: Vec<ResourceReport>) -> Self {
        let mut summary = Summary {
            total: resources.len(),
            ..Summary::default()
        };
        for resource in &resources {
            summary.out_of_sync += usize::from(resource.out_of_sync);
            summary.changed += usize::from(resource.changed);
            summary.failed += usize::from(resource.failed);
            summary.skipped += usize::from(resource.skipped);
            let settled = resource.out_of_sync || resource.failed || resource.skipped;
            summary.unchanged += usize::from(!settled);
        }
        Self { resources, summary }
    }
}
