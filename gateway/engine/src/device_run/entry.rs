//! One resource on its way through a run.

use std::time::SystemTime;

use devgate_devices::{Change, CurrentState, Provider};
use devgate_schemas::{EventStatus, Name, Resource, ResourceEvent, ResourceReport};
use devgate_transports::Mode;

use super::compare::Sides;
use super::difference::Difference;
use super::plan::Node;
use super::words::time;

/// One resource on its way.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The node of the plan that it belongs to: several are of one where it purges.
    pub(super) node: usize,
    /// Whether it may be changed.
    pub(super) mode: Mode,
    pub(super) name: Name,
    pub(super) report: ResourceReport,
    /// What is not as desired; nothing when in sync.
    pub(super) wanted: Vec<Difference>,
    /// Which reading of its type it was held against.
    pub(super) compared: Option<usize>,
    /// Whether it failed for what it desires, before anything was sent.
    pub(super) unfit: bool,
}

impl Entry {
    /// The resource of a node.
    pub(super) fn new(node: usize, of: &Node, mode: Mode, name: Name, should: Resource) -> Self {
        let known = |number: u32| (number > 0).then_some(number);
        let report = ResourceReport {
            type_name: of.shown.type_name.clone(),
            title: of.shown.title.clone(),
            reference: of.shown.to_string(),
            file: Some(of.place.file.to_string()),
            line: known(of.place.line),
            tags: of.tags.iter().cloned().collect(),
            path: of.path.clone(),
            should,
            ..ResourceReport::default()
        };
        Self {
            node,
            mode,
            name,
            report,
            wanted: Vec::new(),
            compared: None,
            unfit: false,
        }
    }

    /// It desires what cannot be.
    pub(super) fn refuse(&mut self, message: &str) {
        self.fail(message);
        self.unfit = true;
    }

    /// It is to be judged once more, when its turn comes.
    pub(super) fn defer(&mut self) {
        (self.unfit, self.report.failed, self.compared) = (false, false, None);
        self.report.out_of_sync = false;
        self.report.messages.clear();
        self.report.events.clear();
    }

    /// Whether `set` is still to bring it to its desired state.
    pub(super) fn is_pending(&self) -> bool {
        !self.wanted.is_empty() && !self.report.failed
    }

    /// Whether nobody can say if it was done, where the device is not seen to hold it now.
    pub(super) fn is_believed(&self, provider: &dyn Provider) -> bool {
        !self.report.failed && self.report.is.is_none() && !provider.shows_all()
    }

    /// What is held against what, if the device holds this.
    pub(super) fn sides<'a>(&'a self, is: Option<&'a Resource>) -> Sides<'a> {
        Sides {
            name: &self.name,
            is,
            should: &self.report.should,
        }
    }

    /// What `set` is asked for.
    pub(super) fn change(&self) -> Change {
        let is = self.report.is.clone();
        Change {
            is: is.map_or(CurrentState::Absent, CurrentState::Present),
            // What is to go may say more than that: parameters steer how.
            should: Some(self.report.should.clone()),
        }
    }

    /// It would be changed, but is not to be.
    pub(super) fn would_change(&mut self) {
        if !self.is_pending() {
            return;
        }
        self.report.out_of_sync = true;
        self.report.noop = true;
        for difference in &self.wanted {
            self.report.messages.push(difference.told_whole());
            let event = difference.event(EventStatus::Noop, difference.told(), now());
            self.report.events.push(event);
        }
    }

    /// It was changed, and the device was seen to hold it.
    pub(super) fn done(&mut self) {
        self.report.out_of_sync = true;
        self.report.changed = true;
        for difference in &self.wanted {
            self.report.messages.push(difference.settled_whole());
            let event = difference.event(EventStatus::Success, difference.settled(), now());
            self.report.events.push(event);
        }
    }

    /// It could not be brought to its desired state.
    pub(super) fn fail(&mut self, message: &str) {
        self.report.out_of_sync |= !self.wanted.is_empty();
        if !self.report.failed {
            let wanted = self.wanted.iter();
            let events =
                wanted.map(|one| one.event(EventStatus::Failure, message.to_owned(), now()));
            self.report.events.extend(events);
            if self.wanted.is_empty() {
                // It failed before anything was known of it.
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

    /// It is left alone.
    pub(super) fn skip(&mut self, messages: impl IntoIterator<Item = String>) {
        self.report.skipped = true;
        self.report.messages.extend(messages);
    }
}

fn now() -> String {
    time(SystemTime::now())
}
