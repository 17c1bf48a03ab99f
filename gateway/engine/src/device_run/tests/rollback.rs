//! Failed runs with a rollback.

use async_trait::async_trait;
use devgate_devices::{DeviceRollback, Error, RestorePoint, Result};
use devgate_schemas::{Report, RunStatus};
use devgate_transports::{Context, Mode};

use super::device::{Device, EventLog, end, enforce};
use crate::device_run::Options;

/// Records its calls in the device's log.
struct Way {
    device: Device,
    /// The operation that fails.
    fails: &'static str,
}

impl Way {
    fn asked(&self, what: &str) -> Result<()> {
        self.device.state().log.push(what.to_owned());
        match what == self.fails {
            true => Err(Error::NotRestored("it holds `x`".to_owned())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl DeviceRollback for Way {
    async fn begin(&self, _: &Context<'_>) -> Result<RestorePoint> {
        self.asked("begin").map(|()| RestorePoint::new("here"))
    }

    async fn restore(&self, _: &Context<'_>, _: RestorePoint) -> Result<()> {
        self.asked("restore")
    }

    async fn keep(&self, _: &Context<'_>, _: &RestorePoint) -> Result<()> {
        self.asked("keep")
    }
}

const MANIFEST: &str = "vlan: {a: {}}\nport: {p: {}}\n";

/// Applies the manifest while the device refuses `refused`. Returns its log without reading calls.
fn apply(refused: &[&str], options: &Options, fails: &'static str) -> (Report, Vec<String>) {
    let device = Device::default();
    device
        .state()
        .refused
        .extend(refused.iter().map(|&title| title.to_owned()));
    let way = Way {
        device: device.clone(),
        fails,
    };
    let report = device.run(MANIFEST, options, &EventLog::default(), Some(&way));
    let mut log = device.log();
    log.retain(|line| !line.starts_with("get"));
    (report.expect("it is right"), log)
}

#[test]
fn a_mark_is_taken_before_the_first_change_and_left_behind_when_all_went_well() {
    let (report, log) = apply(&[], &enforce(), "");
    assert_eq!(log, ["begin", "set vlan a", "set port p", "keep"]);
    assert_eq!(
        (report.status, report.rolled_back),
        (RunStatus::Changed, false)
    );
    let noop = Options {
        mode: Mode::Noop,
        ..enforce()
    };
    assert!(
        apply(&[], &noop, "").1.is_empty(),
        "nothing is changed, so nothing is marked"
    );
}

#[test]
fn a_failure_takes_the_device_back_and_nothing_counts_as_changed() {
    let (report, log) = apply(&["p"], &enforce(), "");
    assert_eq!(log, ["begin", "set vlan a", "set port p", "restore"]);
    assert!(report.rolled_back);
    assert_eq!(
        (report.status, report.summary.changed),
        (RunStatus::Failed, 0)
    );
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[a] ok created; rolled back: the device has its state from before the run",
            "Port[p] failed refused",
        ]
    );
}

#[test]
fn without_a_mark_nothing_is_changed() {
    let (report, log) = apply(&[], &enforce(), "begin");
    assert_eq!(log, ["begin", "begin"]);
    let end = end(&report.resources[0]);
    assert!(
        end.contains("nothing was changed, because a rollback would not be possible"),
        "{end}"
    );
}

#[test]
fn a_way_back_that_fails_is_told_and_what_was_changed_stays_told() {
    let (report, _) = apply(&["p"], &enforce(), "restore");
    assert_eq!((report.rolled_back, report.summary.changed), (false, 1));
    let problem = report.problem.expect("it is told");
    assert!(
        problem.starts_with("the rollback has failed, and the state of the device is not known: "),
        "{problem}"
    );
}

#[test]
fn a_device_that_does_not_keep_the_changes_goes_back() {
    let (report, log) = apply(&[], &enforce(), "keep");
    assert_eq!(
        log,
        ["begin", "set vlan a", "set port p", "keep", "restore"]
    );
    assert!(report.rolled_back);
    assert_eq!(
        (report.status, report.summary.changed),
        (RunStatus::Failed, 0)
    );
    let problem = report.problem.expect("it is told");
    assert!(
        problem.starts_with("the device does not keep the changes: "),
        "{problem}"
    );
}

#[test]
fn a_run_that_is_stopped_goes_back_too() {
    let device = Device::default();
    device.state().cancel_source = Some(devgate_core::cancel::CancelSource::default());
    let way = Way {
        device: device.clone(),
        fails: "",
    };
    let report = device.run(MANIFEST, &enforce(), &EventLog::default(), Some(&way));
    let report = report.expect("it is right");
    assert!(report.rolled_back && !report.completed);
    assert_eq!(device.log().last().map(String::as_str), Some("restore"));
}
