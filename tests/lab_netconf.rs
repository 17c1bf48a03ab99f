//! NETCONF as an operator meets it: what a device tells, and what is said when it cannot be asked.

use serde_json::{Value, json};

use crate::support::lab::lab;
use crate::support::project::Project;

/// A project with the servers of the lab as targets, and `connection info` on top for all of them.
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
        .says(&["4 targets"]);
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
fn a_wrong_password_is_told_once_and_a_port_without_netconf_is_named() {
    let refused = project(json!({ "password": "canary-wrong" }));
    refused
        .devgate("verify -t candidate")
        .failed()
        .says(&["refuses the login of `admin`"]);
    // The lab's hosts have SSH, and no NETCONF.
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
        .says(&["NETCONF is not enabled on this port", "830"]);
}
