//! Wrong input and unreachable targets: a clear error and status 1 in bounded time, and nothing is sent.

use std::fs;

use serde_json::{Value, json};

use crate::support::lab::Device;
use crate::support::project::Project;

#[test]
fn a_value_with_a_newline_is_refused_and_nothing_is_sent() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let description = json!({ "description": "uplink\nshutdown" });
    let manifest = project.manifest(json!({ "frr_interface": { "swp1": description } }));
    let before = device.vtysh("show running-config");
    project
        .devgate(&format!("device --target router --apply {manifest}"))
        .failed()
        .shows(&["description"]);
    assert_eq!(device.vtysh("show running-config"), before);
}

#[test]
fn wrong_attributes_are_refused_by_name_and_nothing_is_sent() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let title = "10.43.0.0/16 via 10.0.0.9";
    for (attributes, named) in [
        (json!({ "distanse": 20 }), "distanse"),
        (json!({ "distance": "far" }), "distance"),
    ] {
        let manifest = project.manifest(json!({ "frr_static_route": { title: attributes } }));
        project
            .devgate(&format!("device --target router --apply {manifest}"))
            .failed()
            .shows(&[named]);
    }
    let manifest = project.manifest(json!({ "frr_statik_route": { title: {} } }));
    project
        .devgate(&format!("device --target router --apply {manifest}"))
        .failed()
        .shows(&["frr_statik_route"]);
    assert!(!device.vtysh("show running-config").contains("10.43.0.0"));
}

#[test]
fn a_wrong_password_is_reported_at_once_and_not_tried_again() {
    let device = Device::lease();
    let attempts = |least| device.logged("Failed password for admin", least);
    let before = attempts(0);
    let error = verify_fails(&device, json!({ "password": "a-wrong-canary-pass" }));
    assert!(message(&error).contains("admin"), "{error:#}");
    assert_eq!(attempts(before + 1), before + 1);
}

#[test]
fn an_unknown_host_key_is_refused() {
    let device = Device::lease();
    let mut project = Project::new();
    let empty = project.write("known_hosts", "");
    project.add("router", &device, json!({ "known_hosts_file": empty }));
    project.devgate("verify -t router").failed().shows(&[
        "host key",
        "is not known",
        "trust_on_first_use",
    ]);
}

#[test]
fn a_changed_host_key_is_refused() {
    let device = Device::lease();
    let mut project = Project::new();
    // Simulates that another device answers here. Each device has several servers with one key.
    let hosts = fs::read_to_string(device.known_hosts()).expect("the lab has known hosts");
    let lines: Vec<(&str, &str)> = hosts
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let own = format!("[127.0.0.1]:{}", device.port("port"));
    let found = lines.iter().find(|(host, _)| *host == own);
    let own_key = found.expect("the device is known").1;
    let is_other = |key: &&str| *key != own_key && key.contains("ed25519");
    let mut keys = lines.iter().map(|(_, key)| *key);
    let other = keys.find(is_other).expect("another device");
    let known_hosts = project.write("known_hosts", &format!("{own} {other}\n"));
    project.add(
        "router",
        &device,
        json!({ "known_hosts_file": known_hosts }),
    );
    project
        .devgate("verify -t router")
        .failed()
        .shows(&["host key", "has changed"]);
}

#[test]
fn a_closed_port_is_reported_after_patience() {
    let device = Device::lease();
    device.fault("refuse");
    let error = verify_fails(&device, json!({}));
    assert!(message(&error).contains("refused"), "{error:#}");
}

#[test]
fn an_address_that_does_not_answer_is_reported_after_patience() {
    let device = Device::lease();
    device.fault("drop");
    let error = verify_fails(&device, json!({ "timeout": 3 }));
    assert!(message(&error).contains("did not answer"), "{error:#}");
}

#[test]
fn an_address_without_a_route_is_reported_after_patience() {
    let device = Device::lease();
    device.fault("unreach");
    verify_fails(&device, json!({}));
}

/// Verifies an unreachable router, and checks the error in both formats.
fn verify_fails(device: &Device, settings: Value) -> Value {
    let project = Project::with_settings(device, settings);
    let item = project
        .devgate("verify -t router --format json")
        .failed()
        .item();
    assert_eq!(
        [&item["target"], &item["status"]],
        [&json!("router"), &json!("failure")],
        "{item:#}"
    );
    assert!(item["value"]["_error"]["kind"].is_string(), "{item:#}");
    item["value"]["_error"].clone()
}

fn message(error: &Value) -> &str {
    error["msg"].as_str().expect("an error has a message")
}
