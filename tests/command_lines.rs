//! Tests of command lines in bad circumstances: with broken input, broken output, or too little time.

#[path = "support/blocks.rs"]
mod blocks;
mod documents;
mod family_tools;
#[path = "support/folder.rs"]
mod folder;
mod given;
mod goldens;
mod interrupts;
mod inventories;
mod offline_parsing;
mod pxp_host;
mod pxp_spool;
mod show_commands;
mod switches;
mod task_lines;
mod trust;
mod unread;
mod unwritable;
mod words;

use std::fs::{self, File};

use serde_json::json;

use folder::{Project, document, messages_of};

#[test]
fn results_that_cannot_be_printed_are_no_success() {
    let project = Project::new();
    for words in [
        &["inventory", "show"][..],
        &["--version"],
        &["--help"],
        &["help", "task", "run"],
        &["help", "options"],
    ] {
        let full = File::options().write(true).open("/dev/full");
        let output = project
            .command(words)
            .stdout(full.expect("Linux has it"))
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let text = messages_of(&output);
        assert!(text.contains("No space left"), "{words:?}: {text}");
    }
}

#[test]
fn the_forms_of_files_and_documents_are_exported_as_json_schema() {
    let project = Project::new();
    let schema = |what: &str| {
        let schema = document(&project.devgate(&["schema", "export", what]));
        assert!(
            schema["description"].is_string() && schema["title"].is_string(),
            "{schema}"
        );
        jsonschema::validator_for(&schema).expect("it is a schema")
    };
    let task = schema("task");
    assert!(task.is_valid(&json!({ "supports_noop": true, "parameters": { "a": {} } })));
    assert!(!task.is_valid(&json!({ "supports_noop": "yes" })));
    let refused = project.devgate(&["task", "run", "nothing", "-t", "r1", "--format", "json"]);
    let error = schema("error");
    assert!(error.is_valid(&document(&refused)["_error"]));
    assert!(!error.is_valid(&json!({ "kind": "a/b" })));
    let metadata = document(&project.devgate(&["pxp", "serve"]));
    assert!(schema("pxp-metadata").is_valid(&metadata));
    assert!(schema("pxp-request").is_valid(&json!({ "input": {} })));
    assert!(!schema("pxp-request").is_valid(&json!({ "inputs": {} })));
    let version = project.devgate(&["--version"]);
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(
        version.contains("Puppet task specification: version 1, revision 6"),
        "{version}"
    );
}

#[test]
fn the_projects_format_is_that_of_refusals_too() {
    let project = Project::new();
    project.write("bolt-project.yaml", "format: json\n");
    let output = project.devgate(&["task", "run", "nothing", "-t", "r1"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(document(&output)["_error"]["kind"], "bolt/unknown-task");
}

#[test]
fn a_manifest_that_says_one_resource_twice_is_refused_before_a_device_is_asked() {
    let project = Project::new();
    project.write(
        "twice.yaml",
        "frr_static_route:\n  10.9.0.0/16 via Null0: {}\n  10.9.0.0/16 via Null0 vrf default: {}\n",
    );
    let output = project.devgate(&[
        "device",
        "-t",
        "r1",
        "--apply",
        "twice.yaml",
        "--format",
        "json",
    ]);
    let error = &document(&output)["_error"];
    assert_eq!(error["kind"], "devgate/invalid-manifest");
    let problems = error["details"]["problems"].as_array().expect("problems");
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    let problem = problem.as_str().expect("a text");
    assert!(problem.starts_with("twice.yaml:3:3: "), "{problem}");
    assert!(problem.contains("twice.yaml:2:3"), "{problem}");
}

#[test]
fn a_name_that_is_no_targets_is_reported_as_such() {
    let project = Project::new();
    let inventory = r#"{"version": 2, "targets": ["r1"]}"#;
    project.write("inventory.yaml", inventory);
    project.task("quiet", "");
    for words in [
        &["verify"][..],
        &["facts"],
        &["task", "run", "m::quiet"],
        &["device", "--resource", "frr_interface"],
    ] {
        let targets = ["-t", "r11", "--format", "json"];
        let output = project.devgate(&[words, &targets].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let error = &document(&output)["items"][0]["value"]["_error"];
        assert_eq!(error["kind"], "devgate/unknown-target", "{words:?}");
    }
}

#[test]
fn doing_nothing_is_no_success_unless_somebody_says_so() {
    let project = Project::new();
    project.task("quiet", "");
    project.write("routes.yaml", "{}");
    for (verbs, rest) in [
        (&["verify"][..], &[][..]),
        (&["facts"], &[]),
        (&["record"], &["recorded"]),
        (&["task", "run", "m::quiet"], &[]),
        (&["task", "run", "m::quiet", "--explain"], &[]),
        (&["device"], &["--apply", "routes.yaml"]),
        (&["session", "exec"], &["--config", "no shutdown"]),
    ] {
        let json = ["-t", "nobody", "--format", "json"];
        let output = project.devgate(&[verbs, &json, rest].concat());
        assert_eq!(output.status.code(), Some(1), "{verbs:?}");
        let error = &document(&output)["_error"];
        assert_eq!(error["kind"], "devgate/no-targets", "{verbs:?}");
        let why = error["msg"].as_str().expect("a text");
        assert!(
            why.starts_with("`nobody` selects no target: nothing was done"),
            "{why}"
        );
        let allowed = project.devgate(&[verbs, &["--allow-empty"], &json, rest].concat());
        assert_eq!(
            allowed.status.code(),
            Some(0),
            "{verbs:?}: {}",
            messages_of(&allowed)
        );
        assert_eq!(document(&allowed)["target_count"], 0);
    }
    for words in [
        &["get", "-t", "nobody", "/"][..],
        &["run", "-t", "nobody", "--", "true"],
    ] {
        let output = project.devgate(&[&["session"], words].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
    }
}

#[test]
fn a_missing_inventory_is_reported_and_no_success() {
    let project = Project::new();
    fs::remove_file(project.0.path().join("inventory.yaml")).expect("it is there");
    for command in [
        &["inventory", "show"][..],
        &["verify", "-t", "r1"],
        &["verify", "-t", "all"],
        &["session", "get", "-t", "all", "/"],
    ] {
        let output = project.devgate(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(messages_of(&output).contains("/inventory.yaml does not exist"));
    }
}

#[test]
fn the_devices_of_a_device_conf_belong_to_all() {
    let project = Project::new();
    let device = "[sw1]\ntype frr\nurl ssh://u:p@127.0.0.1:1\n";
    project.write("device.conf", device);
    let show = [
        "inventory",
        "show",
        "--deviceconfig",
        "device.conf",
        "--format",
        "json",
    ];
    let response = document(&project.devgate(&show));
    let all = json!(["r1", "r2", "sw1"]);
    assert_eq!(
        (&response["targets"], &response["groups"]["all"]),
        (&all, &all)
    );
    fs::remove_file(project.0.path().join("inventory.yaml")).expect("it is there");
    project.task("quiet", "");
    let run = [
        "task",
        "run",
        "m::quiet",
        "-t",
        "all",
        "--deviceconfig",
        "device.conf",
    ];
    let output = project.devgate(&[&run[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    assert_eq!(document(&output)["items"][0]["target"], "sw1");
}

#[test]
fn what_changes_nothing_takes_no_noop() {
    let project = Project::new();
    for check in [&["--facts"][..], &["--resource", "frr_interface"]] {
        let output = project.devgate(&[&["device", "-t", "r1", "--noop"], check].concat());
        assert_eq!(output.status.code(), Some(1), "{check:?}");
    }
}

#[test]
fn no_more_targets_are_worked_on_than_files_can_be_open_for() {
    let project = Project::new();
    project.task("quiet", "");
    let names: Vec<String> = (0..60).map(|number| format!("r{number}")).collect();
    let limited = ["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"];
    let words = ["task", "run", "m::quiet", "-c", "60", "--format", "json"];
    let info = json!({ "remote-transport": "frr", "host": "192.0.2.1", "user": "u" });
    let inventory = json!({
        "version": 2,
        "config": { "transport": "remote", "remote": info },
        "targets": names,
    });
    project.write("inventory.yaml", &inventory.to_string());
    let output = project
        .command_under(&limited, &[&words[..], &["-t", "all"]].concat())
        .output()
        .expect("sh starts");
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    assert_eq!(document(&output)["target_count"], 60);
    assert!(messages_of(&output).contains("`ulimit -n`"));
}

#[test]
fn a_family_that_is_wrong_stops_only_those_who_ask_for_it() {
    let project = Project::new();
    project.task("hello", "#!/bin/sh\necho hello\n");
    let family = "modules/m/devices/mine/family.yaml";
    project.write(family, "name: mine\nprotocoll: ssh_cli\n");
    let location = "mine/family.yaml:2:1";

    let tasks = project.devgate(&["task", "show"]);
    assert!(tasks.status.success());
    assert_eq!(messages_of(&tasks), "", "nobody asked for it");
    let families = project.devgate(&["family", "list"]);
    assert!(families.status.success() && messages_of(&families).contains(location));
    for asking in [
        &["transport", "show", "mine"][..],
        &["family", "test"],
        &["family", "test", "mine"],
    ] {
        let refused = project.devgate(asking);
        assert_eq!(refused.status.code(), Some(1), "{asking:?}");
        let messages = messages_of(&refused);
        assert!(
            messages.contains("family `mine` cannot be used"),
            "{asking:?}: {messages}"
        );
    }
}
