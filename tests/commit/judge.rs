//! Compares what a run says with what the devices hold.

use std::fmt::Write;

use serde_json::Value;

use crate::candidate::{Fault, Vendor};
use crate::fleet::{Fleet, Report, name, seed};
use crate::wishes::{Held, Wish};

/// Words of a message that leaves open what became of a change.
const DOUBT: [&str; 3] = [
    "not known whether",
    "keeps it, or rolls it back",
    "what was done is not known",
];

/// Words of a message about a change that was made, and that the device did not show afterwards.
const UNREAD: &str = "it was set, but could not be read back";

/// Words of a message about changes that a restart undoes.
const UNSAVED: &str = "will lose them when it restarts";

/// Words of a message about a report that a commit of somebody else makes doubtful.
const UNSETTLED: [&str; 2] = [
    "this report may not last",
    "it is not known whether a commit of somebody else",
];

/// Words of a message about a rollback that was not seen to its end.
const UNKNOWN: &str = "the state of the device is not known";

/// The number of violations that are shown in full.
const SHOWN: usize = 12;

pub(crate) struct Judge<'f> {
    fleet: &'f Fleet,
    report: &'f Report,
    wishes: &'f [Wish],
    pub(crate) violations: Vec<String>,
}

/// What a run says of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Changed,
    /// Changed, but nobody has seen it.
    Unread,
    Failed,
    InDoubt,
    Skipped,
    Unchanged,
}

impl<'f> Judge<'f> {
    pub(crate) fn new(fleet: &'f Fleet, report: &'f Report) -> Self {
        Self {
            fleet,
            report,
            wishes: &fleet.setup.wishes,
            violations: Vec::new(),
        }
    }

    /// Asserts that everything is done, and everything says so.
    pub(crate) fn assert_all_done(mut self) {
        for number in 0..self.fleet.devices.len() {
            let mut device = self.fleet.devices[number].device();
            let is_pending = device.is_pending();
            device.pass_time();
            let running = device.running().clone();
            drop(device);
            if is_pending {
                self.violation(number, "a commit still waits for its confirmation");
            }
            for wish in self.wishes {
                let (held, said) = (wish.held(&running), self.said(number, wish));
                if (held, said) != (Held::All, Said::Changed) {
                    let text = format!("{}: it holds {held:?}, and is said {said:?}", wish.title);
                    self.violation(number, &text);
                }
            }
        }
        self.finish();
    }

    /// Checks every device after a run with its fault.
    pub(crate) fn check_all(&mut self) {
        let mut any_failed = false;
        for number in 0..self.fleet.devices.len() {
            self.check_device(number);
            any_failed |= self.item(number)["status"] != "success";
        }
        assert_eq!(!any_failed, self.report.succeeded, "the exit code");
    }

    fn check_device(&mut self, number: usize) {
        let has_committed = self.has(number, |fault| fault == Fault::ForeignCommit);
        let mut device = self.fleet.devices[number].device();
        device.pass_time();
        let running = device.running().clone();
        let startup = device.startup().clone();
        let foreign = device.foreign_line();
        let uncommitted = device.uncommitted();
        drop(device);
        let is_unsaved = self.item(number).to_string().contains(UNSAVED);
        let is_unknown = self.item(number).to_string().contains(UNKNOWN);
        let is_undone = is_unsaved && self.has(number, |fault| fault == Fault::RebootConfirmed);
        let mut all_done = true;
        for wish in self.wishes {
            let (held, said) = (wish.held(&running), self.said(number, wish));
            all_done &= said == Said::Changed;
            let is_right = match held {
                Held::Half => false,
                _ if is_unknown => true,
                // It was seen before the restart.
                Held::Nothing if is_undone => matches!(said, Said::Changed | Said::Failed),
                Held::All => matches!(said, Said::Changed | Said::Unread | Said::InDoubt),
                Held::Nothing => matches!(said, Said::Failed | Said::InDoubt | Said::Skipped),
            };
            if held == Held::Nothing && wish.held(&startup) != Held::Nothing && !is_unknown {
                let text = format!("{}: a restart brings it back", wish.title);
                self.violation(number, &text);
            }
            if !is_right {
                let text = format!("{}: it holds {held:?}, and is said {said:?}", wish.title);
                self.violation(number, &text);
            }
        }
        let said = self.item(number).to_string();
        let is_unsettled = UNSETTLED.iter().any(|words| said.contains(words));
        let all_right = all_done && !is_unsaved && !is_unsettled;
        if all_right != (self.item(number)["status"] == "success") {
            self.violation(number, "the target's status does not fit its resources");
        }
        if !has_committed && running.lines().iter().any(|line| line == foreign) {
            self.violation(number, "the change of someone else was committed");
        }
        if self.is_left(number, &uncommitted) {
            self.violation(number, &format!("changes are left: {uncommitted:?}"));
        }
        let is_saved = self
            .wishes
            .iter()
            .all(|wish| wish.held(&startup) == Held::All);
        if all_done && !is_saved && !is_unsaved {
            self.violation(number, "the report is wrong about a restart");
        }
    }

    /// Checks that nothing is done, and nothing left, after a run that was to do nothing.
    pub(crate) fn check_nothing_done(&mut self) {
        for number in 0..self.fleet.devices.len() {
            let mut device = self.fleet.devices[number].device();
            let (is_pending, running) = (device.is_pending(), device.running().clone());
            let uncommitted = device.uncommitted();
            drop(device);
            let done = self
                .wishes
                .iter()
                .any(|wish| wish.held(&running) != Held::Nothing);
            let is_foreign = self.has(number, |fault| fault == Fault::ForeignTrial);
            if is_pending && !is_foreign || done {
                self.violation(number, "something is done");
            }
            let received = self.fleet.received(number);
            let is_commit = |line: &String| line.contains(": commit");
            if received.iter().any(is_commit) {
                self.violation(number, "something is committed");
            }
            if self.is_left(number, &uncommitted) {
                self.violation(number, &format!("changes are left: {uncommitted:?}"));
            }
        }
    }

    /// Checks that every device is as it was before the run if the report says so, and as the report says otherwise.
    pub(crate) fn check_rolled_back(&mut self) {
        for number in 0..self.fleet.devices.len() {
            if self.item(number)["value"]["rolled_back"] != true {
                self.check_device(number);
                continue;
            }
            let mut device = self.fleet.devices[number].device();
            device.pass_time();
            let running = device.running().clone();
            let uncommitted = device.uncommitted();
            drop(device);
            let mut held = self.wishes.iter().map(|wish| wish.held(&running));
            if !held.all(|held| held == Held::Nothing) {
                let lines = running.lines().join("\n    ");
                self.violation(number, &format!("it is not rolled back:\n    {lines}"));
            }
            if self.is_left(number, &uncommitted) {
                self.violation(number, &format!("changes are left: {uncommitted:?}"));
            }
        }
    }

    /// Returns whether changes of a run wait for somebody's commit, and nobody was told. They can if the device does not
    /// answer: a session of EOS outlives its connection.
    fn is_left(&self, number: usize, uncommitted: &[String]) -> bool {
        let ours = uncommitted.iter().any(|line| !line.contains("anna"));
        let said = self.item(number).to_string();
        let target = name(number);
        let messages = self.report.messages.lines();
        let mut messages = messages
            .filter(|line| line.contains(&target))
            .chain([&*said]);
        let is_told = messages.any(|text| {
            text.contains("may still hold") || DOUBT.iter().any(|word| text.contains(word))
        });
        ours && !is_told
    }

    /// Checks that another run, without trouble, does everything, and one more does nothing.
    pub(crate) fn check_recovery(&mut self) {
        for device in &self.fleet.devices {
            device.device().heal();
        }
        let second = self.fleet.run("");
        for number in 0..self.fleet.devices.len() {
            let mut device = self.fleet.devices[number].device();
            device.pass_time();
            let running = device.running().clone();
            let is_blocked = device.vendor() == Vendor::Junos && !device.uncommitted().is_empty();
            drop(device);
            // What someone else has not committed is in the way.
            let is_foreign = self.has(number, |fault| fault == Fault::ForeignEdit);
            let may_fail = is_foreign || is_blocked;
            let done = self
                .wishes
                .iter()
                .all(|wish| wish.held(&running) == Held::All);
            let item = &second.items[&name(number)];
            let succeeded = item["status"] == "success";
            if done != succeeded || !(done || may_fail) {
                let text = format!("another run: done {done}, success {succeeded}: {item:#}");
                self.violation(number, &text);
            }
            self.fleet.devices[number].device().plan(&[]);
        }
        let third = self.fleet.run("");
        for number in 0..self.fleet.devices.len() {
            let item = &third.items[&name(number)];
            let touched = self.fleet.received(number);
            let touched: Vec<&String> = touched
                .iter()
                .filter(|line| line.contains("configure"))
                .collect();
            if second.items[&name(number)]["status"] == "success" && !touched.is_empty() {
                let text = format!("a run with nothing to do types {touched:?}: {item:#}");
                self.violation(number, &text);
            }
        }
    }

    /// Fails with everything that was found.
    pub(crate) fn finish(self) {
        let count = self.violations.len();
        let mut text = String::new();
        for violation in self.violations.iter().take(SHOWN) {
            writeln!(text, "{violation}").expect("a text can be written");
        }
        let of = self.fleet.devices.len();
        assert!(
            count == 0,
            "{count} violations on {of} devices, seed {}:\n{text}",
            seed()
        );
    }

    /// Returns whether a device has a fault of a kind.
    fn has(&self, number: usize, is: impl Fn(Fault) -> bool) -> bool {
        let mut plans = self.fleet.plans[number].iter();
        plans.any(|planned| is(planned.fault))
    }

    fn item(&self, number: usize) -> &'f Value {
        &self.report.items[&name(number)]
    }

    fn said(&self, number: usize, wish: &Wish) -> Said {
        let value = &self.item(number)["value"];
        let all = value.to_string();
        let in_doubt = |text: &str| DOUBT.iter().any(|word| text.contains(word));
        let resources = value["resources"].as_array();
        let mut resources = resources.into_iter().flatten();
        let found = resources.find(|one| one["type"] == *wish.kind && one["title"] == *wish.title);
        let Some(found) = found else {
            return if in_doubt(&all) {
                Said::InDoubt
            } else {
                Said::Failed
            };
        };
        let is = |key: &str| found[key] == true;
        match () {
            () if is("failed") && found.to_string().contains(UNREAD) => Said::Unread,
            () if is("failed") && in_doubt(&found.to_string()) => Said::InDoubt,
            () if is("failed") => Said::Failed,
            () if is("skipped") => Said::Skipped,
            () if is("changed") => Said::Changed,
            () => Said::Unchanged,
        }
    }

    fn violation(&mut self, number: usize, text: &str) {
        let plan = &self.fleet.plans[number];
        let value = &self.item(number)["value"];
        let resources = value["resources"].as_array().into_iter().flatten();
        let messages: Vec<String> = resources
            .map(|one| format!("{}: {}", one["ref"], one["messages"]))
            .collect();
        let (messages, error) = (messages.join("\n    "), &value["_error"]["msg"]);
        let received = self.fleet.received(number).join("\n    ");
        let vendor = self.fleet.setup.vendor;
        self.violations.push(format!(
            "=== {vendor:?} {} {plan:?}\n  {text}\n    {received}\n    {messages}\n    {error}",
            name(number)
        ));
    }
}
