//! Devices that others simulate: the prompts of 41 platforms, and switches that keep what they are told.

use serde_json::{Value, json};

use crate::support::lab::{lab, text};
use crate::support::project::Project;

/// What an inventory says to reach a simulated device.
fn connection_info(lab: &Value, device: &Value) -> Value {
    json!({
        "remote-transport": "ssh_cli",
        "host": text(lab, "host"),
        "port": device["port"],
        "user": text(lab, "user"),
        "password": text(lab, "password"),
        "known_hosts_file": text(lab, "known_hosts"),
    })
}

/// Writes a task that runs on this node with a session of its target, and gives its name.
fn task(project: &mut Project, script: &str) -> &'static str {
    let about = r#"{"remote": true, "input_method": "stdin"}"#;
    project.write("modules/demo/tasks/ask.json", about);
    project.write("modules/demo/tasks/ask.sh", script);
    "demo::ask"
}

#[test]
fn a_command_line_of_which_nothing_is_known_is_read_on_every_platform() {
    let lab = lab("fakes");
    let platforms = lab["platforms"].as_array().expect("platforms");
    let mut project = Project::new();
    for platform in platforms {
        let name = text(platform, "name");
        project.add_target(name, connection_info(&lab, platform));
        project.write(&format!("commands/{name}"), text(platform, "command"));
    }
    let ask = task(
        &mut project,
        "name=$(sed -n 's/.*\"_target\":{[^}]*\"name\":\"\\([^\"]*\\)\".*/\\1/p')\n\
         devgate session exec \"$(cat commands/$name)\"\n\
         echo behind\n\
         devgate session exec \"$(cat commands/$name)\"",
    );
    let run = project.devgate(&format!("task run {ask} -t all --format json"));
    let items = run.succeeded().json()["items"].clone();
    let items = items.as_array().expect("items");
    assert_eq!((items.len(), platforms.len()), (41, 41));
    for item in items {
        let platform = platforms
            .iter()
            .find(|platform| platform["name"] == item["target"]);
        let platform = platform.expect("it was asked for");
        let said = item["value"]["_output"].as_str().expect("an output");
        let (first, second) = said.split_once("behind\n").expect("both answers");
        assert_eq!(first, second, "{platform}");
        let first = first.trim_start().lines().next().unwrap_or_default();
        assert_eq!(first.trim(), text(platform, "says"), "{platform}");
    }
}
