//! The checks before a device is changed: whether the whole desired state is possible.

use devgate_core::cancel::{CancelToken, Stage};
use devgate_transports::{Context, Mode};

use super::super::entry::Entry;
use super::super::plan::Work;
use super::super::tags;
use super::Run;

/// The number of resources that a message names.
const MAX_NAMED: usize = 3;

impl Run<'_> {
    /// Compares all resources that may be changed with the device, before anything is changed. A resource that comes
    /// after another change is compared again then, because it may depend on it.
    pub(super) async fn precheck(&mut self, ctx: &Context<'_>, stop: &CancelToken) {
        let (plan, tags) = (self.plan, &self.options.tags);
        let may_change = |entry: &&mut Entry| {
            entry.mode == Mode::Enforce && tags::are_wanted(&plan.nodes[entry.node].tags, tags)
        };
        for (kind, type_run) in self.types.iter_mut().enumerate() {
            let entries = self.waiting.iter_mut().flatten().filter(may_change);
            let entries = entries.filter(|entry| plan.nodes[entry.node].concerns(kind));
            let entries: Vec<&mut Entry> = entries.collect();
            if stop.stage() >= Stage::Finish {
                return;
            }
            if !entries.is_empty() {
                type_run.precheck(ctx, entries, plan).await;
            }
        }
        let changes: Vec<bool> = self
            .waiting
            .iter()
            .map(|entry| {
                entry.as_ref().is_some_and(|entry| {
                    entry.is_pending() || matches!(plan.nodes[entry.node].work, Work::Purge { .. })
                })
            })
            .collect();
        let mut mismatch = Vec::new();
        let entries = self.waiting.iter_mut().flatten().filter(may_change);
        for entry in entries.filter(|entry| entry.is_invalid) {
            let is_change = |node: usize| changes.get(node).copied().unwrap_or(false);
            if entry.compared_reading.is_some() && self.schedule.is_behind(entry.node, is_change) {
                entry.defer();
            } else {
                mismatch.push(entry.report.reference.clone());
            }
        }
        self.mismatch = (!mismatch.is_empty()).then(|| {
            let named = mismatch[..mismatch.len().min(MAX_NAMED)].join(", ");
            let more = match mismatch.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "Skipping because the manifest does not fit this device, so nothing is changed: see {named}{more}"
            )
        });
    }

    /// Whether bringing about a resource may change the device.
    pub(super) fn may_change(&self, entry: &Entry, kind: usize) -> bool {
        let is_settled = entry.report.failed
            || entry.compared_reading.is_some() && !entry.is_pending()
            || self.types[kind].is_unavailable();
        entry.mode == Mode::Enforce && !is_settled
    }
}
