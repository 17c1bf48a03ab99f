//! Devices of a `device.conf` with HOCON credentials, in addition to the inventory, on real routers: the
//! setup of cron jobs and systemd units for `puppet device`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::lab::Device;
use crate::support::project::Project;

/// Creates a project without targets, whose `device.conf` lists these devices as sw1, sw2, …
fn project(devices: &[&Device]) -> (Project, String) {
    let mut project = Project::new();
    let mut conf = String::from("# the routers of the lab\n");
    for (number, device) in (1..).zip(devices) {
        // As Puppet modules write credentials: in JSON, or with human-friendly names.
        let port = device.port("port");
        let (known_hosts, password) = (device.known_hosts(), device.password());
        let text = if number % 2 == 1 {
            format!(
                "{{\n  \"address\": \"127.0.0.1\",\n  \"port\": {port},\n  \"username\": \"admin\",\n  \
                 \"password\": \"{password}\",\n  \"known_hosts_file\": \"{known_hosts}\"\n}}\n"
            )
        } else {
            format!(
                "# by hand\nhostname = 127.0.0.1 // the lab's\nport = {port}, user = admin\n\
                 password = \"{password}\"\nknown_hosts_file = \"\"\"{known_hosts}\"\"\"\n\
                 idle_timeout = 5, timeout = 5\n"
            )
        };
        let path = project.write(&format!("credentials/sw{number}.conf"), &text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let path = path.display();
        conf.push_str(&format!(
            "\n[sw{number}]\n  type frr\n  url file://{path}\n"
        ));
    }
    let conf = project.write("device.conf", &conf).display().to_string();
    (project, conf)
}

fn items(document: &Value) -> Vec<(&str, &str)> {
    let items = document["items"].as_array().expect("items is a list");
    let mut output: Vec<(&str, &str)> = items
        .iter()
        .filter_map(|item| Some((item["target"].as_str()?, item["status"].as_str()?)))
        .collect();
    output.sort_unstable();
    output
}

#[test]
fn devices_of_a_device_conf_are_targets_of_every_command() {
    let (first, second) = (Device::lease(), Device::lease());
    let (mut project, conf) = project(&[&first, &second]);
    project.add("sw2", &second, serde_json::json!({}));
    let deviceconfig = format!("--deviceconfig {conf}");
    project
        .devgate(&format!("verify -t sw* {deviceconfig}"))
        .succeeded()
        .shows(&[
            "Successful on 2 targets",
            "the entry of the inventory is used",
        ]);
    let facts = project
        .devgate(&format!("facts -t sw1 {deviceconfig} --format json"))
        .succeeded();
    assert_eq!(
        facts.item()["value"]["networking"]["hostname"],
        first.name()
    );
    project
        .devgate(&format!("device -t sw1 {deviceconfig} -r frr_interface -v"))
        .succeeded()
        .shows(&[
            "frr_interface { 'swp1':",
            "retrieving resource: frr_interface from sw1 at frr://127.0.0.1:",
        ]);
    let quiet = project
        .devgate(&format!(
            "device -t sw1 {deviceconfig} -r frr_interface -d -l run.log,run.jsonl"
        ))
        .succeeded();
    assert_eq!(quiet.stderr, "", "{quiet}");
    for file in ["run.log", "run.jsonl"] {
        let log = fs::read_to_string(project.path().join(file)).expect("it is written");
        assert!(
            log.contains("retrieving resource: frr_interface from sw1"),
            "{log}"
        );
        assert!(!log.contains("canary"), "{log}");
    }
    project
        .devgate(&format!("device -t sw9 {deviceconfig} -f"))
        .failed()
        .shows(&[&format!(
            "Target device / certificate 'sw9' not found in {conf}"
        )]);
}

#[test]
fn without_a_target_all_devices_are_run_at_once_and_one_that_is_frozen_holds_up_no_other() {
    let devices = [Device::lease(), Device::lease(), Device::lease()];
    let (mut project, conf) = project(&devices.each_ref());
    let manifest = "frr_static_route { '10.71.0.0/16 via Null0': distance => 5 }\n";
    let manifest = project.write("all.pp", manifest).display().to_string();
    let all = |more: &str| {
        format!("device --deviceconfig {conf} --apply {manifest} --detailed-exitcodes {more}")
    };
    devices[1].fault("freeze");
    let run = project.devgate(&all("--format jsonl"));
    assert_eq!(run.code(), Some(1 + 2), "{run}");
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a result"))
        .collect();
    let targets: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["target"].as_str())
        .collect();
    assert_eq!(targets.len(), 3, "{run}");
    assert_eq!(targets[2], "sw2", "the others were held up: {run}");
    assert!(lines[2]["value"]["_error"]["msg"].is_string(), "{run}");
    devices[1].fault("thaw");

    let again = project.devgate(&all("--format json"));
    assert_eq!(again.code(), Some(2), "{again}");
    let document = again.json();
    let statuses = items(&document);
    assert_eq!(
        statuses,
        ["sw1", "sw2", "sw3"].map(|name| (name, "success"))
    );
    let third = project.devgate(&all("--splay 2"));
    assert_eq!(third.code(), Some(0), "{third}");
    for device in &devices {
        let config = device.vtysh("show running-config");
        assert!(config.contains("ip route 10.71.0.0/16 Null0 5"), "{config}");
    }
    let absent = "frr_static_route { '10.71.0.0/16 via Null0': ensure => absent }\n";
    let absent = project.write("none.pp", absent).display().to_string();
    project
        .devgate(&format!("device --deviceconfig {conf} --apply {absent}"))
        .succeeded();
}

#[test]
fn two_runs_never_change_one_device_at_once() {
    let device = Device::lease();
    let (mut project, conf) = project(&[&device]);
    let manifest = "frr_static_route { '10.72.0.0/16 via Null0': }\n";
    let manifest = project.write("one.pp", manifest).display().to_string();
    let apply = format!("device --deviceconfig {conf} --apply {manifest}");
    device.fault("refuse");
    let mut first = project.start(&apply);
    first.wait_for("sw1: ");
    project
        .devgate(&format!("{apply} --busy refuse"))
        .failed()
        .shows(&["another run is changing the device (process "]);
    project
        .devgate(&format!("{apply} --busy wait=1"))
        .failed()
        .shows(&["waiting for it, at most 1 s", "nothing was done"]);
    let mut waiting = project.start(&format!("{apply} --busy wait --format json"));
    waiting.wait_for("another run is changing the device");
    device.fault("accept");
    first.finish().succeeded().shows(&["1 changed"]);
    let summary = waiting.finish().succeeded().item()["value"]["summary"].clone();
    assert_eq!(summary["changed"], 0, "{summary}");
    let absent = "frr_static_route { '10.72.0.0/16 via Null0': ensure => absent }\n";
    let absent = project.write("none.pp", absent).display().to_string();
    project
        .devgate(&format!("device --deviceconfig {conf} --apply {absent}"))
        .succeeded();
}

#[test]
fn what_is_wrong_with_a_device_conf_is_reported_with_puppets_message() {
    let mut project = Project::new();
    for (text, expected) in [
        (
            "[a]\ntype frr\nurl file:///a\n[a]\n",
            "Duplicate device found at F:4, already found at F:1",
        ),
        ("[a]\nbogus a-canary\n", "Invalid entry at F:2: bogus …"),
        ("type frr\n", "Invalid entry at F:1: type …"),
        (
            "[a]\ntype frr\nurl a-canary\n",
            "F:3: the value of `url` is an invalid url",
        ),
        ("# none\n", "No device found in F"),
        (
            "[a]\ntype frr\nurl file:///nowhere/a.conf\n",
            "Trying to load config from '/nowhere/a.conf, but file does not exist.",
        ),
        (
            "[a]\ntype frr\nurl file://a.conf\n",
            "Unexpected url 'file://a.conf' found. Only file:/// URLs",
        ),
        (
            "[a]\ntype friar\nurl ssh://u:a-canary@192.0.2.1\n",
            "`friar`",
        ),
    ] {
        let path = project.write("device.conf", text).display().to_string();
        let run = project
            .devgate(&format!("device --deviceconfig {path} --facts"))
            .failed();
        run.shows(&[&expected
            .replace("F:", &format!("{path}:"))
            .replace(" in F", &format!(" in {path}"))]);
    }
    project
        .devgate("device --deviceconfig /nowhere/device.conf --facts")
        .failed()
        .shows(&["No device found in /nowhere/device.conf"]);
}
