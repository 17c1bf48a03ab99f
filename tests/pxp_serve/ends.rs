//! Ending an action: by its timeout, or by SIGTERM at any moment. It answers nevertheless, and leaves no
//! process behind.

use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::module::{Module, end, fits};
use crate::support::programs::program;
use crate::support::run::{Run, Running};

/// Ignores the termination signal, has children, and writes their process IDs.
const STUBBORN: &str = "trap '' TERM; sleep 300 & echo $$ $! >\"$PT_dir/begun\"; \
                        while :; do wait; sleep 1; done\n";

/// Creates a module with a task that does not end, and the request for it.
fn module() -> (Module, Value) {
    let mut module = Module::new();
    module.task("stay", STUBBORN);
    module.targets(&["sw1".to_owned(), "sw2".to_owned()]);
    let input = json!({"targets": "all", "concurrency": 1, "task": "m::stay",
        "parameters": {"dir": module.path()}});
    let request = module.request(input);
    (module, request)
}

/// Returns the error messages of the two targets.
fn messages(run: &Run) -> [String; 2] {
    [0, 1].map(|at| {
        let message = run.json()["items"][at]["value"]["_error"]["msg"].clone();
        message
            .as_str()
            .unwrap_or_else(|| panic!("{run}"))
            .to_owned()
    })
}

#[test]
fn an_action_that_takes_too_long_is_ended_and_says_so() {
    let (mut module, mut request) = module();
    request["configuration"]["limits"] = json!({ "time": 1 });
    let run = module.call("run_task", &request);
    assert_eq!(run.code(), Some(142), "{run}");
    let [first, second] = messages(&run);
    let expected = "timed out after 1 s (configuration `limits.time`)";
    assert!(first.contains(expected), "{run}");
    assert_eq!(second, format!("{expected}: nothing was done"));
    assert_eq!(
        run.json()["_error"]["msg"],
        format!("the run {expected}"),
        "{run}"
    );
    end(&module.wait_for("begun"));
}

#[test]
fn sigterm_ends_a_task_that_ignores_it_and_the_files_report_it() {
    let (mut module, mut request) = module();
    let file = |name: &str| module.path().join(name);
    request["output_files"] =
        json!({"stdout": file("out"), "stderr": file("err"), "exitcode": file("code")});
    let running = module.start("run_task", &request);
    let processes = module.wait_for("begun");
    running.signal(Signal::SIGTERM);
    assert_eq!(module.wait_for("code"), "143\n");
    let results: Value = serde_json::from_str(&module.wait_for("out")).expect("it is JSON");
    assert_eq!(
        results["_error"]["msg"], "the run was interrupted by SIGTERM",
        "{results}"
    );
    assert_eq!(results["target_count"], 2, "{results}");
    assert!(module.wait_for("err").contains("no new target starts"));
    assert_eq!(running.finish().code(), Some(143));
    end(&processes);
}

#[test]
fn sigterm_is_answered_while_the_request_is_read() {
    let module = Module::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = module.command(&["verify"]);
    command.stdin(Stdio::from(reader));
    let running = Running::start(command);
    running.wait_for_handler(Signal::SIGTERM);
    running.signal(Signal::SIGTERM);
    let run = running.finish();
    assert_eq!(run.code(), Some(143), "{run}");
    fits("verify", &run);
    run.shows(&["interrupted while the request was read"]);
    drop(writer);
}

#[test]
fn sigterm_is_answered_while_an_inventory_or_a_family_is_read() {
    let mut module = Module::new();
    let start_file = module.path().join("begun");
    let script = format!(
        "#!/bin/sh\nsleep 300 & echo $$ $! >{}; wait\n",
        start_file.display()
    );
    module.project.write("modules/m/tasks/look.sh", &script);
    let inventory = json!({"targets": [{"name": "sw1", "config": {"transport": "remote", "remote":
        {"_plugin": "task", "task": "m::look"}}}]});
    let mut plugin = module.request(json!({"targets": "sw1"}));
    plugin["configuration"]["inventory"] = inventory;
    program(&mut module.project, "transport", &script);
    module
        .project
        .add_target("sw2", json!({"remote-transport": "bad"}));
    let family = module.request(json!({"targets": "sw2"}));
    for request in [plugin, family] {
        let running = module.start("verify", &request);
        let processes = module.wait_for("begun");
        running.signal(Signal::SIGTERM);
        let run = running.finish();
        assert_eq!(run.code(), Some(143), "{run}");
        fits("verify", &run);
        end(&processes);
        std::fs::remove_file(&start_file).expect("it is there");
    }
}
