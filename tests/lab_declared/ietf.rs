//! Interfaces, the system and facts of real NETCONF servers, with and without a candidate configuration.

use serde_json::{Value, json};

use super::netconfd::{INTERFACES, Server};
use super::{Lifecycle, apply, messages_on, requests_of};

const SYSTEM: &str = "urn:ietf:params:xml:ns:yang:ietf-system";

#[test]
fn interfaces_of_devices_with_and_without_a_candidate_live_as_declared() {
    for (name, target) in [("old", "candidate"), ("running", "running")] {
        let server = Server::lease(name);
        let life = Lifecycle {
            present: json!({ "ietf_interface": {
                "decl7": {
                    "type": "softwareLoopback", "description": "a < b & \"c\"", "enabled": false,
                    "addresses": ["192.0.2.7/24", "10.0.0.7/8"],
                },
                "decl8": { "type": "softwareLoopback" },
            } }),
            absent: json!({ "ietf_interface": { "decl7": { "ensure": "absent" }, "decl8": { "ensure": "absent" } } }),
            change_externally: &|| {
                let edit = format!(
                    "<edit-config><target><{target}/></target><config><interfaces xmlns='{INTERFACES}'><interface>\
                     <name>decl7</name><description>meddled</description></interface></interfaces></config></edit-config>"
                );
                let commit = ["<commit/>"].into_iter().filter(|_| target == "candidate");
                let operations: Vec<&str> = [edit.as_str()].into_iter().chain(commit).collect();
                server.send(&operations);
            },
            seen: &|| {
                let seen = ["decl7", "decl8"].map(|interface| server.interface(interface));
                seen.join("; ")
            },
        };
        life.walk(&mut server.project());
    }
}

#[test]
fn what_a_device_refuses_is_named_and_the_rest_of_its_set_is_made() {
    let server = Server::lease("startup");
    let mut project = server.project();
    let mut interfaces: serde_json::Map<String, Value> = (0..5)
        .map(|number| {
            (
                format!("set{number}"),
                json!({ "type": "softwareLoopback" }),
            )
        })
        .collect();
    interfaces["set3"]["type"] = json!("noSuchType");
    let (counts, value) = apply(&mut project, &json!({ "ietf_interface": interfaces }), "");
    assert_eq!(counts, [4, 1, 0], "{value:#}");
    let problem = messages_on(&value, "set3");
    assert!(problem.contains("[if:name='set3']/if:type"), "{problem}");
    assert_eq!(server.interface("set3"), "nothing");
    assert!(server.interface("set4").contains("softwareLoopback"));
    let one = json!({ "ietf_interface": { "set4": { "type": "softwareLoopback" } } });
    assert_eq!(
        requests_of(&mut project, &one).len(),
        1,
        "one question a type"
    );
    let removal = (0..5).map(|number| (format!("set{number}"), json!({ "ensure": "absent" })));
    let removal: serde_json::Map<String, Value> = removal.collect();
    assert_eq!(
        apply(&mut project, &json!({ "ietf_interface": removal }), "").0,
        [4, 0, 0]
    );
}

#[test]
fn a_system_is_described_and_reported_as_facts() {
    let server = Server::lease("startup");
    let mut project = server.project();
    let described = json!({ "ietf_system": { "system": {
        "hostname": "decl-1", "contact": "noc@example.org", "ntp_servers": ["192.0.2.2", "192.0.2.1"],
    } } });
    assert_eq!(apply(&mut project, &described, "").0, [1, 0, 0]);
    assert_eq!(apply(&mut project, &described, "").0, [0, 0, 0]);
    let get = format!(
        "<get-config><source><running/></source><filter type='subtree'><system xmlns='{SYSTEM}'/></filter></get-config>"
    );
    let document = server.send(&[&get]);
    for text in ["decl-1", "noc@example.org", "<address>192.0.2.1</address>"] {
        assert!(document.contains(text), "{document}");
    }
    let facts = project
        .devgate("facts -t it --format json")
        .succeeded()
        .item()["value"]
        .clone();
    assert_eq!(facts["hostname"], "decl-1", "{facts:#}");
    let less =
        json!({ "ietf_system": { "system": { "contact": "", "ntp_servers": ["192.0.2.1"] } } });
    assert_eq!(apply(&mut project, &less, "").0, [1, 0, 0]);
    let document = server.send(&[&get]);
    assert!(
        document.contains("decl-1")
            && !document.contains("noc@")
            && !document.contains("192.0.2.2"),
        "{document}"
    );
    let remove = format!(
        "<edit-config><target><candidate/></target><config><system xmlns='{SYSTEM}' \
         xmlns:nc='urn:ietf:params:xml:ns:netconf:base:1.0' nc:operation='delete'/></config></edit-config>"
    );
    server.send(&[&remove, "<commit/>"]);
}
