//! Changes on devices with a candidate configuration, through the binary, while the devices fail in every way at every
//! line that they receive: never half a change is in effect, and what the report says of each resource is what the
//! device holds.

#[path = "support/candidate/mod.rs"]
mod candidate;
#[path = "commit/fleet.rs"]
mod fleet;
#[path = "support/folder.rs"]
#[expect(dead_code, reason = "its other tests use more of it")]
mod folder;
#[path = "commit/judge.rs"]
mod judge;
#[path = "commit/wishes.rs"]
mod wishes;

use candidate::{Fault, Planned, Vendor};
use fleet::Fleet;
use judge::Judge;
use wishes::{interfaces, wishes};

const VENDORS: [Vendor; 3] = [Vendor::Junos, Vendor::IosXr, Vendor::Eos];

/// Returns every fault at every step of a run that is `length` lines long.
fn plans(length: usize) -> impl Iterator<Item = Planned> {
    let steps = 1..=length;
    steps.flat_map(|step| Fault::ALL.map(|fault| Planned { step, fault }))
}

#[test]
fn a_run_without_trouble_commits_each_type_once() {
    for vendor in VENDORS {
        let wishes = wishes(vendor);
        let fleet = Fleet::start(vendor, &wishes, [None]);
        let report = fleet.apply("");
        assert!(report.succeeded, "{report}");
        let judge = Judge::new(&fleet, &report, &wishes);
        judge.assert_all_done();
        let commits = fleet.received(0).into_iter();
        let commits = commits.filter(|line| line.contains("commit") && !line.contains("show"));
        assert!(commits.count() >= 3, "{:#?}", fleet.received(0));
    }
}

fn every_fault(vendor: Vendor, options: &str) {
    let wishes = interfaces(vendor);
    let fleet = Fleet::start(vendor, &wishes, [None]);
    fleet.apply(options);
    let length = fleet.received(0).len();
    let fleet = Fleet::start(vendor, &wishes, plans(length).map(Some));
    let report = fleet.apply(options);
    let mut judge = Judge::new(&fleet, &report, &wishes);
    judge.check_all();
    judge.check_recovery();
    judge.finish();
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_junos() {
    every_fault(Vendor::Junos, "");
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_ios_xr() {
    every_fault(Vendor::IosXr, "");
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_eos() {
    every_fault(Vendor::Eos, "");
}
