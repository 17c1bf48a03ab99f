//! The stand-in for pxp-agent with modules in shell, Python and Ruby: it loads, calls and judges modules as
//! the agent does.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::pxp_agent::Agent;

fn agent(modules: &str, spool: &Path) -> Agent {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/pxp");
    Agent::start(&folder.join(modules), &folder.join("config"), spool)
}

#[test]
fn it_loads_what_answers_to_metadata_without_a_word_on_stderr() {
    let spool = tempfile::tempdir().expect("a temporary folder can be made");
    let agent = agent("modules", spool.path());
    let loaded = [
        "bare",
        "careless",
        "drafts",
        "greet",
        "reverse",
        "runner",
        "second_form",
        "tables",
    ];
    assert_eq!(agent.modules(), loaded);
    assert_eq!(agent.actions("reverse"), ["raise", "string"]);
    let why = agent.failed.get("first_form").map(String::as_str);
    assert_eq!(why, Some("failed to load external module metadata"));
    assert_eq!(agent.failed.len(), 1, "{:?}", agent.failed);
}

#[test]
fn it_calls_them_on_their_streams_and_in_files() {
    let spool = tempfile::tempdir().expect("a temporary folder can be made");
    let agent = agent("modules", spool.path());
    let greeting = json!({ "greeting": "Hello Ada" });
    let cases: [(&str, &str, Value, Value); 3] = [
        ("greet", "greet", json!({ "name": "Ada" }), greeting),
        (
            "tables",
            "rows",
            json!({ "count": 1 }),
            json!({ "rows": ["row 0 äöü"] }),
        ),
        ("bare", "list", json!({}), json!([1, "two", null])),
    ];
    for (module, action, input, results) in cases {
        let response = agent.run(module, action, &input).expect("it is run");
        assert_eq!(response.succeeded(), &results);
        if module != "bare" {
            let response = agent.run_in_files(module, action, &input, module);
            let response = response.expect("it is run");
            assert_eq!(response.succeeded(), &results);
            response.assert_file_order();
        }
    }
    let failing = json!({ "code": 3, "message": "no way" });
    let response = agent.run_in_files("tables", "fail", &failing, "failing");
    let response = response.expect("it is run");
    assert_eq!(response.failed(), &json!({ "code": 3 }));
    assert_eq!(response.stdout, "{\"code\": 3}\n");
    assert_eq!(response.stderr, "no way");
    let unwritten = agent.run_in_files(
        "tables",
        "fail",
        &json!({ "code": 5, "message": "" }),
        "five",
    );
    assert_eq!(
        unwritten.map(|response| response.exitcode),
        Err("failed to write output on file".to_owned())
    );
}

#[test]
fn it_refuses_what_does_not_fit() {
    let spool = tempfile::tempdir().expect("a temporary folder can be made");
    let agent = agent("modules", spool.path());
    for (module, action, input, expected) in [
        ("nobody", "greet", json!({}), "unknown module: nobody"),
        (
            "greet",
            "part",
            json!({}),
            "unknown action 'part' for module 'greet'",
        ),
        (
            "greet",
            "greet",
            json!({ "name": 1 }),
            "invalid input for 'greet greet'",
        ),
    ] {
        let refused = agent
            .run(module, action, &input)
            .map(|response| response.exitcode);
        assert_eq!(refused, Err(expected.to_owned()));
    }
}

#[test]
fn it_has_no_limit_and_no_way_to_cancel_but_the_pid_file() {
    let spool = tempfile::tempdir().expect("a temporary folder can be made");
    let agent = agent("modules", spool.path());
    let hour = json!({ "milliseconds": 3_600_000 });
    let ongoing = agent
        .begin("tables", "wait", &hour, "long")
        .expect("it is begun");
    ongoing.signal(Signal::SIGTERM);
    let response = ongoing.finish().expect("it is no code 5");
    assert_eq!(response.exitcode, None);
    assert!(
        !response.is_success()
            && response.written == ["create pid.part", "write pid.part", "rename pid"]
    );
}
