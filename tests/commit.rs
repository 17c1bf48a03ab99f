//! Changes on devices with a candidate configuration, through the binary, while the devices fail in every way at every
//! line that they receive: never half a change is in effect, and what the report says of each resource is what the
//! device holds.
//!
//! A run of these tests draws some of all the faults and steps, by a seed that it shows when one fails (`DEVGATE_SEED`
//! sets it). `DEVGATE_FAULTS=all` tries all of them.

#[path = "support/candidate/mod.rs"]
mod candidate;
#[path = "support/client.rs"]
#[expect(dead_code, reason = "its own tests use more of it")]
mod client;
#[path = "commit/devices.rs"]
mod devices;
#[path = "support/torture/dice.rs"]
mod dice;
#[path = "commit/fleet.rs"]
mod fleet;
#[path = "support/folder.rs"]
#[expect(dead_code, reason = "its other tests use more of it")]
mod folder;
#[path = "commit/judge.rs"]
mod judge;
#[path = "commit/random.rs"]
mod random;
#[path = "commit/wishes.rs"]
mod wishes;

use serde_json::json;

use candidate::{Fault, Planned, Vendor};
use fleet::{Fleet, Setup, seed};
use judge::Judge;
use wishes::{Held, foreign, interfaces, refused, wishes};

const VENDORS: [Vendor; 3] = [Vendor::Junos, Vendor::IosXr, Vendor::Eos];

#[test]
fn a_run_without_trouble_commits_each_type_once() {
    for vendor in VENDORS {
        let fleet = Setup::new(vendor, wishes(vendor)).one();
        let report = fleet.apply();
        assert!(report.succeeded, "{report}");
        Judge::new(&fleet, &report).assert_all_done();
        let commits = fleet.received(0).into_iter();
        let commits = commits.filter(|line| line.contains("commit") && !line.contains("show"));
        assert!(commits.count() >= 3, "{:#?}", fleet.received(0));
    }
}

/// Checks a run under every fault, and what another run then does.
fn check_every_fault(setup: &Setup) {
    let fleet = setup.with_every_fault();
    let report = fleet.apply();
    let mut judge = Judge::new(&fleet, &report);
    judge.check_all();
    judge.check_recovery();
    judge.finish();
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_junos() {
    check_every_fault(&Setup::new(Vendor::Junos, interfaces(Vendor::Junos)));
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_ios_xr() {
    check_every_fault(&Setup::new(Vendor::IosXr, interfaces(Vendor::IosXr)));
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_on_eos() {
    check_every_fault(&Setup::new(Vendor::Eos, interfaces(Vendor::Eos)));
}

#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_without_confirmation() {
    for vendor in VENDORS {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.settings = json!({ "confirm_timeout": 0 });
        check_every_fault(&setup);
    }
}

#[test]
fn a_restart_before_the_changes_are_saved_is_told() {
    let mut setup = Setup::new(Vendor::Eos, interfaces(Vendor::Eos));
    setup.settings = json!({ "confirm_timeout": 0 });
    let clean = setup.one();
    clean.apply();
    let received = clean.received(0);
    let saved = received
        .iter()
        .position(|line| line.contains("write memory"));
    // Steps count from 1, so this is the line before.
    let step = saved.expect("it is saved");
    let fault = Fault::RebootConfirmed;
    let fleet = Fleet::start(&setup, [vec![Planned { step, fault }]]);
    let report = fleet.apply();
    assert!(
        !report.succeeded && report.to_string().contains("but not saved"),
        "{report}"
    );
    let mut judge = Judge::new(&fleet, &report);
    judge.check_all();
    judge.finish();
}

/// Without a lock, others may commit first.
#[test]
fn no_fault_leaves_half_a_change_or_a_wrong_report_without_a_lock() {
    let enter = "enter_config: configure exclusive";
    for (vendor, instead) in [
        (Vendor::Junos, "enter_config: configure private"),
        (Vendor::IosXr, "enter_config: configure terminal"),
    ] {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.family = vec![[enter, instead]];
        check_every_fault(&setup);
    }
}

#[test]
fn a_change_that_waits_for_its_confirmation_is_said_to_be_rolled_back() {
    for vendor in VENDORS {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.trouble = Some((committed(vendor), Fault::LoseAfter));
        let fleet = setup.troubled();
        let report = fleet.apply();
        // The run waits for that before it saves anything.
        let is_saved = vendor == Vendor::Eos;
        assert_eq!(fleet.devices[0].device().is_pending(), !is_saved);
        let resources =
            report.items.values().next().expect("a target")["value"]["resources"].clone();
        let resources = resources.as_array().expect("resources");
        for resource in resources {
            let text = resource.to_string();
            assert!(
                text.contains("rolls it back by itself, within "),
                "{report}"
            );
        }
        let mut judge = Judge::new(&fleet, &report);
        judge.check_all();
        judge.finish();
    }
}

#[test]
fn what_waits_for_somebodys_confirmation_is_neither_reported_as_done_nor_confirmed() {
    for vendor in [Vendor::Junos, Vendor::Eos] {
        for options in ["", "--noop"] {
            let mut setup = Setup::new(vendor, vec![]);
            setup.options = options;
            let fleet = setup.one();
            let line = fleet.devices[0].device().foreign_line();
            fleet.wish(&[foreign(vendor, line)]);
            fleet.devices[0].device().try_change();
            let report = fleet.apply();
            let text = report.to_string();
            assert!(!report.succeeded, "{report}");
            assert!(text.contains("waits for its confirmation"), "{report}");
            assert!(fleet.devices[0].device().is_pending(), "{report}");
        }
    }
}

#[test]
fn the_families_of_junos_and_eos_commit_what_is_taken_as_a_whole_and_nothing_else() {
    for (vendor, family, lines, bad) in [
        (
            Vendor::Junos,
            "junos_cli",
            [
                "set interfaces ge-0/0/0 description up",
                "set interfaces ge-0/0/0 mtu 9000",
            ],
            "set interfaces ge-0/0/0 nonsense",
        ),
        (
            Vendor::Eos,
            "arista_eos",
            ["interface Ethernet1", "description up"],
            "nonsense",
        ),
    ] {
        let mut setup = Setup::new(vendor, wishes(vendor));
        setup.settings = json!({ "remote-transport": family });
        let fleet = setup.one();
        let before = fleet.devices[0].device().running().clone();
        let (verified, text) = fleet.ask(&["verify", "-t", "all"]);
        assert!(verified, "{family}: {text}");
        let refused = [
            &["session", "exec", "-t", "t0000", "--config"],
            &lines[..],
            &[bad],
        ]
        .concat();
        let (done, text) = fleet.ask(&refused);
        assert!(
            !done && text.contains("nothing was committed"),
            "{family}: {text}"
        );
        assert_eq!(fleet.devices[0].device().running(), &before, "{text}");
        let changed = [&["session", "exec", "-t", "t0000", "--config"], &lines[..]].concat();
        let (done, text) = fleet.ask(&changed);
        assert!(done, "{family}: {text}");
        let mut device = fleet.devices[0].device();
        let (running, left) = (device.running().lines(), device.uncommitted());
        assert!(
            running.iter().any(|line| line.contains("description up")),
            "{running:#?}"
        );
        assert!(!device.is_pending() && left.is_empty(), "{left:?}");
    }
}

/// Returns the line that commits until it is confirmed.
fn committed(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Eos => "commit timer",
        Vendor::Junos | Vendor::IosXr => "commit confirmed",
    }
}

#[test]
fn what_someone_else_has_not_committed_stays_as_it_is() {
    for (enter, expected) in [
        ("configure exclusive", "configuration database modified"),
        (
            "configure private",
            "shared configuration database modified",
        ),
        ("configure", "description anna"),
    ] {
        let mut setup = Setup::new(Vendor::Junos, interfaces(Vendor::Junos));
        setup.family = vec![["configure exclusive", enter]];
        let fleet = setup.one();
        fleet.devices[0].device().edit();
        let before = fleet.devices[0].device().uncommitted();
        let report = fleet.apply();
        assert!(
            !report.succeeded && report.to_string().contains(expected),
            "{report}"
        );
        let mut device = fleet.devices[0].device();
        assert_eq!(device.uncommitted(), before, "{report}");
        let running = device.running().clone();
        assert!(
            setup
                .wishes
                .iter()
                .all(|wish| wish.held(&running) == Held::Nothing)
        );
    }
}

/// A trouble may have another one behind it, while devgate cleans up.
fn check_every_fault_after_another(vendor: Vendor) {
    let committed = committed(vendor);
    for trouble in [
        ("mtu", Fault::Refuse),
        (committed, Fault::FailCommit),
        (committed, Fault::RefuseLogins),
        (committed, Fault::HangAfter),
    ] {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.trouble = Some(trouble);
        setup.most = 4;
        check_every_fault(&setup);
    }
}

#[test]
fn no_fault_after_another_one_leaves_half_a_change_on_junos() {
    check_every_fault_after_another(Vendor::Junos);
}

#[test]
fn no_fault_after_another_one_leaves_half_a_change_on_ios_xr() {
    check_every_fault_after_another(Vendor::IosXr);
}

#[test]
fn no_fault_after_another_one_leaves_half_a_change_on_eos() {
    check_every_fault_after_another(Vendor::Eos);
}

/// An MTU that a device refuses at once, and one that it refuses when it is committed; and what it says.
const REFUSED: [(u32, &str); 2] = [
    (70000, ""),
    (9199, "the MTU exceeds what the hardware supports"),
];

#[test]
fn only_the_refused_change_fails_and_the_devices_reason_is_told() {
    for vendor in VENDORS {
        for (mtu, reason) in REFUSED {
            let fleet = Setup::new(vendor, refused(vendor, mtu)).one();
            let report = fleet.apply();
            assert!(!report.succeeded, "{report}");
            assert!(report.to_string().contains(reason), "{report}");
            let mut judge = Judge::new(&fleet, &report);
            judge.check_all();
            judge.finish();
            let running = fleet.devices[0].device().running().clone();
            let held: Vec<Held> = fleet
                .setup
                .wishes
                .iter()
                .map(|wish| wish.held(&running))
                .collect();
            let expected = [Held::All, Held::Nothing, Held::All, Held::All];
            assert_eq!(held, expected, "{vendor:?} {mtu}: {report}");
            let uncommitted = fleet.devices[0].device().uncommitted();
            assert!(uncommitted.is_empty(), "{uncommitted:?}");
        }
    }
}

#[test]
fn noop_shows_the_devices_own_difference_and_leaves_nothing_under_any_fault() {
    for vendor in VENDORS {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.options = "--noop";
        let fleet = setup.one();
        let report = fleet.apply();
        let line = match vendor {
            Vendor::Junos => "+   mtu 9000;",
            Vendor::IosXr => "+   mtu 9000",
            Vendor::Eos => "+     mtu 9000",
        };
        let diff = &report.items["t0000"]["value"]["device_diff"];
        assert!(diff.to_string().contains(line), "{report}");
        let fleet = setup.with_every_fault();
        let report = fleet.apply();
        let mut judge = Judge::new(&fleet, &report);
        judge.check_nothing_done();
        judge.finish();
    }
}

#[test]
fn a_rollback_restores_everything_or_says_that_it_did_not() {
    for vendor in VENDORS {
        for (mtu, _) in REFUSED {
            let mut setup = Setup::new(vendor, refused(vendor, mtu));
            setup.options = "--rollback on-error";
            let fleet = setup.one();
            let report = fleet.apply();
            let rolled_back = &report.items["t0000"]["value"]["rolled_back"];
            assert_eq!(rolled_back, true, "{vendor:?} {mtu}: {report}");
            let mut judge = Judge::new(&fleet, &report);
            judge.check_rolled_back();
            judge.finish();
        }
        let mut setup = Setup::new(vendor, refused(vendor, REFUSED[0].0));
        setup.options = "--rollback on-error";
        setup.most = 8;
        let fleet = setup.with_every_fault();
        let report = fleet.apply();
        let mut judge = Judge::new(&fleet, &report);
        judge.check_rolled_back();
        judge.finish();
    }
}

#[test]
fn random_states_are_written_and_read_back() {
    for vendor in VENDORS {
        random::check(vendor, seed());
    }
}

#[test]
fn an_interrupted_run_says_what_the_devices_hold() {
    for vendor in VENDORS {
        let mut setup = Setup::new(vendor, interfaces(vendor));
        setup.settings = json!({ "idle_timeout": 60 });
        let fleet = setup.hanging();
        let report = fleet.interrupt();
        let mut judge = Judge::new(&fleet, &report);
        judge.check_all();
        judge.check_recovery();
        judge.finish();
    }
}
