//! Inventories in practice: encrypted values, plugins, and targets with errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::folder::{Project, document, messages_of};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/engine/src/plugins/fixtures");
/// The decrypted values of the fixtures.
const CANARIES: [&str; 2] = ["an eyaml canary", "an age canary"];

/// Creates a project whose targets have encrypted passwords, with a task that returns its input.
fn encrypted() -> Project {
    let project = Project::new();
    let fixture = |name: &str| {
        let path = Path::new(FIXTURES).join(name);
        fs::read_to_string(path).expect("a fixture")
    };
    for key in ["keys/private_key.pkcs7.pem", "keys/age.txt"] {
        project.write(key, &fixture(key));
    }
    project.write("password.age", &fixture("armored.age"));
    let pkcs7 = json!({ "_plugin": "pkcs7", "encrypted_value": fixture("eyaml.txt") });
    let age = json!({ "_plugin": "age", "file": "password.age" });
    let remote = json!({ "remote-transport": "frr", "password": pkcs7, "enable_password": age });
    let inventory = json!({
        "config": { "transport": "remote", "remote": remote },
        "vars": { "greeting": age },
        "targets": ["r1", "r2"],
    });
    project.write("inventory.yaml", &inventory.to_string());
    project
}

fn by_target(output: &Output) -> BTreeMap<String, Value> {
    let items = document(output)["items"].clone();
    let items = items.as_array().expect("items").clone();
    let name = |item: &Value| item["target"].as_str().unwrap_or_default().to_owned();
    items.into_iter().map(|item| (name(&item), item)).collect()
}

#[test]
fn a_task_gets_what_was_encrypted_and_nobody_sees_it() {
    let project = encrypted();
    let check = "#!/bin/sh\nin=$(cat)\ncase $in in *'an eyaml canary'*) ;; *) exit 1;; esac\n\
                 case $in in *'an age canary'*) echo \"$in\";; *) exit 2;; esac\n";
    project.task("check", check);
    let words = [
        "task",
        "run",
        "m::check",
        "-t",
        "all",
        "--log-level",
        "debug",
    ];
    for format in ["human", "json"] {
        let output = project.devgate(&[&words[..], &["--format", format]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
        let all = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            messages_of(&output)
        );
        assert!(all.contains("Sensitive [value redacted]"), "{all}");
        assert!(!CANARIES.iter().any(|canary| all.contains(canary)), "{all}");
    }
}

#[test]
fn details_of_the_inventory_show_no_secret() {
    let project = encrypted();
    for format in ["human", "json"] {
        let output = project.devgate(&["inventory", "show", "--detail", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
        let all = String::from_utf8_lossy(&output.stdout);
        assert!(
            all.contains("greeting") && all.contains("remote-transport"),
            "{all}"
        );
        assert!(!CANARIES.iter().any(|canary| all.contains(canary)), "{all}");
    }
}

#[test]
fn the_inventory_is_shown_as_bolt_shows_it_without_asking_plugins() {
    let project = Project::new();
    let inventory = "config: {transport: remote, remote: {remote-transport: frr, host: {_plugin: prompt}, user: me}}
groups: [{name: g, targets: [r1]}]\ntargets: [r2]\n";
    project.write("inventory.yaml", inventory);
    let output = project.devgate(&["inventory", "show", "-t", "g,h", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    let response = document(&output);
    let file = project.0.path().join("inventory.yaml");
    assert_eq!(
        response["inventory"],
        json!({ "targets": ["r1"], "count": 1, "file": file })
    );
    assert_eq!(response["adhoc"], json!({ "targets": ["h"], "count": 1 }));
    assert_eq!(
        (&response["targets"], &response["count"]),
        (&json!(["r1", "h"]), &json!(2))
    );
    assert_eq!(response["groups"]["all"], json!(["r2", "r1"]));
}

/// One valid target, and targets that are each invalid in another way.
const WRONG: &str = "config: {transport: remote, remote: {remote-transport: frr, user: me}}
targets:
  - {name: right, uri: 'ssh://192.0.2.1', config: {remote: {password: {_plugin: prompt, message: m}}}}
  - {name: family, config: {remote: {remote-transport: frrr}}}
  - {name: timeout, uri: 'ssh://192.0.2.1', config: {remote: {timeout: fast, password: {_plugin: prompt}}}}
  - {name: limit, uri: 'ssh://192.0.2.1', config: {remote: {session-limit: many}}}
  - {name: plugin, uri: 'ssh://192.0.2.1', config: {remote: {password: {_plugin: agee}}}}
  - {name: host, uri: 192.0.2.1, config: {transport: ssh, ssh: {tmpdir: 5}}}
groups:
  - name: far
    targets: [{name: covered, uri: 'ssh://192.0.2.1', config: {remote: {timeout: {_plugin: env_var, var: X}}}}]
    config: {remote: {timeout: slow}}
";

#[test]
fn what_is_wrong_is_shown_without_asking_plugins() {
    let project = Project::new();
    project.write("inventory.yaml", WRONG);
    let wrong = [
        ("family", "devgate/unknown-transport", "did you mean `frr`?"),
        (
            "timeout",
            "devgate/invalid-connection-info",
            "timeout: fast",
        ),
        (
            "limit",
            "devgate/invalid-connection-info",
            "session-limit: many",
        ),
        ("plugin", "bolt/unknown-plugin", "did you mean `age`?"),
        ("host", "devgate/invalid-connection-info", "tmpdir: 5"),
    ];
    let output = project.devgate(&["inventory", "show"]);
    assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
    let table = String::from_utf8_lossy(&output.stdout);
    for (name, _, why) in wrong {
        let row = table.lines().find(|line| line.starts_with(name));
        assert!(row.is_some_and(|row| row.contains("(wrong)")), "{table}");
        assert!(table.contains(why), "{table}");
    }
    for strict in [&[][..], &["--strict"]] {
        let words = [&["inventory", "show", "--format", "json"], strict].concat();
        let output = project.devgate(&words);
        assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
        let faults = document(&output)["faults"].clone();
        for (name, kind, why) in wrong {
            // In strict mode, the reference of this target fails first: nobody answers the prompt.
            if (name, strict.is_empty()) == ("timeout", false) {
                continue;
            }
            assert_eq!(faults[name]["kind"], kind, "{faults:#}");
            let message = faults[name]["msg"].as_str().unwrap_or_default();
            assert!(message.contains(why), "{message}");
        }
        let found = faults.as_object().map(|all| all.len());
        let expected = wrong.len() + if strict.is_empty() { 0 } else { 1 };
        assert!(found.is_some_and(|found| found >= expected), "{faults:#}");
        // Only strict mode looks references up.
        assert_eq!(
            faults["right"]["kind"] == "bolt/plugin-error",
            !strict.is_empty(),
            "{faults:#}"
        );
    }
    let alone = ["inventory", "show", "-t", "right,covered"];
    let output = project.devgate(&alone);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
}

#[test]
fn a_remote_target_without_a_transport_is_right_for_tasks_that_log_in_by_themselves() {
    let project = Project::new();
    let inventory = "targets: [{name: r1, config: {transport: remote, remote: {user: me}}}]\n";
    project.write("inventory.yaml", inventory);
    let output = project.devgate(&["inventory", "show"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    let table = String::from_utf8_lossy(&output.stdout);
    let row = table.lines().find(|line| line.starts_with("r1"));
    assert!(row.is_some_and(|row| !row.contains("(wrong)")), "{table}");
}

#[test]
fn details_of_a_target_whose_plugin_fails_have_its_transport_and_why() {
    let project = Project::new();
    project.write("inventory.yaml", WRONG);
    let detail = ["inventory", "show", "-t", "plugin,family", "--detail"];
    let output = project.devgate(&[&detail[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
    let targets = document(&output)["targets"].clone();
    let (plugin, family) = (&targets[0], &targets[1]);
    assert_eq!(plugin["config"]["transport"], "remote", "{plugin:#}");
    assert_eq!(
        plugin["config"]["remote"]["remote-transport"], "frr",
        "{plugin:#}"
    );
    assert_eq!(
        plugin["_error"]["kind"], "bolt/unknown-plugin",
        "{plugin:#}"
    );
    assert_eq!(
        family["_error"]["kind"], "devgate/unknown-transport",
        "{family:#}"
    );
    let output = project.devgate(&detail);
    let text = String::from_utf8_lossy(&output.stdout);
    let (first, second) = text.split_once("family\n").expect("two targets");
    assert!(
        first.contains("unknown plugin agee") && second.contains("no transport `frrr`"),
        "{text}"
    );
}

#[test]
fn devices_of_a_device_conf_are_shown_in_the_group_all_with_their_type() {
    let project = Project::new();
    project.write("inventory.yaml", "version: 2\n");
    let conf =
        "[sw1]\ntype frr\nurl ssh://me@192.0.2.1\n[sw2]\ntype frr\nurl file:///nowhere/sw2.conf\n";
    project.write("device.conf", conf);
    let show = [
        "inventory",
        "show",
        "--deviceconfig",
        "device.conf",
        "--format",
        "json",
        "--detail",
    ];
    let output = project.devgate(&show);
    assert_eq!(output.status.code(), Some(1), "sw2 has no credentials");
    for target in document(&output)["targets"].as_array().expect("targets") {
        assert_eq!(target["groups"], json!(["all"]), "{target:#}");
        assert_eq!(
            target["config"]["remote"]["remote-transport"], "frr",
            "{target:#}"
        );
    }
}

#[test]
fn a_target_that_is_wrong_fails_alone_unless_strictly_read() {
    let project = Project::new();
    let inventory = "config: {transport: remote, remote: {remote-transport: x}}
targets: [good, {name: bad, vars: []}, {name: needy, config: {remote: {user: {_plugin: env_var, var: NOBODY_SET_THIS}}}}]\n";
    project.write("inventory.yaml", inventory);
    project.task("quiet", "");
    let run = ["task", "run", "m::quiet", "--format", "json", "-t"];
    let output = project.devgate(&[&run[..], &["all"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let items = by_target(&output);
    assert_eq!(items["good"]["status"], "success");
    let kind = |name: &str| items[name]["value"]["_error"]["kind"].clone();
    assert_eq!(kind("bad"), "bolt.inventory/validation-error");
    assert_eq!(kind("needy"), "bolt/validation-error");

    let output = project.devgate(&[&run[..], &["good"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let message = messages_of(&output);
    assert!(
        message.contains("left out: ") && message.contains("expected vars of the target bad"),
        "{message}"
    );

    let output = project.devgate(&[&run[..], &["good", "--strict"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        document(&output)["_error"]["kind"],
        "bolt.inventory/validation-error"
    );
}

#[test]
fn a_plugin_is_called_once_for_many_targets() {
    let project = Project::new();
    let names: Vec<String> = (0..50).map(|number| format!("t{number}")).collect();
    let user = json!({ "_plugin": "task", "task": "m::user", "parameters": { "log": "asked" } });
    let inventory = json!({
        "config": { "transport": "remote", "remote": { "remote-transport": "x", "user": user } },
        "targets": names,
    });
    project.write("inventory.yaml", &inventory.to_string());
    project.write(
        "modules/m/tasks/user.sh",
        "echo once >> asked\necho '{\"value\": \"me\"}'\n",
    );
    project.task("quiet", "");
    let output = project.devgate(&["task", "run", "m::quiet", "-t", "all"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    let request = fs::read_to_string(project.0.path().join("asked")).expect("it was asked");
    assert_eq!(request, "once\n");
}

#[test]
fn where_nobody_can_answer_there_is_no_prompt() {
    let project = Project::new();
    let password = json!({ "_plugin": "prompt", "message": "Password" });
    let inventory = json!({
        "config": { "transport": "remote", "remote": { "remote-transport": "x", "password": password } },
        "targets": ["r1", { "name": "r2", "config": { "remote": { "password": "p" } } }],
    });
    project.write("inventory.yaml", &inventory.to_string());
    project.task("quiet", "");
    let words = ["task", "run", "m::quiet", "-t", "all", "--format", "json"];
    let mut alone = project.command_under(&["setsid", "--wait"], &words);
    let output = alone.output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let items = by_target(&output);
    let error = &items["r1"]["value"]["_error"];
    assert_eq!(error["kind"], "bolt/plugin-error");
    let message = error["msg"].as_str().expect("a text");
    assert!(
        message.contains("no terminal to ask \"Password\""),
        "{message}"
    );
    assert_eq!(items["r2"]["status"], "success");
}
