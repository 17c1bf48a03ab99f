//! `restconf` against a real server, JetConf: over TLS with client certificates, and in plain text.

use serde_json::{Value, json};

use crate::support::lab::{command_for, lab, output, text};
use crate::support::project::Project;
use crate::support::run::Run;

/// Creates a project whose target `rc1` is the server behind TLS, with one of the lab's client
/// certificates.
fn project(identity: Option<&str>, authority: &str) -> Project {
    let lab = lab("restconf");
    let pki = |file: &str| format!("{}/{file}", text(&lab, "pki"));
    let mut project = Project::new();
    project.add_target(
        "rc1",
        json!({
            "remote-transport": "restconf", "host": text(&lab, "host"), "port": lab["tls_port"],
            "ssl_ca_file": pki(&format!("{authority}.pem")),
            "ssl_cert_file": identity.map(|name| pki(&format!("{name}.pem"))),
            "ssl_key_file": identity.map(|name| pki(&format!("{name}.key"))),
        }),
    );
    project
}

/// Creates a project for the plain-text server, which takes the user from a header, with additional
/// settings.
fn in_clear(more: Value) -> Project {
    let lab = lab("restconf");
    let mut info = json!({
        "remote-transport": "restconf", "protocol": "http", "host": text(&lab, "host"),
        "port": lab["clear_port"], "apikey_header": "x-ssl-client-cn", "apikey": "root",
    });
    for (key, value) in more.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    let mut project = Project::new();
    project.add_target("rc1", info);
    project
}

/// Runs a script in which `devgate` queries the server.
fn script(project: &mut Project, lines: &str) -> Run {
    let path = project.write("script.sh", lines);
    project.devgate(&format!("session run -t rc1 -- sh {}", path.display()))
}

fn data(project: &Project, what: &str) -> Value {
    let run = project.devgate(&format!("session get -t rc1 {what} --format json"));
    run.succeeded().json()["data"].clone()
}

#[test]
fn the_server_is_found_by_its_host_meta_and_reports_what_it_is() {
    let project = project(Some("client"), "ca");
    project.devgate("verify -t rc1").succeeded();
    let run = project.devgate("facts -t rc1 --format json");
    let facts = run.succeeded().item()["value"].clone();
    assert_eq!(
        facts,
        json!({
            "restconf": { "yang_library_version": "2016-06-21", "root": "/restconf" },
            "os": { "name": "JetConf", "release": { "full": "0.3.6" }, "architecture": "x86_64" },
            "networking": { "hostname": "rc1" },
        })
    );
}

#[test]
fn data_is_requested_by_paths_with_queries_and_keys_of_any_characters() {
    let project = project(Some("client"), "ca");
    let interface = data(
        &project,
        "ietf-interfaces:interfaces/interface=ge-0%2F0%2F0",
    );
    assert_eq!(
        interface["ietf-interfaces:interface"][0]["description"],
        "uplink"
    );
    let shallow = data(&project, "ietf-interfaces:interfaces?depth=1");
    assert_eq!(shallow, json!({ "ietf-interfaces:interfaces": {} }));
    let library = data(&project, "ietf-yang-library:modules-state");
    let modules = library["ietf-yang-library:modules-state"]["module"].as_array();
    assert!(
        modules.is_some_and(|modules| modules.len() == 8),
        "{library}"
    );
    let operations = data(&project, "operations");
    let operations = &operations["ietf-restconf:operations"];
    assert!(operations.get("ietf-system:system-restart").is_some());
    // A character that ends a path elsewhere is part of the key: no other interface is addressed.
    for key in ["ge-0%2F0%2F0#1", r"ge-0\0\0", "ge-9"] {
        let path = format!("ietf-interfaces:interfaces/interface={key}");
        let run = project.devgate(&format!("session get -t rc1 {path}"));
        run.failed()
            .shows(&["(404 Not Found, invalid-value)", "NonexistentInstance"]);
    }
}

#[test]
fn data_is_created_replaced_deleted_and_committed_by_an_operation() {
    for mut project in [
        project(Some("client"), "ca"),
        in_clear(json!({ "http2_only": true })),
    ] {
        let run = script(
            &mut project,
            r#"set -e
            list=ietf-interfaces:interfaces name=xe-1%2F1
            commit() { devgate session set operations/jetconf:conf-commit --method POST; }
            interface() { echo "{\"ietf-interfaces:interface\": {\"name\": \"xe-1/1\",
                \"type\": \"iana-if-type:ethernetCsmacd\", \"description\": \"$1\"}}"; }
            # A lab that has been tested before has it.
            devgate session set $list/interface=$name --method DELETE 2>/dev/null || true
            interface created | devgate session set $list - --method POST
            commit
            interface replaced | devgate session set $list/interface=$name - --method PUT
            commit
            devgate session get $list/interface=$name
            devgate session set $list/interface=$name --method DELETE
            commit
            devgate session get $list/interface=$name || echo deleted
            devgate session set operations/ietf-system:set-current-datetime --method POST \
                '{"ietf-system:input": {"current-datetime": "2026-11-22T00:00:00Z"}}'"#,
        );
        let run = run.succeeded().shows(&["NonexistentInstance", "deleted"]);
        assert_eq!(
            run.stdout.matches("\"conf-changed\": true").count(),
            3,
            "{run}"
        );
        assert_eq!(run.stdout.matches("\"replaced\"").count(), 1, "{run}");
    }
    let stored = format!("{}/tls/data.json", text(&lab("restconf"), "dir"));
    let stored = output(command_for("cat").arg(stored));
    assert!(
        stored.contains("ge-0/0/0") && !stored.contains("xe-1/1"),
        "{stored}"
    );
}

#[test]
fn what_the_server_refuses_is_reported_with_its_reason() {
    let mut root = project(Some("client"), "ca");
    let run = script(
        &mut root,
        r#"devgate session set ietf-system:system '{"ietf-system:system": {"contact": "x"}}'
        devgate session set ietf-system:system/hostname '{"ietf-system:hostname": 42}' --method PUT
        devgate session set ietf-system:system '<system/>' --method PUT
        devgate session set operations/nope:nope --method POST
        devgate session get bogus:x
        devgate session get /nowhere
        true"#,
    );
    run.succeeded().shows(&[
        "(405 Method Not Allowed, operation-not-supported)",
        "replace it with `--method PUT`",
        "(400 Bad Request, invalid-value): RawTypeError",
        "(at /ietf-system:system/hostname)",
        "JSONDecodeError",
        "NoHandlerForOpError",
        "(404 Not Found, invalid-value): NonexistentSchemaNode",
        "refuses `GET /nowhere` (404 Not Found)",
    ]);
    let guest = project(Some("guest"), "ca");
    guest
        .devgate("session get -t rc1 ietf-system:system/hostname")
        .succeeded();
    let change =
        r#"session set -t rc1 ietf-system:system/contact {"ietf-system:contact":"x"} --method PUT"#;
    guest
        .devgate(change)
        .failed()
        .shows(&["(403 Forbidden, access-denied)"]);
    let lent = change.replace(" -t rc1", "");
    let run = root.devgate(&format!("session run -t rc1 --noop -- devgate {lent}"));
    run.failed().shows(&["--noop", "was not sent"]);
}

#[test]
fn certificates_that_are_not_taken_are_reported_at_once() {
    for identity in [None, Some("stranger")] {
        let run = project(identity, "ca").devgate("verify -t rc1").failed();
        let run = run.shows(&[
            "rejects our certificate, or requires one",
            "`ssl_cert_file`",
        ]);
        assert!(!run.stderr.contains("try 2"), "{run}");
    }
    let run = project(Some("client"), "stranger")
        .devgate("verify -t rc1")
        .failed();
    run.shows(&["is not signed by a trusted authority"]);
}

#[test]
fn http_2_alone_is_spoken_in_clear_text_if_requested() {
    let project = in_clear(json!({ "http2_only": true }));
    project.devgate("verify -t rc1").succeeded();
    let run = in_clear(json!({})).devgate("verify -t rc1").failed();
    let run = run.shows(&["it speaks HTTP/2 alone: say `http2_only: true`"]);
    assert!(!run.stderr.contains("try 2"), "{run}");
}
