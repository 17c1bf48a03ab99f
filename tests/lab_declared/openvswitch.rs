//! Bridges, ports and facts of a real Open vSwitch.

use serde_json::{Value, json};

use super::{Lifecycle, apply, messages_on, requests_of};
use crate::support::lab::{lab, text};
use crate::support::ovsdb;
use crate::support::project::Project;

/// Queries the switch's database without devgate.
fn vsctl(lab: &Value, arguments: &[&str]) -> String {
    ovsdb::vsctl(text(lab, "socket").as_ref(), arguments)
}

fn switch(lab: &Value) -> Project {
    let mut project = Project::new();
    project.add_target(
        "it",
        json!({ "remote-transport": "openvswitch", "protocol": "tcp", "host": "127.0.0.1", "port": lab["tcp_port"] }),
    );
    project
}

#[test]
fn bridges_and_ports_of_a_switch_live_as_declared() {
    let lab = lab("ovs");
    let life = Lifecycle {
        present: json!({
            "ovs_bridge": { "decl-a": {
                "fail_mode": "secure", "protocols": ["OpenFlow13", "OpenFlow10"], "external_ids": { "owner": "lab" },
            }, "decl-b": {} },
            "ovs_port": {
                "decl-1": { "bridge": "decl-a", "vlan": 10, "interface_type": "internal" },
                "decl-2": { "bridge": "decl-b", "trunks": [30, 20] },
            },
        }),
        absent: json!({
            "ovs_port": { "decl-1": { "ensure": "absent" } },
            "ovs_bridge": { "decl-a": { "ensure": "absent" }, "decl-b": { "ensure": "absent" } },
        }),
        change_externally: &|| {
            vsctl(&lab, &["set", "port", "decl-1", "tag=99"]);
        },
        seen: &|| {
            let show = [
                "get",
                "bridge",
                "decl-a",
                "fail_mode",
                "protocols",
                "external_ids",
            ];
            let list = vsctl(&lab, &["list-br"]);
            let bridges: Vec<&str> = list
                .lines()
                .filter(|name| name.starts_with("decl-"))
                .collect();
            if bridges.is_empty() {
                return "nothing".to_owned();
            }
            let ports = ["decl-a", "decl-b"].map(|bridge| vsctl(&lab, &["list-ports", bridge]));
            let tag = vsctl(&lab, &["get", "port", "decl-1", "tag"]);
            let trunks = vsctl(&lab, &["get", "port", "decl-2", "trunks"]);
            format!(
                "{bridges:?} {} {ports:?} {tag} {trunks}",
                vsctl(&lab, &show)
            )
        },
    };
    life.walk(&mut switch(&lab));
}

#[test]
fn a_port_moves_and_one_for_a_bridge_that_is_not_there_fails_alone() {
    let lab = lab("ovs");
    let mut project = switch(&lab);
    let on = |bridge: &str| {
        json!({ "ovs_bridge": { "move-a": {}, "move-b": {} }, "ovs_port": {
        "move-1": { "bridge": bridge, "vlan": 7 }, "move-lost": { "bridge": "move-nowhere" }, "move-3": { "bridge": "move-a" },
    } })
    };
    let (counts, value) = apply(&mut project, &on("move-a"), "");
    assert_eq!(counts, [4, 1, 0], "{value:#}");
    let problem = messages_on(&value, "move-lost");
    assert!(
        problem.contains("`Bridge` has no row that the edit is for"),
        "{problem}"
    );
    let (counts, value) = apply(&mut project, &on("move-b"), "");
    assert_eq!(counts, [1, 1, 0], "{value:#}");
    assert_eq!(vsctl(&lab, &["list-ports", "move-b"]), "move-1\n");
    assert_eq!(vsctl(&lab, &["get", "port", "move-1", "tag"]), "7\n");
    let plain = json!({ "ovs_port": { "move-1": { "bridge": "move-b", "vlan": "" } } });
    assert_eq!(apply(&mut project, &plain, "").0, [1, 0, 0]);
    assert_eq!(vsctl(&lab, &["get", "port", "move-1", "tag"]), "[]\n");
    assert_eq!(
        requests_of(&mut project, &plain),
        ["Port", "Bridge", "Interface"]
    );
    vsctl(&lab, &["del-br", "move-a", "--", "del-br", "move-b"]);
}

#[test]
fn a_switch_reports_facts_from_its_database() {
    let lab = lab("ovs");
    let project = switch(&lab);
    vsctl(
        &lab,
        &[
            "--may-exist",
            "add-br",
            "fact-br",
            "--",
            "set",
            "bridge",
            "fact-br",
            "datapath_type=netdev",
        ],
    );
    vsctl(
        &lab,
        &[
            "set",
            "open",
            ".",
            "ovs_version=3.1.0",
            "external_ids:hostname=sw1.example.org",
        ],
    );
    let facts = project
        .devgate("facts -t it --format json")
        .succeeded()
        .item()["value"]
        .clone();
    vsctl(
        &lab,
        &[
            "clear",
            "open",
            ".",
            "ovs_version",
            "--",
            "del-br",
            "fact-br",
        ],
    );
    assert_eq!(
        facts.pointer("/openvswitch/version"),
        Some(&json!("3.1.0")),
        "{facts:#}"
    );
    assert_eq!(facts["hostname"], "sw1");
    assert_eq!(
        facts.pointer("/openvswitch/bridges/fact-br/datapath_type"),
        Some(&json!("netdev"))
    );
}
