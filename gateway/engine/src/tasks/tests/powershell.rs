//! PowerShell scripts, run by a stand-in that reports how it was called.

use serde_json::json;

use super::*;

/// Reports its arguments, its stdin, and its environment.
const STUB: &str = r#"#!/usr/bin/env python3
import json, os, sys
env = {k: v for k, v in os.environ.items() if k.startswith("PT_")}
print(json.dumps({"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": env}))
"#;

/// Creates a run of a PowerShell script, with the stand-in as its interpreter.
fn run(file: &str) -> Run {
    let mut run = Run::named(file, "param($Name)\n").file("bin/files/pwsh", STUB);
    let pwsh = run.modules.path().join("bin/files/pwsh");
    let words = ["python3".to_owned(), pwsh.display().to_string()];
    run.settings.interpreters = vec![("ps1".to_owned(), words.to_vec())];
    run
}

fn argv(value: &Json) -> Vec<&str> {
    let words = value["argv"].as_array().expect("a list");
    words.iter().filter_map(Json::as_str).collect()
}

#[tokio::test]
async fn parameters_become_arguments_inside_and_are_on_no_command_line() {
    let value = run("t.ps1")
        .metadata(json!({"parameters": {"name": {"type": "String", "sensitive": true}}}))
        .parameters(json!({"name": "canary"}))
        .value()
        .await;
    let argv = argv(&value);
    assert_eq!(argv[..3], ["-NoProfile", "-NonInteractive", "-Command"]);
    assert!(
        argv[3].starts_with("$script = '/") && argv[3].contains("/t.ps1'\n"),
        "{argv:?}"
    );
    assert!(argv.len() == 4 && !argv[3].contains("canary"), "{argv:?}");
    let stdin: Json = serde_json::from_str(value["stdin"].as_str().expect("a text")).expect("JSON");
    assert_eq!(stdin, json!({"name": "canary", "_task": "m::t"}));
    assert_eq!(value["env"], json!({}));
}

#[tokio::test]
async fn another_input_method_runs_the_script_as_a_file() {
    let value = run("t.ps1")
        .metadata(json!({"input_method": "environment"}))
        .parameters(json!({"name": "x"}))
        .value()
        .await;
    let argv = argv(&value);
    assert_eq!(argv[..3], ["-NoProfile", "-NonInteractive", "-File"]);
    assert!(argv.len() == 4 && argv[3].ends_with("/t.ps1"), "{argv:?}");
    assert_eq!(value["env"]["PT_name"], "x");
}

#[tokio::test]
async fn a_task_that_says_powershell_is_its_whatever_its_extension() {
    let mut run = run("t.txt").metadata(json!({"input_method": "powershell"}));
    let words = run.settings.interpreters[0].1.clone();
    run.settings.interpreters.push(("txt".to_owned(), words));
    assert_eq!(argv(&run.value().await)[2], "-Command");
}
