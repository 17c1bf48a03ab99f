//! Module programs that break their contract in every way, and how they are terminated.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::programs::{PASSWORD, is_running, program, project, transport};
use crate::support::run::Run;

#[test]
fn a_program_that_breaks_its_contract_is_reported_by_file_action_and_what_was_expected() {
    let once = [
        (
            "true",
            "expected one JSON object on stdout, it wrote nothing",
        ),
        (
            "echo 'hello canary'",
            "expected one JSON object on stdout: expected value at line 1",
        ),
        ("echo '[]'", "it wrote other JSON"),
        (
            "echo \"it is $(cat) down\" >&2; exit 3",
            "down (it ended with exit code 3)",
        ),
        (
            "exit 3",
            "it ended with exit code 3, with nothing on stderr",
        ),
        ("kill -9 $$", "it was ended by signal 9"),
        (
            "sleep 600",
            "it gave no results within 1 s (`task-timeout`)",
        ),
        // The program need not exit by itself, and its timeout is not awaited.
        ("yes", "it wrote more than 2000 bytes (`output-limit`)"),
        (
            "head -c 5000 /dev/zero",
            "it wrote more than 2000 bytes (`output-limit`)",
        ),
        (
            "echo '{\"_error\": {\"msg\": \"the pipe is cut\"}}'",
            "the pipe is cut",
        ),
        (
            "echo '{\"events\": [{\"level\": \"loud\", \"message\": \"x\"}]}'",
            "an event is an object of `level`",
        ),
        ("echo '{\"facts\": []}'", "expected `facts` as an object"),
    ];
    let staying = [
        (
            "read l; exit 7",
            "it ended with exit code 7 instead of answering",
        ),
        ("read l; echo \"no $l\" >&2; exit 7", "no {"),
        (
            "read l; kill -9 $$",
            "it was ended by SIGKILL instead of answering",
        ),
        ("read l; echo hello; sleep 600", "expected a line of JSON"),
        (
            "read l; echo '{\"id\": 9, \"results\": {}}'; sleep 600",
            "the request is 1, the line has another",
        ),
        (
            "read l; sleep 600",
            "it gave no results within 1 s (`task-timeout`)",
        ),
        ("yes", "expected a line of JSON"),
        (
            "read l; yes '{\"id\": 1, \"event\": {\"level\": \"debug\", \"message\": \"x\"}}'",
            "within 1 s",
        ),
        (
            "read l; head -c 5000 /dev/zero; sleep 600",
            "a line of more than 2000 bytes (`output-limit`)",
        ),
        (
            "read l; echo '{\"id\": 1, \"error\": {\"msg\": \"the pipe is cut\"}}'; sleep 600",
            "the pipe is cut",
        ),
        (
            "read l; echo '{\"id\": 1, \"results\": {}}'; read l",
            "expected `facts` as an object",
        ),
    ];
    let all = once
        .map(|case| (false, case))
        .into_iter()
        .chain(staying.map(|case| (true, case)));
    for (stays, (script, expected)) in all {
        let script = format!("echo $$ > pid; {script}");
        let mut project = project(&[]);
        let path = program(&mut project, "transport", &transport(stays, &script));
        let target = if expected.contains("within") {
            "hasty"
        } else {
            "t"
        };
        let failed = project
            .devgate(&format!("facts -t {target} --format json"))
            .failed();
        let words = failed.item()["value"]["_error"]["msg"].to_string();
        assert!(words.contains(expected), "{script}: {words}");
        assert!(
            words.contains(&format!("{} facts: ", path.display())),
            "{script}: {words}"
        );
        let pid = fs::read_to_string(project.path().join("pid")).expect("it was started");
        assert!(!is_running(&pid), "{script} still runs");
    }
}

#[test]
fn a_program_that_does_not_say_what_it_is_stops_only_those_who_ask_for_it() {
    let schema = |definition: &str| format!("#!/bin/sh\necho '{definition}'\n");
    let good = transport(false, "echo '{}'");
    let kind = |name: &str| {
        schema(&format!(
            r#"{{"name": "{name}", "desc": "x", "attributes": {{"name": {{"type": "String", "behaviour": "namevar"}}}}}}"#
        ))
    };
    let family = "name: bad\ndesc: x\nprotocol: rest\n";
    for (programs, expected) in [
        (
            vec![("transport", schema("no"))],
            "transport schema: expected one JSON object on stdout",
        ),
        (
            vec![(
                "transport",
                schema(r#"{"name": "good", "desc": "x", "connection_info": {}}"#),
            )],
            "it calls itself `good`: expected `bad`",
        ),
        (
            vec![("transport", schema(r#"{"name": "bad"}"#))],
            "requires `:connection_info`",
        ),
        (
            vec![(
                "transport",
                schema(
                    r#"{"name": "bad", "desc": "x", "persistent": "yes", "connection_info": {}}"#,
                ),
            )],
            "`persistent` as true or false",
        ),
        (
            vec![("transport", "echo '{}'\n".to_owned())],
            "a script begins with `#!`",
        ),
        (
            vec![("transport", "#!/no/such/interpreter\n".to_owned())],
            "is the interpreter in its first line (`#!`) installed?",
        ),
        (
            vec![
                ("transport", good.clone()),
                ("types/a_port", kind("b_port")),
            ],
            "it calls itself `b_port`: expected `a_port`",
        ),
        (
            vec![
                ("transport", good.clone()),
                ("family.yaml", family.to_owned()),
            ],
            "is beside a family.yaml",
        ),
        (
            vec![
                ("family.yaml", family.to_owned()),
                (
                    "types/a_port",
                    schema(r#"{"name": "a_port", "attributes": {"name": {"type": "Strang"}}}"#),
                ),
            ],
            "a_port schema: at attributes.name",
        ),
    ] {
        let programs: Vec<_> = programs
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let project = project(&programs);
        project
            .devgate("verify -t t")
            .failed()
            .shows(&["family `bad` cannot be used: ", expected]);
        project
            .devgate("family list")
            .succeeded()
            .shows(&["family of `bad`: ", expected, "frr "]);
        project.devgate("transport show frr").succeeded();
    }
    let mut project = project(&[("transport", good.as_str())]);
    project.write("modules/m/devices/bad/types/a_port", &kind("a_port"));
    project
        .devgate("verify -t t")
        .failed()
        .shows(&["types/a_port is not executable"]);
}

/// Returns a program of the type `a_port`, persistent or not, that gives the same answer to everything.
fn kind(stays: bool, results: &str) -> String {
    let script = r#"#!/bin/sh
case $1 in
schema) echo '{"name": "a_port", "desc": "x", "persistent": STAYS, "features": ["remote_resource", "canonicalize"],
    "attributes": {"name": {"type": "String", "behaviour": "namevar"}, "key": {"type": "Optional[String]", "sensitive": true}}}';;
serve) while read -r line; do id=$((id + 1)); printf '{"id": %d, "results": %s}\n' $id 'RESULTS'; done;;
*) echo 'RESULTS';;
esac
"#;
    let script = script.replace("STAYS", &stays.to_string());
    script.replace("RESULTS", results)
}

#[test]
fn rows_that_do_not_keep_to_their_type_are_reported() {
    for stays in [false, true] {
        for (results, expected) in [
            (
                r#"{"resources": [{"name": 5, "key": "canary"}]}"#,
                "name: 5 (expects a String value, got Integer)",
            ),
            (
                r#"{"resources": [{"name": "a", "key": ["canary"]}]}"#,
                "key",
            ),
            (
                r#"{"resources": [{"name": "a", "colour": "red"}]}"#,
                "colour",
            ),
            (
                r#"{"resources": ["a"]}"#,
                "a_port get: expected `resources` as a list of objects",
            ),
            (
                "{}",
                "a_port get: expected `resources` as a list of objects",
            ),
        ] {
            let transport = transport(false, "echo '{}'");
            let project = project(&[
                ("transport", &transport),
                ("types/a_port", &kind(stays, results)),
            ]);
            project
                .devgate("device -t t --resource a_port")
                .failed()
                .shows(&[expected]);
        }
        let transport = transport(false, "echo '{}'");
        let kind = kind(stays, r#"{"resources": []}"#);
        let mut project = project(&[("transport", &transport), ("types/a_port", &kind)]);
        let manifest = project.manifest(json!({ "a_port": { "x": {} } }));
        project
            .devgate(&format!("device -t t --apply {manifest}"))
            .failed()
            .shows(&[
                "a_port canonicalize: expected as many `resources` as it was given, 1, it gave 0",
            ]);
    }
}

#[test]
fn who_stops_a_run_ends_its_programs() {
    let script = "read l; echo $$ > pid; echo '{\"id\": 1, \"event\": {\"level\": \"notice\", \"message\": \"begun\"}}'; \
                  sleep 600 & wait";
    let mut project = project(&[("transport", &transport(true, script))]);
    let info = json!({ "remote-transport": "bad", "password": PASSWORD });
    project.add_target("slow", info);
    let mut run = project.start("verify -t slow");
    run.wait_for("begun");
    run.signal(Signal::SIGINT);
    run.wait_for("a second Ctrl-C kills");
    run.signal(Signal::SIGINT);
    let run = run.finish();
    assert_eq!(run.code(), Some(130), "{run}");
    let pid = fs::read_to_string(project.path().join("pid")).expect("it was started");
    assert!(!is_running(&pid), "it still runs");
}

#[test]
fn a_row_that_is_wrong_hides_no_other() {
    let rows = r#"{"resources": [{"name": "a"}, {"name": "b", "colour": "red"}, {"name": "c"}]}"#;
    let transport = transport(false, "echo '{}'");
    let project = project(&[
        ("transport", &transport),
        ("types/a_port", &kind(false, rows)),
    ]);
    let names = |run: &Run| -> Vec<String> {
        let output = run.item()["value"]["resources"].clone();
        let output = output.as_array().expect("resources").iter();
        output.map(|row| row["name"].to_string()).collect()
    };
    let show = "device -t t --resource a_port --format json";
    let some = project.devgate(show);
    assert_eq!(some.code(), Some(1), "{some}");
    assert_eq!(names(&some), [r#""a""#, r#""c""#]);
    let error = &some.item()["value"]["_error"];
    assert_eq!(error["kind"], "devgate/invalid-resource", "{some}");
    assert!(error["msg"].to_string().contains("colour"), "{some}");
    let warned = project
        .devgate(&format!("{show} --rows warning"))
        .succeeded();
    assert_eq!(names(&warned).len(), 3);
    let warned = warned.shows(&["warning", "colour"]);
    assert!(warned.item()["value"].get("_error").is_none(), "{warned}");
    assert_eq!(
        names(&project.devgate(&format!("{show} --rows off")).succeeded()).len(),
        3
    );
    project
        .devgate("device -t t --resource a_port c")
        .succeeded()
        .shows(&["'c'"]);
    let one = project.devgate("device -t t --resource a_port b").failed();
    one.shows(&["colour"]);
    project
        .devgate("device -t t --resource a_port d")
        .failed()
        .shows(&["there is no a_port[d]"]);
}
