//! The messages of runs.

use devgate_schemas::{EventStatus, Level, RunStatus};
use serde_json::json;

use super::device::{Device, EventLog, end, enforce};
use crate::device_run::{Options, Strict};

#[test]
fn what_the_device_took_but_does_not_hold_has_failed() {
    let device = Device::holding("vlan: {a: {speed: 1}}");
    device
        .state()
        .ignored
        .extend(["a".to_owned(), "b".to_owned()]);
    assert_eq!(
        device.apply("vlan: {a: {speed: 2}, b: {}}"),
        [
            "Vlan[a] failed the device accepted it without an error, but does not have it: speed is 1, should be 2",
            "Vlan[b] failed the device accepted it without an error, but does not have it: it is absent, should be present",
        ]
    );
}

#[test]
fn a_change_is_logged_only_if_the_device_then_holds_it() {
    let (device, events) = (
        Device::holding("vlan: {a: {speed: 1}}"),
        EventLog::default(),
    );
    device.state().forgotten.push("a".to_owned());
    let manifest = "vlan: {a: {speed: 2}, b: {}}";
    let report = device
        .apply_with_sink(manifest, &enforce(), &events)
        .expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[a] failed the device accepted it without an error, but does not have it: speed is 1, should be 2",
            "Vlan[b] changed created",
        ]
    );
    let notices = events.at(Level::Notice);
    let updated: Vec<&String> = notices
        .iter()
        .filter(|line| line.contains("Updated"))
        .collect();
    assert_eq!(updated, ["vlan: Updated: b"], "{notices:?}");
}

#[test]
fn where_a_provider_cannot_go_on_only_what_it_has_not_settled_has_failed() {
    let device = Device::default();
    device.state().lost_at = Some("b".to_owned());
    assert_eq!(
        device.apply("vlan: {a: {}, b: {}, c: {}}"),
        [
            "Vlan[a] changed created",
            "Vlan[b] failed the session is lost",
            "Vlan[c] failed the session is lost",
        ]
    );
}

#[test]
fn a_provider_that_speaks_of_what_it_was_not_asked_about_makes_the_run_fail() {
    let device = Device::default();
    device.state().gossips = true;
    let report = device
        .try_apply("vlan: {a: {}}", &enforce())
        .expect("it is right");
    assert_eq!(end(&report.resources[0]), "Vlan[a] changed created");
    let problem = "vlan: Managing resource outside of requested set: another";
    assert_eq!(
        (report.status, report.problem.as_deref()),
        (RunStatus::Failed, Some(problem))
    );
}

#[test]
fn a_row_that_does_not_keep_to_its_type_fails_its_own_resource_alone() {
    let held = "vlan: {a: {speed: fast}, b: {}}";
    let manifest = "vlan: {a: {speed: 2}, b: {}}";
    let ends = Device::holding(held).apply(manifest);
    assert!(
        ends[0].starts_with("Vlan[a] failed Provider returned data that does not match"),
        "{ends:?}"
    );
    assert_eq!(ends[1], "Vlan[b] ok");
    let (device, events) = (Device::holding(held), EventLog::default());
    let options = Options {
        strict: Strict::Warning,
        ..enforce()
    };
    let report = device
        .apply_with_sink(manifest, &options, &events)
        .expect("it is right");
    assert_eq!(
        end(&report.resources[0]),
        "Vlan[a] changed speed changed 'fast' to 2"
    );
    let warnings = events.at(Level::Warning);
    assert!(
        warnings[0].contains("does not match the Type Schema for `vlan[a]`"),
        "{warnings:?}"
    );
}

#[test]
fn a_name_that_a_device_holds_twice_is_refused_and_nothing_of_it_is_changed() {
    let device = Device::holding("vlan: {a: {speed: 1}, b: {speed: 1}}");
    device.hold("vlan: {a: {speed: 2}}");
    let ends = device.apply("vlan: {a: {speed: 1}, b: {speed: 2}}");
    let told = "the device has 2 resources named vlan[a], which its type cannot distinguish";
    assert!(
        ends[0].starts_with(&format!("Vlan[a] failed {told}")),
        "{ends:?}"
    );
    assert_eq!(ends[1], "Vlan[b] changed speed changed 1 to 2");
    // However strict the run is.
    let options = Options {
        strict: Strict::Off,
        ..enforce()
    };
    let manifest = "vlan: {a: {ensure: absent}}\nresources: {vlan: {purge: true}}";
    let report = device.try_apply(manifest, &options).expect("it is right");
    for resource in &report.resources {
        assert!(end(resource).contains(told), "{resource:?}");
    }
    assert_eq!(report.summary.changed, 0, "{report:?}");
}

#[test]
fn rows_that_are_not_in_their_one_form_are_told_with_both_forms() {
    let (device, events) = (
        Device::holding("vlan: {B: {speed: 1}}"),
        EventLog::default(),
    );
    let ends = device.apply("vlan: {b: {}}");
    let told = "#get has not provided canonicalized values.\n\
                Returned values:       {:speed=>1, :name=>\"B\"}\n\
                Canonicalized values:  {:speed=>1, :name=>\"b\"}";
    assert_eq!(ends, [format!("Vlan[b] failed vlan[B]{told}")]);
    let options = Options {
        strict: Strict::Warning,
        ..enforce()
    };
    let report = device
        .apply_with_sink("vlan: {b: {}}", &options, &events)
        .expect("it is right");
    assert_eq!(end(&report.resources[0]), "Vlan[b] ok");
    assert_eq!(events.at(Level::Warning), [format!("vlan: vlan[B]{told}")]);
}

#[test]
fn an_attribute_that_is_set_once_only_is_not_changed() {
    let device = Device::holding("vlan: {a: {size: 1}}");
    assert_eq!(
        device.apply("vlan: {a: {size: 2}}"),
        ["Vlan[a] failed Attempting to change `size` init_only attribute value from `1` to `2`"]
    );
}

#[test]
fn a_report_says_where_a_resource_stands_and_what_became_of_it() {
    let device = Device::holding("vlan: {a: {speed: 1, key: a-canary}}");
    let manifest = "vlan:\n  a: {speed: 2, key: b-canary, tag: edge}\n";
    let report = device.try_apply(manifest, &enforce()).expect("it is right");
    assert_eq!(
        (report.status, report.completed),
        (RunStatus::Changed, true)
    );
    let [vlan] = report.resources.as_slice() else {
        panic!("{report:?}")
    };
    assert_eq!(
        (vlan.file.as_deref(), vlan.line),
        (Some("site.yaml"), Some(2))
    );
    assert_eq!(vlan.tags, ["a", "class", "edge", "main", "stage", "vlan"]);
    assert_eq!(vlan.path, ["Stage[main]", "Main", "Vlan[a]"]);
    assert_eq!(vlan.events[0].status, EventStatus::Success);
    let shown = serde_json::to_value(&report).expect("it is JSON");
    let events = shown["resources"][0]["events"].as_array().expect("a list");
    let brief: Vec<_> = events
        .iter()
        .map(|event| {
            json!([
                event["property"],
                event["previous"],
                event["desired"],
                event["message"]
            ])
        })
        .collect();
    let secret = "Sensitive [value redacted]";
    assert_eq!(
        brief,
        [
            json!(["speed", 1, 2, "speed changed 1 to 2"]),
            json!([
                "key",
                secret,
                secret,
                "key changed [redacted] to [redacted]"
            ]),
        ]
    );
    assert_eq!(
        vlan.diff,
        [
            "- speed: 1",
            "+ speed: 2",
            "- key: [redacted]",
            "+ key: [redacted]"
        ]
    );
    assert!(!shown.to_string().contains("canary"), "{shown}");
}

#[test]
fn changes_are_told_at_the_level_that_a_resource_asks_for() {
    let (device, events) = (Device::default(), EventLog::default());
    let manifest = "vlan: {a: {loglevel: warning}, b: {}}";
    device
        .apply_with_sink(manifest, &enforce(), &events)
        .expect("it is right");
    assert_eq!(events.at(Level::Warning), ["Vlan[a]: created"]);
    assert_eq!(events.at(Level::Info), ["Vlan[b]: created"]);
}

#[test]
fn who_subscribes_learns_of_changes_and_of_nothing_else() {
    let device = Device::holding("vlan: {b: {}}");
    let manifest = "vlan: {a: {notify: 'Port[p]'}, b: {}}\nport: {p: {subscribe: ['Vlan[b]']}}\n";
    let report = device.try_apply(manifest, &enforce()).expect("it is right");
    let port = report.resources.iter().find(|one| one.type_name == "port");
    assert_eq!(port.expect("a port").notified_by, ["Vlan[a]"]);
}

#[test]
fn what_is_audited_is_told_when_it_is_otherwise_than_last_time_whoever_has_changed_it() {
    let device = Device::holding("vlan: {a: {speed: 1, key: a-canary}, b: {speed: 1}}");
    let manifest = "vlan: {a: {audit: speed}, b: {audit: all, speed: 2}}";
    assert_eq!(
        device.apply(manifest),
        [
            "Vlan[a] ok speed: audit change: newly-recorded value 1",
            "Vlan[b] changed speed changed 1 to 2; ensure: audit change: newly-recorded value 'present'; \
             speed: audit change: newly-recorded value 1; size: audit change: newly-recorded value undef",
        ]
    );
    assert!(!device.state().audited.to_string().contains("canary"));
    assert_eq!(device.apply(manifest), ["Vlan[a] ok", "Vlan[b] ok"]);
    device.state().rows.clear();
    device.hold("vlan: {a: {speed: 5}, b: {speed: 2}}");
    let told = "speed: audit change: previously recorded value 1 has been changed to 5";
    assert_eq!(
        device.apply(manifest),
        [&format!("Vlan[a] ok {told}"), "Vlan[b] ok"]
    );
    let problems = device.try_apply("vlan: {a: {audit: [key]}}", &enforce());
    let problems = problems.expect_err("it is a secret").to_string();
    assert!(
        problems.contains("`audit` names `key`, which is a secret"),
        "{problems}"
    );
}
