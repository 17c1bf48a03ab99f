//! A device with bad habits, with a family that a user might write for it in a module of the project.

use serde_json::{Value, json};

use crate::support::awkward::{Awkward, PASSWORD};
use crate::support::project::Project;

#[test]
fn no_habit_of_a_terminal_changes_what_is_read() {
    let device = Awkward::start();
    for user in ["plain", "banner", "colours", "no-echo", "noisy", "wraps"] {
        let project = project(&device, "show version", json!({ "user": user }));
        assert_eq!(
            lines(&project),
            json!(["Awkward OS, Version 1.0"]),
            "{user}"
        );
    }
}

#[test]
fn the_end_of_an_output_is_found_whatever_it_looks_like() {
    let device = Awkward::start();
    let pages: Vec<String> = (1..=31).map(|line| format!("line {line}")).collect();
    for (command, expected) in [
        (
            "show prompt-like 2000",
            json!(["before", "switch#", "after"]),
        ),
        (
            "show slow 7",
            json!([
                "line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "line 7"
            ]),
        ),
        ("show pages", json!(pages)),
        ("show prompt-like 20", json!(["before", "switch#", "after"])),
        (
            "show prompt-like 300",
            json!(["before", "switch#", "after"]),
        ),
        ("show no-newline", json!(["first", "output"])),
        ("show syslog", json!(["output"])),
        ("show bytes", json!(["Z\u{fffd}rich", "café"])),
        ("show colours", json!(["red plain"])),
        ("show slow-bytes 20", json!(["one byte at a time"])),
    ] {
        let project = project(&device, command, json!({ "idle_timeout": 6 }));
        assert_eq!(lines(&project), expected, "{command}");
    }
}

#[test]
fn a_device_that_is_slower_than_its_timeout_is_read_byte_by_byte() {
    let device = Awkward::start();
    let project = project(&device, "show slow-bytes 300", json!({ "idle_timeout": 2 }));
    assert_eq!(lines(&project), json!(["one byte at a time"]));
}

#[test]
fn a_line_of_a_mebibyte_arrives_completely() {
    let device = Awkward::start();
    let project = project(&device, "show version", json!({}));
    let run = project
        .devgate("session exec -t switch show long-line")
        .succeeded();
    assert_eq!(run.stdout.trim_end().len(), 1 << 20);
    assert_eq!(run.stdout.trim_start_matches('x'), "\n");
}

#[test]
fn a_device_that_is_renamed_during_the_session_is_known_again() {
    let device = Awkward::start();
    let mut project = project(&device, "show version", json!({}));
    project.write("modules/demo/tasks/rename.json", r#"{"remote": true}"#);
    project.write(
        "modules/demo/tasks/rename.sh",
        "devgate session exec --config 'hostname core-2' 'vlan 7'\n\
         devgate session exec show version\n\
         devgate session exec hostname edge-3\n\
         devgate session exec show version",
    );
    let run = project
        .devgate("task run demo::rename -t switch --format json")
        .succeeded();
    let output = run.item()["value"]["_output"].clone();
    assert_eq!(
        output,
        json!("Awkward OS, Version 1.0\nAwkward OS, Version 1.0\n")
    );
    let received = device.received();
    assert!(
        received
            .iter()
            .all(|line| line.connection == received[0].connection),
        "{received:#?}"
    );
}

#[test]
fn a_restart_needs_consent_and_is_reported_as_a_restart() {
    let device = Awkward::start();
    let project = project(&device, "show version", json!({}));
    let run = project.devgate("session exec -t switch reload").failed();
    run.shows(&["asks `Proceed with reload? [confirm]`", "--answer"]);
    assert_eq!(device.count_received("confirmed"), 0);
    let run = project
        .devgate("session exec -t switch --answer y reload")
        .failed();
    run.shows(&[
        "closed the connection during `reload`",
        "System is going down",
    ]);
    let received = ["reload", "confirmed"].map(|line| device.count_received(line));
    assert_eq!(received, [2, 1], "{:#?}", device.received());
}

#[test]
fn an_output_without_end_is_given_up_by_name() {
    let device = Awkward::start();
    for (command, limit) in [
        ("show silence", "idle_timeout"),
        ("show endless", "command_timeout"),
    ] {
        let project = project(&device, command, json!({ limit: 3 }));
        project
            .devgate("facts -t switch")
            .failed()
            .shows(&[command, limit]);
    }
}

#[test]
fn a_connection_lost_in_an_output_is_reported_with_the_received_output() {
    let device = Awkward::start();
    for command in ["show drop-connection", "show drop-channel"] {
        let project = project(&device, command, json!({}));
        let item = project
            .devgate("facts -t switch --format json")
            .failed()
            .item();
        let partial = item.pointer("/value/_error/details/partial_output");
        assert_eq!(partial, Some(&json!("partial\nout")), "{command}: {item:#}");
    }
}

#[test]
fn a_connection_lost_while_configuring_is_reported_and_nothing_is_sent_twice() {
    let device = Awkward::start();
    let mut project = project(&device, "show version", json!({ "user": "resets-2" }));
    let manifest = project.manifest(json!({ "awkward_vlan": { "guests": { "id": 30 } } }));
    project
        .devgate(&format!("device --target switch --apply {manifest}"))
        .failed()
        .shows(&["closed the connection"]);
    for line in ["vlan 30", "name guests"] {
        assert_eq!(
            device.count_received(line),
            1,
            "{line}: {:#?}",
            device.received()
        );
    }
    assert_eq!(
        device.count_received("write memory"),
        0,
        "{:#?}",
        device.received()
    );
}

/// Returns the lines of the switch's facts.
fn lines(project: &Project) -> Value {
    let item = project
        .devgate("facts -t switch --format json")
        .succeeded()
        .item();
    item.pointer("/value/awkward/lines")
        .cloned()
        .unwrap_or_else(|| panic!("no lines: {item:#}"))
}

/// Creates a project with the device as its only target, `switch`, and a family whose facts are a command's
/// output.
fn project(device: &Awkward, command: &str, settings: Value) -> Project {
    let mut project = Project::new();
    let known_hosts = project.write("known_hosts", &device.known_hosts());
    let family = format!(
        r"name: awkward
desc: A device made to be awkward.
protocol: ssh_cli
dialect:
  prompt: {{ exec: '[\w.-]+# ?', config: '[\w.-]+\(config\)# ?' }}
  pager: [{{ pattern: '--More-- ?', answer: ' ' }}]
  enter_config: configure terminal
  leave_config: end
  save: write memory
  failure: ['^% ']
  unsolicited: ['^\*?\w{{3}} +\d+ [\d:.]+: %']
facts:
  - command: {command}
    textfsm: |
      Value List LINES (.*)

      Start
        ^${{LINES}}$$
    facts: {{ awkward.lines: LINES }}
"
    );
    project.write("modules/awkward/devices/awkward/family.yaml", &family);
    project.write(
        "modules/awkward/devices/awkward/types/awkward_vlan.yaml",
        r"name: awkward_vlan
desc: A VLAN.
attributes:
  name: { type: 'String[1]', behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  id: { type: 'Integer[1, 4094]', desc: Its number. }
cli:
  get:
    command: show version
    textfsm: |
      Value Required ID (\d+)

      Start
        ^vlan ${ID}$$ -> Record

      EOF
    resource: { name: ID, id: ID }
  create: |
    vlan {{ id }}
     name {{ name }}
  delete: no vlan {{ id }}
",
    );
    let mut info = json!({
        "remote-transport": "awkward",
        "host": "127.0.0.1",
        "port": device.port(),
        "user": "plain",
        "password": PASSWORD,
        "known_hosts_file": known_hosts,
    });
    for (key, value) in settings.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    project.add_target("switch", info);
    project
}
