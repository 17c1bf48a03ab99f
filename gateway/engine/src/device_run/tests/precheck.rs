//! The checks before a device is changed, and the effect of a problem on the other resources.

use super::device::{Device, end, enforce};
use crate::device_run::Options;

const SKIPPED: &str =
    "Skipping because the manifest does not fit this device, so nothing is changed: see Vlan[a]";

/// Returns the changes that the device was asked for.
fn changes(device: &Device) -> Vec<String> {
    let log = device.log().into_iter();
    log.filter(|line| line.starts_with("set")).collect()
}

#[test]
fn what_a_device_cannot_be_given_is_found_before_anything_is_changed_on_it() {
    let device = Device::holding("vlan: {a: {size: 1}, b: {speed: 1}}\nport: {q: {}}");
    assert_eq!(
        device.apply("port: {p: {}, q: {}}\nvlan: {a: {size: 2}, b: {speed: 2}}\nknob: {k: {turn: 1, noop: true}}\n"),
        [
            &format!("Port[p] skipped {SKIPPED}"),
            &format!("Vlan[b] skipped {SKIPPED}"),
            "Port[q] ok",
            "Vlan[a] failed Attempting to change `size` init_only attribute value from `1` to `2`",
            "Knob[k] noop turn: current_value undef, should be 1 (noop)",
        ]
    );
    assert_eq!(changes(&device), [""; 0]);
}

#[test]
fn what_comes_behind_a_change_is_judged_after_that() {
    let device = Device::holding("vlan: {a: {size: 1}}");
    assert_eq!(
        device.apply("vlan: {a: {size: 2, require: 'Port[p]'}}\nport: {p: {}}\n"),
        [
            "Port[p] changed created",
            "Vlan[a] failed Attempting to change `size` init_only attribute value from `1` to `2`",
        ]
    );
    assert_eq!(changes(&device), ["set port p"]);
}

#[test]
fn a_type_that_cannot_be_read_keeps_no_other_from_being_changed() {
    let device = Device::default();
    device.state().unreadable.push("port".to_owned());
    assert_eq!(
        device.apply("vlan: {a: {}}\nport: {p: {}}\n"),
        ["Vlan[a] changed created", "Port[p] failed it is not shown"]
    );
}

#[test]
fn what_is_left_out_by_tags_is_not_judged() {
    let device = Device::holding("vlan: {a: {size: 1}}");
    let options = Options {
        tags: vec!["port".to_owned()],
        ..enforce()
    };
    let report = device.try_apply("vlan: {a: {size: 2}}\nport: {p: {}}\n", &options);
    let report = report.expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert!(
        ends.contains(&"Port[p] changed created".to_owned()),
        "{ends:?}"
    );
}
