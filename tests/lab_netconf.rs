//! NETCONF from the operator's view: the answers of a device, and the errors when it cannot be reached.

use serde_json::{Value, json};

use crate::support::lab::{lab, text};
use crate::support::project::Project;
use crate::support::run::Run;

/// Creates a project with the servers of the lab as targets, with additional connection info for all of
/// them.
fn project(more: Value) -> Project {
    let lab = lab("netconf");
    let mut project = Project::new();
    for device in lab["devices"].as_array().expect("lab.json lists devices") {
        let mut info = json!({
            "remote-transport": "netconf",
            "host": device["host"],
            "port": device["port"],
            "user": "admin",
            "password": lab["users"]["admin"]["password"],
            "known_hosts_file": lab["known_hosts"],
        });
        for (key, value) in more.as_object().expect("settings are an object") {
            info[key] = value.clone();
        }
        let name = device["name"].as_str().expect("a name");
        project.add_target(name, info);
    }
    project
}

#[test]
fn all_servers_are_reached_whatever_their_version() {
    let project = project(json!({}));
    project
        .devgate("verify -t all")
        .succeeded()
        .shows(&["4 targets"]);
}

#[test]
fn facts_are_the_servers_own_and_those_of_its_data_models() {
    let project = project(json!({}));
    for (name, version) in [("candidate", "1.1"), ("old", "1.0")] {
        let run = project.devgate(&format!("facts -t {name} --format json"));
        let facts = run.succeeded().item()["value"].clone();
        assert_eq!(facts["netconf"]["version"], version, "{facts:#}");
        let capabilities = facts["netconf"]["capabilities"].as_array();
        let capabilities = capabilities.expect("capabilities are a list");
        let base = format!("urn:ietf:params:netconf:base:{version}");
        assert!(capabilities.contains(&json!(base)), "{facts:#}");
        let lo = facts.pointer("/networking/interfaces/lo/ip");
        assert_eq!(lo, Some(&json!("127.0.0.1")), "{facts:#}");
    }
}

#[test]
fn a_wrong_password_is_reported_once_and_a_port_without_netconf_is_named() {
    let refused = project(json!({ "password": "canary-wrong" }));
    refused
        .devgate("verify -t candidate")
        .failed()
        .shows(&["refuses the login of `admin`"]);
    // The lab's hosts have SSH, but no NETCONF.
    let hosts = lab("hosts");
    let host = &hosts["hosts"][0];
    let mut project = Project::new();
    project.add_target(
        "host",
        json!({
            "remote-transport": "netconf",
            "host": host["host"],
            "port": host["port"],
            "user": hosts["user"],
            "password": hosts["password"],
            "known_hosts_file": hosts["known_hosts"],
        }),
    );
    project
        .devgate("verify -t host")
        .failed()
        .shows(&["NETCONF is not enabled on this port", "830"]);
}

/// Runs `session get` or `session set` with the argument `what` and a body, which is not part of the
/// command line.
fn session(project: &mut Project, words: &str, what: &str, body: &str) -> Run {
    project.write("what", what);
    project.write("body.xml", body);
    let script = r#"exec "$@" "$(cat what)" $(test ! -s body.xml || echo -) < body.xml"#;
    let words = format!("session {words}");
    project
        .start_under(&["sh", "-c", script, "sh"], &words)
        .finish()
}

#[test]
fn simulated_junipers_are_changed_by_a_commit_and_hold_what_was_set() {
    let lab = lab("fakes");
    let mut project = Project::new();
    let switches = lab["switches"].as_array().expect("switches").iter();
    let junipers: Vec<&Value> = switches
        .filter(|switch| switch["protocol"] == "netconf")
        .collect();
    assert_eq!(junipers.len(), 3);
    for juniper in junipers {
        let name = text(juniper, "name");
        project.add_target(
            name,
            json!({
                "remote-transport": "netconf",
                "host": lab["host"],
                "port": juniper["port"],
                "user": lab["user"],
                "password": lab["password"],
                "known_hosts_file": lab["known_hosts"],
            }),
        );
        let change = |inside: &str| {
            format!(
                "<configuration xmlns='http://xml.juniper.net/xnm/1.1/xnm'>{inside}</configuration>"
            )
        };
        let first = if name.contains("_mx_") {
            "xe-0/0/1"
        } else {
            "ge-0/0/1"
        };
        let port = format!(
            "<interfaces><interface><name>{first}</name>\
             <description>uplink &amp; more</description></interface></interfaces>"
        );
        let words = format!("set -t {name} --format json");
        let message = session(&mut project, &words, "", &change(&port)).succeeded();
        assert_eq!(
            message.json()["data"],
            json!({"committed": true, "confirmed": true, "saved": false}),
            "{name}"
        );
        let filter = "<configuration><interfaces/></configuration>";
        session(&mut project, &format!("get -t {name}"), filter, "")
            .succeeded()
            .shows(&["<description>uplink &amp; more</description>"]);

        // A refused change is discarded: the next change finds no lock and no uncommitted changes.
        let wrong = port.replace("<description>", "<mtu>1</mtu><description>wrong ");
        session(&mut project, &words, "", &change(&wrong))
            .failed()
            .shows(&["refuses `edit-config`", "not within range"]);
        session(&mut project, &words, "", &change(&port)).succeeded();
    }
}
