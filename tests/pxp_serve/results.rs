//! Any answer of a task yields results that match the metadata; targets, numbers and inventories of any
//! kind.

use serde_json::json;

use super::module::Module;

#[test]
fn whatever_a_task_answers_fits_the_results() {
    let mut module = Module::new();
    module.targets(&["sw1".to_owned()]);
    for (index, (script, code)) in [
        ("exit 2", 1),
        ("kill -9 $$", 1),
        ("printf '\\377'", 1),
        ("echo text", 0),
        (
            "echo '{\"_error\": {\"msg\": 1, \"kind\": 2, \"details\": 3, \"more\": []}}'",
            1,
        ),
        ("echo '{\"_error\": \"a text\"}'", 1),
        (
            "echo '{\"_file\": \"running-config\", \"octets\": 18446744073709551615}'",
            0,
        ),
        ("echo '{\"_file\": {\"path\": \"x\"}, \"_output\": [1]}'", 0),
        ("echo '[1, 2]'", 0),
        ("echo '{\"_sensitive\": {\"a\": \"canary-1\"}}'", 0),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("odd{index}");
        module.task(&name, &format!("#!/bin/sh\n{script}\n"));
        let request = module.request(json!({ "targets": "sw1", "task": format!("m::{name}") }));
        let run = module.call("run_task", &request);
        assert_eq!(run.code(), Some(code), "{script}: {run}");
    }
}

#[test]
fn an_action_of_no_target_has_failed() {
    let mut module = Module::new();
    for (targets, configuration) in [("all", json!({ "project": "/" })), (" , ", json!({}))] {
        let request = json!({ "input": { "targets": targets }, "configuration": configuration });
        let run = module.call("verify", &request).failed();
        assert_eq!(run.json()["_error"]["kind"], "devgate/no-targets", "{run}");
    }
}

#[test]
fn an_inventory_may_hold_any_character() {
    let mut module = Module::new();
    let odd = "canary \u{7f}\u{80}\u{85}\u{2028}\u{feff}\u{fffe}\u{1f511} \" \\ : # {";
    let mut request = module.request(json!({ "targets": "sw1" }));
    request["configuration"]["inventory"] = json!({"targets": [{
        "name": "sw1",
        "config": {"transport": "remote", "remote":
            {"remote-transport": "frr", "host": "127.0.0.1", "port": 1, "user": "u", "password": odd}},
    }]});
    let run = module.call("verify", &request).failed();
    let error = &run.item()["value"]["_error"];
    assert_eq!(error["kind"], "puppetlabs.tasks/connect-error", "{run}");
}

#[test]
fn a_number_that_is_too_large_is_reported_with_its_location() {
    let mut module = Module::new();
    let mut request = module.request(json!({ "targets": "sw1", "cached": 99_999_999_999_u64 }));
    let run = module.call("facts", &request).failed();
    run.shows(&["`/cached`"]);
    request["input"] = json!({ "targets": "sw1" });
    request["configuration"]["limits"] = json!({ "time": 99_999_999_999_u64 });
    let run = module.call("facts", &request).failed();
    run.shows(&["`/limits/time`"]);
}
