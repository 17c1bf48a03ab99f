//! Third-party modules that keep to their contract, in shell, Python and Ruby: their input, and the
//! handling of their results.

use std::fs;

use serde_json::json;

use crate::support::project::Project;
use crate::support::pxp::{run, wait_for_end};

#[test]
fn good_modules_of_all_languages_are_run() {
    let project = Project::new();
    for (words, results) in [
        (
            "greet greet --input {\"name\":\"Ada\"}",
            json!({ "greeting": "Hello Ada" }),
        ),
        (
            "reverse string --input {\"argument\":\"router\"}",
            json!({ "output": "retuor" }),
        ),
        (
            "tables wait --input {\"milliseconds\":300}",
            json!({ "waited": 300 }),
        ),
        (
            "tables rows --input {\"count\":2}",
            json!({ "rows": ["row 0 äöü", "row 1 äöü"] }),
        ),
        ("first_form nod", json!(true)),
        ("second_form nod", json!(true)),
        ("bare nothing", json!({})),
        ("bare quiet", json!({})),
        ("bare list", json!([1, "two", null])),
        ("bare pretty", json!({ "lines": 3 })),
        (
            "runner run --input {\"flags\":[\"--version\"]}",
            json!({ "kind": "apply", "status": "unchanged", "version": 1, "exitcode": 0 }),
        ),
    ] {
        let document = run(&project, "modules", &format!("run {words}"))
            .succeeded()
            .json();
        assert_eq!(document["results"], results, "{document:#}");
    }
    let large = run(
        &project,
        "modules",
        "run tables rows --input {\"count\":200000}",
    );
    let large = large.succeeded().json();
    assert_eq!(
        large.pointer("/results/rows/199999"),
        Some(&json!("row 199999 äöü"))
    );
}

#[test]
fn nothing_on_stdout_and_null_are_an_empty_object_as_they_are_to_the_agent() {
    let project = Project::new();
    let document = run(&project, "modules", "run bare null").failed().json();
    let message = document["_error"]["msg"].as_str().unwrap_or_default();
    assert!(
        message.contains("is read as {}: the value is not of type \"null\""),
        "{message}"
    );
}

#[test]
fn an_action_is_given_its_name_its_request_and_a_group_of_its_own() {
    let project = Project::new();
    let document = run(&project, "modules", "run tables given")
        .succeeded()
        .json();
    let arguments = &document["results"];
    assert_eq!(arguments["arguments"], json!(["given"]), "{arguments:#}");
    assert_eq!(
        arguments["keys"],
        json!(["input", "configuration"]),
        "{arguments:#}"
    );
    let configured = run(&project, "broken", "run loose_broken configured").succeeded();
    assert_eq!(configured.json()["results"], json!({ "configured": false }));
    for empty in [
        "conf_none keys",
        "loose_null configured",
        "loose_empty configured",
    ] {
        let document = run(&project, "broken", &format!("run {empty}"))
            .succeeded()
            .json();
        assert!(
            !document["results"].to_string().contains("configuration"),
            "{document:#}"
        );
    }
}

#[test]
fn results_that_fit_stand_beside_an_exit_code_that_says_otherwise() {
    let project = Project::new();
    let failing = "run tables fail --input {\"code\":4,\"message\":\"no-way\"}";
    let document = run(&project, "modules", failing).failed().json();
    assert_eq!(document["status"], "failure", "{document:#}");
    assert_eq!(document["exitcode"], 4, "{document:#}");
    assert_eq!(document["results"], json!({ "code": 4 }), "{document:#}");
    assert_eq!(document["stderr"], "no-way", "{document:#}");
    let message = document["_error"]["msg"].as_str().unwrap_or_default();
    assert!(message.contains("it ended with exit code 4"), "{message}");
}

#[test]
fn input_that_does_not_fit_starts_nothing() {
    let mut project = Project::new();
    let action = r#"{"name": "go", "description": "x", "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}, "results": {}}"#;
    let script = format!(
        "#!/bin/sh\n[ $1 = metadata ] || touch {}/started\necho '{{\"description\": \"x\", \"actions\": [{action}]}}'\n",
        project.path().display()
    );
    let file = project.write("modules.d/counter", &script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(file, executable).expect("it is ours");
    for (input, report) in [
        ("{}", "\"n\" is a required property"),
        ("{\"n\":\"a-canary\"}", "at `/n`"),
        ("{\"n\":1,\"m\":\"a-canary\"}", "'m' was unexpected"),
        ("[\"a-canary\"]", "the value is not of type \"object\""),
        ("{\"n\":a-canary}", "--input: expected a JSON object"),
    ] {
        // On a command line, other tests would see it.
        project.write("input.json", input);
        let refused = project.devgate(
            "pxp run counter go --modules-dir modules.d --input @input.json --format json",
        );
        let document = refused.failed().json();
        assert_eq!(
            document["_error"]["kind"], "devgate/invalid-input",
            "{document:#}"
        );
        let message = document["_error"]["msg"].as_str().unwrap_or_default();
        assert!(message.contains(report), "{input}: {message}");
    }
    assert!(
        !project.path().join("started").exists(),
        "an action was started"
    );
}

#[test]
fn schemas_of_every_draft_mean_what_they_mean_there() {
    let project = Project::new();
    for draft in [
        "draft4",
        "draft6",
        "draft7",
        "draft2019",
        "draft2020",
        "unsaid",
        "unsaid_new",
        "draft3",
    ] {
        let input = |n: u32| format!("run drafts {draft} --input {{\"n\":{n}}}");
        let document = run(&project, "modules", &input(9)).succeeded().json();
        assert_eq!(document["results"], json!({ "n": 9 }), "{draft}");
        let document = run(&project, "modules", &input(10)).failed().json();
        assert_eq!(
            document["_error"]["kind"], "devgate/invalid-input",
            "{document:#}"
        );
    }
    for wrong in [
        "draft2019 --input {\"m\":1}",
        "draft2020 --input {\"pair\":[\"a\",2]}",
    ] {
        run(&project, "modules", &format!("run drafts {wrong}")).failed();
    }
}

#[test]
fn good_modules_answer_in_files_too() {
    let project = Project::new();
    let nonblocking = |id: &str, words: &str| {
        let spool = format!("--nonblocking --transaction {id} --spool-dir spool");
        run(&project, "modules", &format!("run {words} {spool}")).succeeded();
        wait_for_end(&project, id, "spool")
    };
    for (id, words, results) in [
        (
            "shell",
            "greet greet --input {\"name\":\"Ada\"}",
            json!({ "greeting": "Hello Ada" }),
        ),
        (
            "python",
            "tables rows --input {\"count\":1}",
            json!({ "rows": ["row 0 äöü"] }),
        ),
        (
            "ruby",
            "runner run --input {\"flags\":[\"--version\"]}",
            json!({ "kind": "apply", "status": "unchanged", "version": 1, "exitcode": 0 }),
        ),
    ] {
        let report = nonblocking(id, words);
        assert_eq!(report["status"], "success", "{report:#}");
        assert_eq!(report["results"], results, "{report:#}");
    }
    // Its results match the schema, and describe the failure.
    let report = nonblocking(
        "failing",
        "tables fail --input {\"code\":4,\"message\":\"no-way\"}",
    );
    assert_eq!(report["status"], "failure", "{report:#}");
    assert_eq!(
        [&report["results"], &report["stderr"]],
        [&json!({ "code": 4 }), &json!("no-way")]
    );
    let report = nonblocking(
        "unwritten",
        "tables fail --input {\"code\":5,\"message\":\"\"}",
    );
    assert_eq!(
        report["_error"]["msg"], "failed to write output on file",
        "{report:#}"
    );
}
