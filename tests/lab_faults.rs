//! Routers that fall silent or disappear for a while: devgate waits within limits, logs notices, and
//! reports when the limit is reached.

use std::time::Duration;

use serde_json::json;

use crate::support::lab::{Device, pause};
use crate::support::line::slow_line;
use crate::support::project::Project;
use crate::support::run::Running;

#[test]
fn a_line_that_takes_its_time_is_no_trouble() {
    let device = Device::lease();
    let project = behind_slow_line(&device, json!({}));
    for _ in 0..3 {
        project
            .devgate("facts -t router --log-level debug")
            .succeeded()
            .shows(&[device.name()]);
    }
}

#[test]
fn a_router_that_freezes_for_ten_seconds_only_delays_its_facts() {
    let device = Device::lease();
    let project = behind_slow_line(&device, json!({}));
    let mut running = project.start("facts -t router --format json --log-level debug");
    freeze_in_session(&device, &mut running);
    pause(Duration::from_secs(10));
    device.fault("thaw");
    let run = running.finish().succeeded().shows(&["nothing from"]);
    assert_eq!(
        run.item().pointer("/value/networking/hostname"),
        Some(&json!(device.name()))
    );
}

#[test]
fn a_router_that_stays_frozen_is_reported_with_its_output() {
    let device = Device::lease();
    let project = behind_slow_line(&device, json!({ "idle_timeout": 6 }));
    let mut running = project.start("facts -t router --format json --log-level debug");
    freeze_in_session(&device, &mut running);
    let item = running.finish().failed().shows(&["idle_timeout"]).item();
    let message = item["value"]["_error"]["msg"]
        .as_str()
        .expect("an error has a message");
    assert!(
        message.contains("output"),
        "it should say how much of the answer came: {message}"
    );
}

#[test]
fn an_ssh_server_that_restarts_is_waited_for() {
    let device = Device::lease();
    let project = Project::with(&device);
    device.fault("refuse");
    let mut running = project.start("verify -t router");
    running.wait_for("try 2 follows");
    pause(Duration::from_secs(10));
    device.fault("accept");
    running.finish().succeeded().shows(&["router"]);
}

#[test]
fn a_router_that_is_frozen_at_connect_is_waited_for() {
    let device = Device::lease();
    let project = Project::with_settings(&device, json!({ "timeout": 5 }));
    device.fault("freeze");
    let mut running = project.start("verify -t router");
    running.wait_for("did not answer");
    device.fault("thaw");
    running.finish().succeeded();
}

/// Creates a project whose router is behind a slow line, so that the test can act in the middle of a run.
fn behind_slow_line(device: &Device, mut settings: serde_json::Value) -> Project {
    let port = slow_line(device.port("port"), Duration::from_millis(300));
    let mut project = Project::new();
    let hosts = std::fs::read_to_string(device.known_hosts()).expect("the lab has known hosts");
    let own = format!("[127.0.0.1]:{} ", device.port("port"));
    let key = hosts
        .lines()
        .find_map(|line| line.strip_prefix(&own))
        .expect("the device has a key");
    let known_hosts = project.write("known_hosts", &format!("[127.0.0.1]:{} {key}\n", port));
    settings["port"] = json!(port);
    settings["known_hosts_file"] = json!(known_hosts);
    project.add("router", device, settings);
    project
}

/// Freezes the router while the session's first command is on its way.
fn freeze_in_session(device: &Device, running: &mut Running) {
    running.wait_for("is open");
    device.fault("freeze");
}
