//! Leases of devices: no test sees what another test left behind.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::support::lab::Device;
use crate::support::project::Project;

/// Returns what a test can see of a device.
fn seen(device: &Device) -> [String; 3] {
    [
        device.vtysh("show running-config"),
        device.vtysh("show interface brief"),
        device.vtysh("show startup-config"),
    ]
}

#[test]
fn a_leased_device_is_as_new_whatever_the_test_before_has_left() {
    let device = Device::lease();
    let (name, new) = (device.name().to_owned(), seen(&device));
    let lines = [
        "configure terminal",
        "interface swp2",
        "description left",
        "ip address 192.0.2.1/24",
        "no shutdown",
        "exit",
        "ip route 10.66.0.0/16 192.0.2.9",
        "end",
        "write memory",
    ];
    device.vtysh(&lines.join("\n"));
    assert_ne!(seen(&device), new);
    device.fault("refuse");
    drop(device);

    let device = Device::lease_named(&name);
    assert_eq!(seen(&device), new);
    Project::with(&device)
        .devgate("verify -t router")
        .succeeded();
}

#[test]
fn what_a_failed_test_has_left_running_is_ended_before_the_device_is_leased_again() {
    let process = |device: &Device| fs::read(device.path("process")).expect("it runs");
    let device = Device::lease();
    let (name, before) = (device.name().to_owned(), process(&device));
    let failed = catch_unwind(AssertUnwindSafe(move || {
        let _device = device;
        resume_unwind(Box::new("the test fails"));
    }));
    assert!(failed.is_err());

    let device = Device::lease_named(&name);
    assert_ne!(process(&device), before);
    drop(device);
    let device = Device::lease_named(&name);
    let again = process(&device);
    drop(device);
    assert_eq!(process(&Device::lease_named(&name)), again);
}
