//! The tools for who writes a family: skeletons, schemas, lint, tables of attributes, and tests that run again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::folder::{Project, document, messages_of};

/// A project with a new family.
fn project() -> Project {
    let project = Project::new();
    let words = [
        "family",
        "new",
        "acme",
        "--protocol",
        "ssh_cli",
        "--format",
        "json",
    ];
    let made = document(&project.devgate(&words));
    let folder = made["folder"].as_str().expect("it says where");
    assert!(folder.ends_with("modules/acme/devices/acme"), "{folder}");
    project
}

fn json_of(project: &Project, words: &[&str]) -> Value {
    document(&project.devgate(&[words, &["--format", "json"]].concat()))
}

#[test]
fn a_new_family_passes_its_test_and_nothing_is_overwritten() {
    let project = project();
    let tested = json_of(&project, &["family", "test", "acme"]);
    assert_eq!(
        (&tested["passed"], &tested["failed"]),
        (&json!(3), &json!(0)),
        "{tested}"
    );
    let linted = json_of(&project, &["family", "lint", "acme"]);
    assert_eq!(linted, json!({ "families": ["acme"], "findings": [] }));
    let again = project.devgate(&["family", "new", "acme", "--protocol", "ssh_cli"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(messages_of(&again).contains("exists already"));
    let wrong = project.devgate(&["family", "new", "other", "--protocol", "ssh"]);
    assert!(messages_of(&wrong).contains("there is no protocol `ssh`"));
}

#[test]
fn lint_locates_what_it_finds_and_fails() {
    let project = project();
    let path = project
        .0
        .path()
        .join("modules/acme/devices/acme/types/acme_vlan.yaml");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(
        &path,
        text.replace("example: { 30: { name: guests } }\n", ""),
    )
    .expect("written");
    let output = project.devgate(&["family", "lint", "acme"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("types/acme_vlan.yaml:3:1: there is no `example`"),
        "{text}"
    );
    assert!(text.ends_with("[no-example]\n1 finding\n"), "{text}");
    let findings = json_of(&project, &["family", "lint", "acme"])["findings"].clone();
    assert_eq!(
        (&findings[0]["rule"], &findings[0]["line"]),
        (&json!("no-example"), &json!(3))
    );
}

#[test]
fn schemas_of_all_files_are_printed() {
    let project = Project::new();
    for (file, key) in [
        ("family", "dialect"),
        ("type", "attributes"),
        ("case", "changes"),
    ] {
        let schema = document(&project.devgate(&["family", "schema", file]));
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        // A type that is not like another one.
        let whole = schema.get("else").unwrap_or(&schema);
        assert!(whole["properties"][key].is_object(), "{schema}");
        jsonschema::validator_for(&schema).expect("it is a schema");
    }
}

#[test]
fn a_table_of_attributes_becomes_types() {
    let project = project();
    project.write(
        "acme_port.csv",
        "name,type,behaviour,desc\nname,String,namevar,Its name.\nmtu,Optional[Integer],,\"Its MTU, in bytes.\"\n",
    );
    let words = ["type", "import", "acme_port.csv", "--family", "acme"];
    let output = project.devgate(&words);
    assert!(output.status.success(), "{}", messages_of(&output));
    let shown = json_of(&project, &["type", "show", "acme/acme_port"]);
    assert_eq!(shown["attributes"]["mtu"]["desc"], "Its MTU, in bytes.");
    assert!(messages_of(&project.devgate(&words)).contains("nothing was written"));
    let unknown = project.devgate(&[&words[..], &["--type", "acme_prt"]].concat());
    assert!(messages_of(&unknown).contains("did you mean `acme_port`?"));
    let built_in = project.devgate(&["type", "import", "acme_port.csv", "--family", "frr"]);
    assert!(messages_of(&built_in).contains("is built in"));
}

#[test]
fn a_watched_family_is_tested_again_when_a_file_changes() {
    let project = project();
    let mut command = project.command(&["family", "test", "acme", "--watch", "--format", "jsonl"]);
    let mut watching = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("it is piped")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("another test").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    };
    assert_eq!(next()["failed"], 0);
    let case = "modules/acme/devices/acme/cases/acme_vlan_read";
    project.write(&format!("{case}/show vlan.txt"), "10 other\n");
    let again = next();
    assert_eq!(
        (&again["passed"], &again["failed"]),
        (&json!(2), &json!(1)),
        "{again}"
    );
    // A family that is broken for a while is no reason to stop.
    let file = "modules/acme/devices/acme/family.yaml";
    let text = fs::read_to_string(project.0.path().join(file)).expect("it is there");
    project.write(
        file,
        &text.replace("protocol: ssh_cli", "protocol: shh_cli"),
    );
    let message = next()["_error"]["msg"].clone();
    assert!(
        message
            .as_str()
            .is_some_and(|it| it.contains("did you mean `ssh_cli`?")),
        "{message}"
    );
    project.write(file, &text);
    assert_eq!(next()["passed"], 2);
    let pid = i32::try_from(watching.id()).expect("a small number");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it runs");
    assert!(watching.wait().expect("it ends").success());
    let built_in = project.devgate(&["family", "test", "frr", "--watch"]);
    assert!(messages_of(&built_in).contains("is built in"));
}
