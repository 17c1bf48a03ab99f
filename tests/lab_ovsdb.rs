//! OVSDB through the binary, against the database server of Open vSwitch.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::lab::{lab, pause, text};
use crate::support::ovsdb::{self, Server};
use crate::support::project::Project;

fn pki(lab: &Value, file: &str) -> String {
    format!("{}/{file}", text(lab, "pki"))
}

/// Returns the connection info for the three ways to reach the lab's server.
fn variants(lab: &Value) -> [(&'static str, Value); 3] {
    let tcp = json!({
        "remote-transport": "ovsdb", "protocol": "tcp", "host": "127.0.0.1",
        "port": lab["tcp_port"],
    });
    let ssl = json!({
        "remote-transport": "ovsdb", "host": "127.0.0.1", "port": lab["ssl_port"],
        "ssl_ca_file": pki(lab, "ca.pem"), "ssl_cert_file": pki(lab, "client.pem"),
        "ssl_key_file": pki(lab, "client.key"),
    });
    let unix = json!({
        "remote-transport": "ovsdb", "protocol": "unix", "socket": lab["socket"],
    });
    [("tcp", tcp), ("ssl", ssl), ("unix", unix)]
}

/// Creates a project whose target `sw` is the lab's server over TLS, with additional settings.
fn project(lab: &Value, settings: Value) -> Project {
    let [_, (_, mut info), _] = variants(lab);
    for (key, value) in settings.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    let mut project = Project::new();
    project.add_target("sw", info);
    project
}

/// Queries the server without devgate.
fn vsctl(lab: &Value, arguments: &[&str]) -> String {
    ovsdb::vsctl(text(lab, "socket").as_ref(), arguments)
}

/// Returns a transaction that adds a bridge, without blanks.
fn add_bridge(name: &str) -> String {
    let insert = json!({
        "op": "insert", "table": "Bridge", "uuid-name": "new",
        "row": { "name": name, "external_ids": ["map", [["made-by", name]]] },
    });
    let bridges = json!([["bridges", "insert", ["named-uuid", "new"]]]);
    let mutate = json!({
        "op": "mutate", "table": "Open_vSwitch", "where": [], "mutations": bridges,
    });
    json!([insert, mutate]).to_string()
}

#[test]
fn a_bridge_is_made_and_read_back_over_tls_tcp_and_a_socket() {
    let lab = lab("ovs");
    let mut project = Project::new();
    for (name, info) in variants(&lab) {
        project.add_target(name, info);
    }
    for (name, _) in variants(&lab) {
        let bridge = format!("br-{name}");
        project.devgate(&format!("verify -t {name}")).succeeded();
        let set = format!(
            "session set -t {name} Open_vSwitch {} --format json",
            add_bridge(&bridge)
        );
        let results = project.devgate(&set).succeeded().json();
        assert_eq!(results["data"][1], json!({ "count": 1 }), "{results:#}");
        let seen = vsctl(&lab, &["get", "Bridge", &bridge, "external_ids:made-by"]);
        assert_eq!(seen.trim(), bridge);
        for what in [
            format!("Bridge/name={bridge}"),
            format!("Bridge/external_ids:made-by={bridge}"),
            format!("Bridge{}", json!([["name", "==", bridge]])),
        ] {
            let get = project.devgate(&format!("session get -t {name} {what} --format json"));
            let rows = get.succeeded().json()["data"].clone();
            assert_eq!(rows.as_array().map(Vec::len), Some(1), "{what}: {rows:#}");
            assert_eq!(rows[0]["external_ids"], json!({ "made-by": bridge }));
            assert_eq!(
                (&rows[0]["ports"], &rows[0]["fail_mode"]),
                (&json!([]), &Value::Null)
            );
            let id = vsctl(&lab, &["get", "Bridge", &bridge, "_uuid"]);
            assert_eq!(rows[0]["_uuid"], id.trim());
        }
        vsctl(&lab, &["del-br", &bridge]);
    }
    project
        .devgate("verify -t tcp")
        .shows(&["nothing is encrypted"]);
    let quiet = project.devgate("verify -t ssl").succeeded();
    assert!(!quiet.stderr.contains("encrypted"), "{quiet}");
}

#[test]
fn facts_are_what_the_protocol_reports() {
    let lab = lab("ovs");
    let project = project(&lab, json!({}));
    let facts = project
        .devgate("facts -t sw --format json")
        .succeeded()
        .item()["value"]
        .clone();
    let schema = fs::read_to_string(text(&lab, "schema")).expect("the schema is installed");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    assert_eq!(facts["ovsdb"]["version"], schema["version"], "{facts:#}");
    let databases = facts["ovsdb"]["databases"].as_array().expect("a list");
    assert!(databases.contains(&json!("Open_vSwitch")), "{facts:#}");
}

#[test]
fn a_certificate_of_another_authority_is_refused_by_either_side() {
    let lab = lab("ovs");
    project(&lab, json!({ "ssl_ca_file": pki(&lab, "other-ca.pem") }))
        .devgate("verify -t sw")
        .failed()
        .shows(&["not signed by a trusted authority", "ssl_ca_file"]);
    let other = json!({
        "ssl_cert_file": pki(&lab, "other.pem"), "ssl_key_file": pki(&lab, "other.key"),
    });
    project(&lab, other)
        .devgate("verify -t sw")
        .failed()
        .shows(&["rejects our certificate", "ssl_cert_file"]);
    let none = json!({ "ssl_cert_file": null, "ssl_key_file": null });
    project(&lab, none)
        .devgate("verify -t sw")
        .failed()
        .shows(&["ssl_cert_file"]);
}

#[test]
fn the_wrong_port_and_the_wrong_words_are_reported() {
    let lab = lab("ovs");
    project(&lab, json!({ "database": "OVN_Northbound" }))
        .devgate("verify -t sw")
        .failed()
        .shows(&["has no database `OVN_Northbound`", "Open_vSwitch"]);
    // Plain text on the TLS port, and TLS on the plain port.
    let [(_, mut clear), (_, mut encrypted), _] = variants(&lab);
    clear["port"] = lab["ssl_port"].clone();
    encrypted["port"] = lab["tcp_port"].clone();
    let mut crossed = Project::new();
    crossed.add_target("clear", clear);
    crossed.add_target("encrypted", encrypted);
    crossed
        .devgate("verify -t clear,encrypted")
        .failed()
        .shows(&[
            "the server uses TLS: set `protocol: ssl`",
            "closed the connection during the TLS handshake: check `port` and `protocol`",
        ]);
    let project = project(&lab, json!({}));
    for (request, expected) in [
        ("get -t sw Bridg", "did you mean `Bridge`?"),
        ("get -t sw Bridge/nam=x", "did you mean `name`?"),
        (
            "set -t sw Open_vSwitch {\"table\":\"Bridge\"}",
            "expected a list of operations",
        ),
        (
            "set -t sw Nowhere [{\"op\":\"comment\",\"comment\":\"x\"}]",
            "Nowhere",
        ),
    ] {
        let run = project.devgate(&format!("session {request}")).failed();
        run.shows(&[expected]);
    }
}

#[test]
fn a_transaction_that_is_refused_changes_nothing_and_names_its_operation() {
    let lab = lab("ovs");
    let project = project(&lab, json!({}));
    let set = |operations: &str| {
        let set = format!("session set -t sw Open_vSwitch {operations} --format json");
        let error = project.devgate(&set).failed().json();
        let error = error
            .pointer("/_error")
            .or_else(|| error.pointer("/items/0/value/_error"));
        error.expect("an error").clone()
    };
    let twice = add_bridge("br-twice");
    project
        .devgate(&format!("session set -t sw Open_vSwitch {twice}"))
        .succeeded();
    let error = set(&twice);
    vsctl(&lab, &["del-br", "br-twice"]);
    assert_eq!(error["kind"], "devgate/device-error", "{error:#}");
    assert_eq!(
        error["details"]["status"], "constraint violation",
        "{error:#}"
    );

    let right = json!({ "op": "insert", "table": "Bridge", "row": { "name": "br-half" } });
    let wrong = json!({ "op": "insert", "table": "Bridge", "row": { "colour": "red" } });
    let error = set(&json!([right, wrong]).to_string());
    assert_eq!(error["details"]["status"], "unknown column", "{error:#}");
    assert_eq!(error["details"]["response"]["operation"], 1, "{error:#}");
    assert!(!vsctl(&lab, &["list-br"]).contains("br-half"));
}

#[test]
fn a_session_that_rests_answers_the_server_that_asks_whether_it_is_there() {
    let lab = lab("ovs");
    let mut project = project(
        &lab,
        json!({ "protocol": "tcp", "port": lab["probing_port"] }),
    );
    // The server sends a probe after a second of silence, and gives up a second later.
    let script = "for i in 1 2; do devgate session get Manager >rows.$i; sleep 4; done\n\
                  devgate session get Manager >rows.3";
    let script = project.write("rest.sh", script);
    project
        .devgate(&format!("session run -t sw -- sh {}", script.display()))
        .succeeded();
    let rows = fs::read_to_string(project.path().join("rows.3")).expect("it was asked");
    assert!(rows.contains("ptcp:"), "{rows}");
    let log = fs::read_to_string(text(&lab, "log")).expect("the server has a log");
    // The TLS sessions of other tests may fall silent.
    let given_up = |line: &str| line.contains("tcp:") && line.contains("no response to inactivity");
    assert!(!log.lines().any(given_up), "{log}");
}

/// Creates a project whose target `sw` is this server.
fn project_of(server: &Server) -> Project {
    let mut project = Project::new();
    let info = json!({
        "remote-transport": "ovsdb", "protocol": "unix", "socket": server.socket(),
        "command_timeout": 2,
    });
    project.add_target("sw", info);
    project
}

#[test]
fn a_server_that_dies_in_the_middle_is_waited_for_and_then_given_up() {
    let server = Server::start();
    let mut project = project_of(&server);
    let script = format!(
        "devgate session get Open_vSwitch >rows && kill -KILL {} && devgate session get Bridge",
        server.pid()
    );
    let script = project.write("kill.sh", &script);
    project
        .devgate(&format!("session run -t sw -- sh {}", script.display()))
        .failed()
        .shows(&["given up after"]);
    let rows = fs::read_to_string(project.path().join("rows")).expect("it was asked");
    assert!(rows.contains("next_cfg"), "{rows}");
}

#[test]
fn a_server_that_is_restarted_is_queried_again() {
    let mut server = Server::start();
    let mut project = project_of(&server);
    let script = "devgate session get Open_vSwitch >/dev/null && touch asked\n\
                  while test ! -e back; do sleep 0.1; done\n\
                  devgate session get Open_vSwitch && touch done";
    let script = project.write("again.sh", script);
    let run = project.start(&format!("session run -t sw -- sh {}", script.display()));
    while !project.path().join("asked").exists() {
        pause(Duration::from_millis(20));
    }
    server.restart();
    fs::write(project.path().join("back"), "").expect("it can be written");
    run.finish().succeeded().shows(&["next_cfg"]);
}

#[test]
fn a_transaction_without_answer_is_not_sent_again_and_its_effect_is_unknown() {
    let server = Server::start();
    let project = project_of(&server);
    let pid = server.pid();
    let script = format!(
        "devgate session get Open_vSwitch >/dev/null\nkill -STOP {pid}\n\
         devgate session set Open_vSwitch '{}'",
        add_bridge("br-once")
    );
    let mut project = project;
    let script = project.write("freeze.sh", &script);
    let run = project.devgate(&format!("session run -t sw -- sh {}", script.display()));
    server.signal(Signal::SIGCONT);
    run.failed().shows(&[
        "did not end within 2 s",
        "whether it took effect is not known",
    ]);
    // The transaction was applied exactly once.
    let bridges = project
        .devgate("session get -t sw Bridge --format json")
        .succeeded()
        .json();
    let names: Vec<&Value> = bridges["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["br-once"]);
}
