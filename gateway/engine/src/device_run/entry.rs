//! The state of one resource in a run.

use std::time::SystemTime;

use devgate_core::time::to_the_nanosecond;
use devgate_devices::{Change, CurrentState, Error, Provider, ResourceType, SecretVisibility};
use devgate_schemas::{EventStatus, Name, Resource, ResourceEvent, ResourceReport};
use devgate_transports::{Context, Mode};

use super::compare::Sides;
use super::diff;
use super::difference::Difference;
use super::plan::Node;

/// The state of one resource in a run.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The node of the plan. Purging adds several resources to one node.
    pub(super) node: usize,
    /// Whether the resource may be changed.
    pub(super) mode: Mode,
    pub(super) name: Name,
    pub(super) report: ResourceReport,
    /// The differences from the desired state; none when in sync.
    pub(super) differences: Vec<Difference>,
    /// The reading of the type that the resource was compared with.
    pub(super) compared_reading: Option<usize>,
    /// Whether the desired state is invalid, so that nothing was sent.
    pub(super) is_invalid: bool,
}

impl Entry {
    /// Creates the entry of a node's resource.
    pub(super) fn new(
        node: usize,
        node_data: &Node,
        mode: Mode,
        name: Name,
        should: Resource,
    ) -> Self {
        let positive = |number: u32| (number > 0).then_some(number);
        let report = ResourceReport {
            type_name: node_data.shown.type_name.clone(),
            title: node_data.shown.title.clone(),
            reference: node_data.shown.to_string(),
            file: Some(node_data.location.file.to_string()),
            line: positive(node_data.location.line),
            tags: node_data.tags.iter().cloned().collect(),
            path: node_data.path.clone(),
            should,
            ..ResourceReport::default()
        };
        Self {
            node,
            mode,
            name,
            report,
            differences: Vec::new(),
            compared_reading: None,
            is_invalid: false,
        }
    }

    /// Fails the resource because its desired state is invalid.
    pub(super) fn refuse(&mut self, message: &str) {
        self.fail(message);
        self.is_invalid = true;
    }

    /// Resets the verdict, so that the resource is judged again when its turn comes.
    pub(super) fn defer(&mut self) {
        (self.is_invalid, self.report.failed, self.compared_reading) = (false, false, None);
        self.report.out_of_sync = false;
        self.report.messages.clear();
        self.report.events.clear();
    }

    /// Whether `set` must still bring the resource to its desired state.
    pub(super) fn is_pending(&self) -> bool {
        !self.differences.is_empty() && !self.report.failed
    }

    /// Whether the effect of a change cannot be verified, if the device does not show the resource.
    pub(super) fn is_unverifiable(&self, provider: &dyn Provider) -> bool {
        !self.report.failed && self.report.is.is_none() && !provider.shows_all()
    }

    /// Returns both sides of the comparison, if the device holds `is`.
    pub(super) fn sides<'a>(&'a self, is: Option<&'a Resource>) -> Sides<'a> {
        Sides {
            name: &self.name,
            is,
            should: &self.report.should,
        }
    }

    /// Returns the change for `set`.
    pub(super) fn change(&self) -> Change {
        let is = self.report.is.clone();
        Change {
            is: is.map_or(CurrentState::Absent, CurrentState::Present),
            // A resource to remove is passed as a whole, because its parameters may control how.
            should: Some(self.report.should.clone()),
        }
    }

    /// Records that the resource would be changed.
    pub(super) fn would_change(&mut self) {
        if !self.is_pending() {
            return;
        }
        self.report.out_of_sync = true;
        self.report.noop = true;
        for difference in &self.differences {
            self.report
                .messages
                .push(difference.noop_message_for_people());
            let event = difference.event(EventStatus::Noop, difference.noop_message(), now());
            self.report.events.push(event);
        }
    }

    /// Records that the resource was changed, and that the device holds the desired state.
    pub(super) fn mark_changed(&mut self) {
        self.report.out_of_sync = true;
        self.report.changed = true;
        for difference in &self.differences {
            self.report
                .messages
                .push(difference.change_message_for_people());
            let event = difference.event(EventStatus::Success, difference.change_message(), now());
            self.report.events.push(event);
        }
    }

    /// Records that the resource could not be brought to its desired state.
    pub(super) fn fail(&mut self, message: &str) {
        self.report.out_of_sync |= !self.differences.is_empty();
        if !self.report.failed {
            let differences = self.differences.iter();
            let events = differences.map(|difference| {
                difference.event(EventStatus::Failure, message.to_owned(), now())
            });
            self.report.events.extend(events);
            if self.differences.is_empty() {
                // The failure came before anything was known of the resource.
                self.report.events.push(ResourceEvent {
                    property: None,
                    previous: None,
                    desired: None,
                    message: message.to_owned(),
                    status: EventStatus::Failure,
                    time: now(),
                });
            }
        }
        self.report.failed = true;
        self.report.messages.push(message.to_owned());
    }

    /// Records that the resource is skipped.
    pub(super) fn skip(&mut self, messages: impl IntoIterator<Item = String>) {
        self.report.skipped = true;
        self.report.messages.extend(messages);
    }

    /// Records what the change would send.
    pub(super) fn render(&mut self, ctx: &Context<'_>, kind: &dyn ResourceType) {
        self.report.lines.clear();
        self.report.diff.clear();
        if !self.is_pending() {
            return;
        }
        let (change, facts) = (self.change(), ctx.facts());
        match kind.render(&self.name, &change, facts, SecretVisibility::Redacted) {
            Ok(lines) => self.report.lines = lines,
            // A provider in code need not be able to show what it sends.
            Err(Error::Unsupported(_)) => {}
            Err(error) => self.refuse(&error.to_string()),
        }
        let report = &mut self.report;
        report.diff = diff::of(&report.lines, &self.differences, &report.should);
    }
}

fn now() -> String {
    to_the_nanosecond(SystemTime::now())
}
