//! Tasks as Bolt users know them: the same status and the same value, through the binary.

use serde_json::{Value, json};

use crate::support::project::Project;

/// Creates a project with a module `m` of scripts and with these targets.
fn project(tasks: &[(&str, &str, Value)], targets: &[(&str, Value)]) -> Project {
    let mut project = Project::new();
    for (name, script, metadata) in tasks {
        project.write(&format!("modules/m/tasks/{name}.sh"), script);
        project.write(
            &format!("modules/m/tasks/{name}.json"),
            &metadata.to_string(),
        );
    }
    for (name, info) in targets {
        project.add_target(name, info.clone());
    }
    project
}

#[test]
fn results_are_those_of_bolt() {
    let project = project(
        &[
            ("text", "#!/bin/sh\necho \"$PT_message\"", json!({})),
            ("stdin", "#!/bin/sh\ngrep message", json!({})),
            ("fail", "#!/bin/sh\necho error\nexit 1", json!({})),
            (
                "told",
                "echo '{\"_error\": {\"msg\": \"no\", \"kind\": \"m/k\"}, \"a\": 1}'",
                json!({}),
            ),
            (
                "secret",
                "echo '{\"user\": \"someone\", \"_sensitive\": {\"p\": \"canary-1\"}}'",
                json!({}),
            ),
            (
                "noop",
                "echo \"noop $PT__noop\"",
                json!({"supports_noop": true}),
            ),
            (
                "default",
                "echo \"$PT_word\"",
                json!({"parameters": {"word": {"type": "String", "default": "standing"}}}),
            ),
        ],
        &[],
    );
    let default_error = json!({
        "kind": "puppetlabs.tasks/task-error", "issue_code": "TASK_ERROR",
        "msg": "The task errored with a code 1", "details": {"exitcode": 1, "exit_code": 1},
    });
    for (words, status, value) in [
        (
            "m::text message=hello",
            "success",
            json!({"_output": "hello\n"}),
        ),
        (
            "m::stdin message=hello",
            "success",
            json!({"message": "hello", "_task": "m::stdin"}),
        ),
        (
            "m::fail",
            "failure",
            json!({"_output": "error\n", "_error": default_error}),
        ),
        (
            "m::told",
            "failure",
            json!({"_error": {"msg": "no", "kind": "m/k", "details": {}}, "a": 1}),
        ),
        (
            "m::secret",
            "success",
            json!({"user": "someone", "_sensitive": "Sensitive [value redacted]"}),
        ),
        (
            "m::noop --noop",
            "success",
            json!({"_output": "noop true\n"}),
        ),
        (
            "m::default --params {\"word\":null}",
            "success",
            json!({"_output": "standing\n"}),
        ),
    ] {
        let run = project.devgate(&format!("task run {words} -t localhost --format json"));
        let item = &run.json()["items"][0];
        assert_eq!(
            [&item["status"], &item["value"]],
            [&json!(status), &value],
            "{words}"
        );
    }
}

#[test]
fn a_task_gets_its_target_checked_and_complete() {
    let project = project(
        &[("show", "#!/bin/sh\ncat", json!({"remote": true}))],
        &[
            (
                "sw1",
                json!({"remote-transport": "ssh_cli", "host": "192.0.2.1", "password": "canary-2",
                       "usr": "me", "prot": 1, "task-timeout": 60}),
            ),
            (
                "bad",
                json!({"remote-transport": "ssh_cli", "port": "abc", "timeout": "x"}),
            ),
            (
                "odd",
                json!({"remote-transport": "nobodys", "host": "192.0.2.2"}),
            ),
            (
                "odder",
                json!({"remote-transport": "nobodys", "host": "192.0.2.3"}),
            ),
        ],
    );
    let run = project.devgate("task run m::show -t sw1 --format json");
    let warnings = run.stderr.matches("warning").count();
    assert_eq!(warnings, 1, "{}", run.stderr);
    let run = run
        .succeeded()
        .shows(&["`usr`", "`user`", "`prot`", "`port`"]);
    let target = &run.json()["items"][0]["value"]["_target"];
    assert_eq!(
        [&target["usr"], &target["idle_timeout"], &target["host"]],
        [&json!("me"), &json!(30), &json!("192.0.2.1")]
    );
    project
        .devgate("task run m::show -t bad")
        .failed()
        .shows(&["port", "timeout", "host"]);
    project
        .devgate("task run m::show -t odd")
        .succeeded()
        .shows(&["`nobodys` is not known"]);
    let run = project.devgate("task run m::show -t odd,odder").succeeded();
    let notices = run.stderr.matches("is not known").count();
    assert_eq!(notices, 1, "{}", run.stderr);
}

#[test]
fn a_task_over_its_time_leaves_nothing() {
    let project = project(
        &[(
            "hang",
            "#!/bin/sh\necho begun\nsetsid sleep 600 &\ntrap '' TERM\nwhile :; do sleep 1; done",
            json!({"remote": true}),
        )],
        &[(
            "sw1",
            json!({"remote-transport": "ssh_cli", "host": "192.0.2.1", "task-timeout": 1}),
        )],
    );
    let run = project.devgate("task run m::hang -t sw1 --format json");
    let error = &run.json()["items"][0]["value"]["_error"];
    assert_eq!(error["kind"], "puppetlabs.tasks/timeout-error");
    assert_eq!(error["details"]["partial_output"], "begun\n");
    let remaining = std::fs::read_dir(project.path().join("tmp")).expect("the folder is there");
    let remaining: Vec<_> = remaining.flatten().map(|entry| entry.path()).collect();
    assert!(remaining.is_empty(), "{remaining:?}");
}
