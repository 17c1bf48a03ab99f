//! Invalid requests: they are reported on stderr and in valid results, without quoting their values.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::module::{Module, fits};
use crate::support::run::Running;

#[test]
fn a_wrong_request_is_refused_and_nothing_of_it_is_quoted() {
    let mut module = Module::new();
    module.task("touch", "touch \"$PT_dir/done\"");
    module.targets(&["sw1".to_owned()]);
    let canary = "canary-value";
    let input =
        json!({ "targets": "sw1", "task": "m::touch", "parameters": { "dir": module.path() } });
    let with = |key: &str, value: Value| {
        let mut request = module.request(input.clone());
        request["input"][key] = value;
        request
    };
    let configured = |key: &str, value: Value| {
        let mut request = module.request(input.clone());
        request["configuration"][key] = value;
        request
    };
    let cases = [
        (json!(canary), "devgate/invalid-request", "other JSON"),
        (
            json!({"input": {}, "inputs": canary}),
            "devgate/invalid-request",
            "no key `inputs`",
        ),
        (
            json!({"configuration": {}}),
            "devgate/invalid-request",
            "`input` is missing",
        ),
        (
            json!({"input": {"task": canary}}),
            "devgate/invalid-input",
            "\"targets\" is a required property",
        ),
        (
            with("targets", json!([[canary]])),
            "devgate/invalid-input",
            "`/targets/0`",
        ),
        (
            with("targets", json!("-")),
            "devgate/invalid-input",
            "stdin holds the request",
        ),
        (
            with("targets", json!(["a", "@canary"])),
            "devgate/invalid-input",
            "`@FILE`",
        ),
        (
            with("timeout", json!("canary")),
            "devgate/invalid-input",
            "`/timeout`",
        ),
        (
            with("timeout", json!(0)),
            "devgate/invalid-input",
            "`/timeout`",
        ),
        (
            with("timeouts", json!(1)),
            "devgate/invalid-input",
            "'timeouts'",
        ),
        (
            with("task", json!("m::nothing")),
            "bolt/unknown-task",
            "m::nothing",
        ),
        (
            with("parameters", json!({"dir": {"canary": 1}})),
            "bolt/validation-error",
            "parameter 'dir'",
        ),
        (
            configured("limit", json!(canary)),
            "devgate/invalid-configuration",
            "'limit'",
        ),
        (
            configured("project", json!("canary")),
            "devgate/invalid-configuration",
            "`/project`",
        ),
        (
            configured("project", json!("/nowhere/at/all")),
            "bolt/file-error",
            "/nowhere/at/all",
        ),
        (
            configured("limits", json!({"time": -1})),
            "devgate/invalid-configuration",
            "`/limits/time`",
        ),
        (
            configured("limits", json!({"space": 1})),
            "devgate/invalid-configuration",
            "'space'",
        ),
        (
            configured("inventory", json!({"targets": canary})),
            "bolt.inventory/validation-error",
            "configuration.inventory",
        ),
        (
            configured("inventory", json!("canary.yaml")),
            "devgate/invalid-configuration",
            "`/inventory`",
        ),
    ];
    for (request, kind, expected) in cases {
        let run = module.call("run_task", &request).failed();
        let error = &run.json()["_error"];
        assert_eq!(error["kind"], kind, "{run}");
        assert!(
            error["msg"]
                .as_str()
                .is_some_and(|msg| msg.contains(expected)),
            "{expected}: {run}"
        );
        assert!(run.stderr.contains(expected), "{expected}: {run}");
    }
    for request in ["", "{\"input\": {\"canary", "{} {}"] {
        let run = module.start_with("run_task", request).finish().failed();
        assert_eq!(
            run.json()["_error"]["kind"],
            "devgate/invalid-request",
            "{run}"
        );
    }
    let both = json!({"targets": "sw1", "manifest": {}, "manifest_file": "a.yaml"});
    let run = module.call("device_run", &module.request(both)).failed();
    run.shows(&["either `manifest` or `manifest_file`"]);
    assert!(
        !module.path().join("done").exists(),
        "nothing is done for a wrong request"
    );
    let right = module.request(input);
    module.call("run_task", &right).succeeded();
    assert!(module.path().join("done").exists());
}

#[test]
fn a_request_that_never_ends_is_not_waited_for() {
    let module = Module::new();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"{\"input\": ").expect("it takes that");
    let endless = fs::File::open("/dev/zero").expect("it is there");
    for (stdin, expected) in [
        (Stdio::from(endless), "is larger than"),
        (Stdio::from(reader), "is not complete after"),
    ] {
        let mut command = module.command(&["verify"]);
        command.stdin(stdin);
        let run = Running::start(command).finish().failed();
        fits("verify", &run);
        assert_eq!(
            run.json()["_error"]["kind"],
            "devgate/invalid-request",
            "{run}"
        );
        run.shows(&[expected]);
    }
    drop(writer);
}

#[test]
fn secrets_of_a_request_are_seen_nowhere() {
    let mut module = Module::new();
    let script = "cat >/dev/null; echo \"$PT_secret\"; echo $$ >\"$PT_dir/begun\"; \
                  while [ ! -e \"$PT_dir/go\" ]; do sleep 0.1; done";
    module.task("tell", script);
    let inventory = json!({"version": 2, "targets": [{"name": "sw1", "config": {
        "transport": "remote",
        "remote": {"remote-transport": "frr", "host": "h", "user": "u", "password": "canary-inventory"},
    }}]});
    let request = json!({
        "input": {"targets": "sw1", "task": "m::tell",
            "parameters": {"dir": module.path(), "secret": "canary-parameter"}},
        "configuration": {"project": module.path(), "inventory": inventory},
    });
    let running = module.start("run_task", &request);
    module.wait_for("begun");
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let words: Vec<_> = processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .collect();
    let words = words.concat();
    let appears = |secret: &str| {
        words
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    };
    assert!(!appears("canary-inventory") && !appears("canary-parameter"));
    module.project.write("go", "");
    let run = running.finish().succeeded();
    assert!(
        run.item()["value"]["_output"]
            .as_str()
            .is_some_and(|text| text.contains('*')),
        "{run}"
    );
    for (path, text) in module.project.remaining_files() {
        assert!(!text.contains("canary"), "{}: {text}", path.display());
    }
}
