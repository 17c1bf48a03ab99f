//! Fifty devices in one command: they are changed concurrently, and a failure affects only its own device.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::lab::{lab, text};
use crate::support::ovsdb::Server;
use crate::support::project::Project;

const COUNT: usize = 50;

#[test]
fn fifty_devices_are_changed_at_once_and_those_that_fail_do_so_alone() {
    let servers = Server::some(COUNT - 1);
    let (frozen, well) = servers.split_last().expect("there are some");
    let mut project = Project::new();
    for (number, server) in servers.iter().enumerate() {
        let socket = server.socket();
        project.add_target(
            &format!("sw{number:02}"),
            json!({
                "remote-transport": "openvswitch", "protocol": "unix", "socket": socket, "timeout": 20,
            }),
        );
    }
    project.add_target("stranger", stranger());
    let (last, owner) = (format!("sw{:02}", COUNT - 2), json!({ "owner": "fleet" }));
    let manifest = project.manifest(json!({ "ovs_bridge": { "br": { "external_ids": owner } } }));
    let apply = format!("device -t all --apply {manifest} --report reports --format json");

    frozen.signal(Signal::SIGSTOP);
    let run = project.devgate(&apply).failed();
    let (order, values) = results(&run.json());
    assert_eq!(values.len(), COUNT, "{run}");
    for (name, value) in &values {
        match name.as_str() {
            "stranger" => says(value, &["rejects our certificate"]),
            name if name == last => says(value, &["did not answer within 20 s"]),
            name => assert_eq!(value["summary"]["changed"], 1, "{name}: {value:#}"),
        }
    }
    assert_eq!(order.last(), Some(&last), "nobody waits for it: {order:?}");
    for server in well {
        let document = server.column("Bridge", "br", "external_ids");
        assert_eq!(document.trim(), "{owner=fleet}");
    }
    let reports = fs::read_dir(project.path().join("reports")).expect("there are some");
    assert_eq!(reports.count(), COUNT - 2, "one of each that was reached");

    // Only the targets that failed remain to be done.
    frozen.signal(Signal::SIGCONT);
    let again = project.devgate(&apply).failed();
    let (_, values) = results(&again.json());
    for (name, value) in &values {
        match name.as_str() {
            "stranger" => says(value, &["rejects our certificate"]),
            name => assert_eq!(
                value["summary"]["changed"],
                u64::from(name == last),
                "{name}: {value:#}"
            ),
        }
    }
}

/// Returns a server that does not know the issuer of the client certificate: the counterpart of a wrong
/// password.
fn stranger() -> Value {
    let lab = lab("ovs");
    let file = |name: &str| format!("{}/{name}", text(&lab, "pki"));
    json!({
        "remote-transport": "openvswitch", "host": "127.0.0.1", "port": lab["ssl_port"],
        "ssl_ca_file": file("ca.pem"), "ssl_cert_file": file("other.pem"), "ssl_key_file": file("other.key"),
    })
}

/// Returns the targets in the order of the report, and the result of each.
fn results(document: &Value) -> (Vec<String>, BTreeMap<String, Value>) {
    let items = document["items"].as_array().expect("items").iter();
    let items = items.map(|item| (text(item, "target").to_owned(), item["value"].clone()));
    let items: Vec<(String, Value)> = items.collect();
    let order = items.iter().map(|(name, _)| name.clone()).collect();
    (order, items.into_iter().collect())
}

fn says(value: &Value, texts: &[&str]) {
    let message = value["_error"]["msg"].to_string();
    for text in texts {
        assert!(message.contains(text), "{value:#}");
    }
}
