//! Types that are declared for data, on real servers: what is made, changed, found otherwise and removed is looked
//! at with each server's own client.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::lab::{command_for, lab, output, text};
use crate::support::project::Project;

/// What became of a manifest: how many resources changed, failed, and would change.
fn apply(project: &mut Project, resources: &Value, options: &str) -> ([u64; 3], Value) {
    let manifest = project.manifest(resources.clone());
    let run = project.devgate(&format!(
        "device --target it --apply {manifest} {options} --format json"
    ));
    let value = run.item()["value"].clone();
    let resources = value["resources"].as_array().expect("resources");
    let count = |key: &str| resources.iter().filter(|one| one[key] == true).count() as u64;
    ([count("changed"), count("failed"), count("noop")], value)
}

/// What the run says of a resource.
fn said(value: &Value, title: &str) -> String {
    let resources = value["resources"].as_array().expect("resources");
    let found = resources.iter().find(|one| one["title"] == title);
    let found = found.unwrap_or_else(|| panic!("no {title} in {value:#}"));
    found["messages"].to_string()
}

/// What a device is asked while nothing is to be changed.
fn asked(project: &mut Project, resources: &Value) -> Vec<String> {
    let manifest = project.manifest(resources.clone());
    let command = format!("device --target it --apply {manifest} --log-level debug");
    let run = project.devgate(&command).succeeded();
    let lines = run
        .stderr
        .lines()
        .filter_map(|line| line.split_once("asks for `"));
    lines
        .map(|(_, what)| what.trim_end_matches('`').to_owned())
        .collect()
}

/// A walk through a resource's life: under noop, made, left alone, changed behind our back and set right, and gone.
struct Life<'l> {
    made: Value,
    gone: Value,
    /// Changes the device past devgate.
    meddle: &'l dyn Fn(),
    /// What the device's own client shows of it.
    seen: &'l dyn Fn() -> String,
}

impl Life<'_> {
    fn walk(self, project: &mut Project) {
        let count: u64 = self
            .made
            .as_object()
            .expect("types")
            .values()
            .map(|titles| titles.as_object().expect("titles").len() as u64)
            .sum();
        // A lab that has been tested before may hold some of it.
        apply(project, &self.gone, "");
        let before = (self.seen)();
        assert_eq!(apply(project, &self.made, "--noop").0, [0, 0, count]);
        assert_eq!((self.seen)(), before, "noop changes nothing");
        let (counts, value) = apply(project, &self.made, "");
        assert_eq!(counts, [count, 0, 0], "{value:#}");
        let made = (self.seen)();
        assert_ne!(made, before);
        assert_eq!(apply(project, &self.made, "").0, [0, 0, 0]);
        (self.meddle)();
        assert_ne!((self.seen)(), made, "somebody changed it");
        let (counts, value) = apply(project, &self.made, "");
        assert_eq!(counts, [1, 0, 0], "{value:#}");
        assert_eq!((self.seen)(), made, "it is as it was");
        let (counts, value) = apply(project, &self.gone, "");
        assert_eq!(counts[1], 0, "{value:#}");
        assert_eq!((self.seen)(), before, "nothing is left");
        assert_eq!(apply(project, &self.gone, "").0, [0, 0, 0]);
    }
}

/// Asks the switch's database past devgate.
fn vsctl(lab: &Value, arguments: &[&str]) -> String {
    let database = format!("--db=unix:{}", text(lab, "socket"));
    let mut command = command_for("ovs-vsctl");
    output(
        command
            .args(["--timeout=5", "--no-wait", &database])
            .args(arguments),
    )
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
    let life = Life {
        made: json!({
            "ovs_bridge": { "decl-a": {
                "fail_mode": "secure", "protocols": ["OpenFlow13", "OpenFlow10"], "external_ids": { "owner": "lab" },
            }, "decl-b": {} },
            "ovs_port": {
                "decl-1": { "bridge": "decl-a", "vlan": 10, "interface_type": "internal" },
                "decl-2": { "bridge": "decl-b", "trunks": [30, 20] },
            },
        }),
        gone: json!({
            "ovs_port": { "decl-1": { "ensure": "absent" } },
            "ovs_bridge": { "decl-a": { "ensure": "absent" }, "decl-b": { "ensure": "absent" } },
        }),
        meddle: &|| {
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
    let problem = said(&value, "move-lost");
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
    assert_eq!(asked(&mut project, &plain), ["Port", "Bridge", "Interface"]);
    vsctl(&lab, &["del-br", "move-a", "--", "del-br", "move-b"]);
}

#[test]
fn a_switch_tells_facts_from_its_database() {
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

/// Asks PowerDNS past devgate.
fn curl(lab: &Value, method: &str, path: &str, body: &str) -> String {
    let url = format!(
        "http://127.0.0.1:{}/api/v1/servers/localhost{path}",
        lab["port"]
    );
    let key = format!("X-API-Key: {}", text(lab, "key"));
    let mut command = command_for("curl");
    output(command.args(["-sf", "-X", method, "-H", &key, "-d", body, &url]))
}

/// Asks its database.
fn sqlite(lab: &Value, query: &str) -> String {
    output(command_for("sqlite3").args([&format!("{}/pdns.db", text(lab, "dir")), query]))
}

fn server(lab: &Value) -> Project {
    let mut project = Project::new();
    project.add_target(
        "it",
        json!({
            "remote-transport": "powerdns", "protocol": "http", "host": "127.0.0.1", "port": lab["port"],
            "apikey": text(lab, "key"),
        }),
    );
    project
}

#[test]
fn zones_and_records_of_a_name_server_live_as_declared() {
    let lab = lab("pdns");
    let reverse = "0/25.2.0.192.in-addr.arpa";
    let life = Life {
        made: json!({
            "powerdns_zone": {
                "decl.example": { "kind": "Primary", "account": "lab", "nameservers": ["ns1.decl.example."] },
                reverse: {},
            },
            "powerdns_record": {
                "www.decl.example A in decl.example": { "content": ["192.0.2.2", "192.0.2.1"], "ttl": 60 },
                "decl.example MX in decl.example.": { "content": ["10 mail.decl.example."] },
                (format!("1.{reverse} PTR in {reverse}")): { "content": ["www.decl.example."] },
            },
        }),
        gone: json!({
            "powerdns_record": { "decl.example MX in decl.example": { "ensure": "absent" } },
            "powerdns_zone": { "decl.example": { "ensure": "absent" }, reverse: { "ensure": "absent" } },
        }),
        meddle: &|| {
            let body = r#"{"rrsets": [{"name": "www.decl.example.", "type": "A", "ttl": 60, "changetype": "REPLACE",
                "records": [{"content": "192.0.2.99", "disabled": false}]}]}"#;
            curl(&lab, "PATCH", "/zones/decl.example.", body);
        },
        seen: &|| {
            sqlite(
                &lab,
                "select d.name, d.type, d.account, r.name, r.type, r.content, r.ttl from domains d join records r on \
                 r.domain_id = d.id where r.type != 'SOA' and (d.name = 'decl.example' or d.name like '0/25%') \
                 order by 1, 4, 5, 6",
            )
        },
    };
    life.walk(&mut server(&lab));
}

#[test]
fn what_a_name_server_refuses_is_named_and_the_rest_of_its_zone_is_made() {
    let lab = lab("pdns");
    let mut project = server(&lab);
    let mut records: serde_json::Map<String, Value> = (0..40)
        .map(|number| {
            (
                format!("h{number}.many.example A in many.example"),
                json!({ "content": [format!("192.0.2.{number}")] }),
            )
        })
        .collect();
    let wrong = "h17.many.example A in many.example";
    records[wrong]["content"] = json!(["no address"]);
    records.insert(
        "x.nowhere.example A in nowhere.example".to_owned(),
        json!({ "content": ["192.0.2.1"] }),
    );
    let zones = json!({ "powerdns_zone": { "many.example": {}, "other.example": {} } });
    apply(&mut project, &zones, "");
    let (counts, value) = apply(&mut project, &json!({ "powerdns_record": records }), "");
    assert_eq!(counts, [39, 2, 0], "{value:#}");
    assert!(said(&value, wrong).contains("422"), "{value:#}");
    assert!(
        said(&value, "x.nowhere.example A in nowhere.example").contains("404"),
        "{value:#}"
    );
    let count = sqlite(
        &lab,
        "select count(*) from records where name like 'h%.many.example'",
    );
    assert_eq!(count.trim(), "39");
    // Of the two zones only the one is looked into that holds what is declared.
    let one = json!({ "powerdns_record": { "h1.many.example A in many.example": { "content": ["192.0.2.1"] } } });
    assert_eq!(
        asked(&mut project, &one),
        [
            "/servers/localhost/zones",
            "/servers/localhost/zones/many.example."
        ]
    );
    let gone = json!({ "powerdns_zone": { "many.example": { "ensure": "absent" }, "other.example": { "ensure": "absent" } } });
    assert_eq!(apply(&mut project, &gone, "").0, [2, 0, 0]);
}

#[test]
fn a_name_server_tells_facts_by_its_api() {
    let lab = lab("pdns");
    let project = server(&lab);
    let facts = project
        .devgate("facts -t it --format json")
        .succeeded()
        .item()["value"]
        .clone();
    let server: Value = serde_json::from_str(&curl(&lab, "GET", "", "")).expect("JSON");
    assert_eq!(
        facts.pointer("/os/release/full"),
        Some(&server["version"]),
        "{facts:#}"
    );
    assert!(
        facts
            .pointer("/system_uptime/seconds")
            .is_some_and(Value::is_u64),
        "{facts:#}"
    );
}

/// One of the lab's NETCONF servers.
fn device<'l>(lab: &'l Value, name: &str) -> &'l Value {
    let mut devices = lab["devices"].as_array().expect("devices").iter();
    devices
        .find(|device| device["name"] == name)
        .expect("it is in the lab")
}

/// Asks a NETCONF server past devgate, by OpenSSH alone. netconfd may take a request that comes close behind
/// the hello for a part of it, and never answer: then it is asked again.
fn netconf(lab: &Value, name: &str, operations: &[&str]) -> String {
    let mut tries = (0..5).map(|_| dialogue(lab, name, operations));
    let said = tries.find_map(|said| said);
    said.expect("it answers one of five times")
}

/// What is said in one session, or nothing where its first request is not answered.
fn dialogue(lab: &Value, name: &str, operations: &[&str]) -> Option<String> {
    let port = device(lab, name)["port"].to_string();
    let known = format!("UserKnownHostsFile={}", text(lab, "known_hosts"));
    let mut ssh = command_for("timeout");
    ssh.args(["10", "ssh", "-F", "none", "-i", text(lab, "private_key")])
        .args([
            "-o",
            "IdentitiesOnly=yes",
            "-o",
            "BatchMode=yes",
            "-o",
            &known,
        ])
        .args(["-p", &port, "admin@127.0.0.1", "-s", "netconf"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut ssh = ssh.spawn().expect("ssh can be started");
    let mut stdin = ssh.stdin.take().expect("it is a pipe");
    let mut stdout = BufReader::new(ssh.stdout.take().expect("it is a pipe"));
    let mut messages = vec![
        "<hello xmlns='urn:ietf:params:xml:ns:netconf:base:1.0'><capabilities><capability>\
         urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>"
            .to_owned(),
    ];
    for (number, operation) in operations.iter().chain([&"<close-session/>"]).enumerate() {
        messages.push(format!(
            "<rpc xmlns='urn:ietf:params:xml:ns:netconf:base:1.0' message-id='{number}'>{operation}</rpc>"
        ));
    }
    let mut said = String::new();
    for (number, message) in messages.iter().enumerate() {
        // yuma123 takes a message only once it has answered the one before.
        write!(stdin, "{message}]]>]]>").expect("ssh listens");
        let mut answer = Vec::new();
        while !answer.ends_with(b"]]>]]>") {
            let read = stdout.read_until(b'>', &mut answer);
            if read.expect("ssh speaks") == 0 {
                assert_eq!(number, 1, "it ended after {said}");
                ssh.wait().expect("ssh ends");
                return None;
            }
        }
        said += &String::from_utf8(answer).expect("it is text");
    }
    drop(stdin);
    ssh.wait().expect("ssh ends");
    assert!(!said.contains("rpc-error"), "{said}");
    Some(said)
}

fn router(lab: &Value, name: &str) -> Project {
    let mut project = Project::new();
    project.add_target(
        "it",
        json!({
            "remote-transport": "ietf", "host": "127.0.0.1", "port": device(lab, name)["port"], "user": "admin",
            "password": lab["users"]["admin"]["password"], "known_hosts_file": lab["known_hosts"],
        }),
    );
    project
}

const INTERFACES: &str = "urn:ietf:params:xml:ns:yang:ietf-interfaces";
const SYSTEM: &str = "urn:ietf:params:xml:ns:yang:ietf-system";

/// The texts of an interface's configuration, as the device itself shows it.
fn interface(lab: &Value, device: &str, name: &str) -> String {
    let get = format!(
        "<get-config><source><running/></source><filter type='subtree'><interfaces xmlns='{INTERFACES}'><interface>\
         <name>{name}</name></interface></interfaces></filter></get-config>"
    );
    let answer = netconf(lab, device, &[&get]);
    let Some((_, answer)) = answer.split_once("<interface>") else {
        return "nothing".to_owned();
    };
    let (config, _) = answer.split_once("</interface>").expect("it ends");
    let texts = config.split(['<', '>']).map(str::trim);
    texts
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn interfaces_of_devices_with_and_without_a_candidate_live_as_declared() {
    let lab = lab("netconf");
    for (name, target) in [("old", "candidate"), ("running", "running")] {
        let life = Life {
            made: json!({ "ietf_interface": {
                "decl7": {
                    "type": "softwareLoopback", "description": "a < b & \"c\"", "enabled": false,
                    "addresses": ["192.0.2.7/24", "10.0.0.7/8"],
                },
                "decl8": { "type": "softwareLoopback" },
            } }),
            gone: json!({ "ietf_interface": { "decl7": { "ensure": "absent" }, "decl8": { "ensure": "absent" } } }),
            meddle: &|| {
                let edit = format!(
                    "<edit-config><target><{target}/></target><config><interfaces xmlns='{INTERFACES}'><interface>\
                     <name>decl7</name><description>meddled</description></interface></interfaces></config></edit-config>"
                );
                let commit = ["<commit/>"].into_iter().filter(|_| target == "candidate");
                let operations: Vec<&str> = [edit.as_str()].into_iter().chain(commit).collect();
                netconf(&lab, name, &operations);
            },
            seen: &|| {
                let seen =
                    ["decl7", "decl8"].map(|interface_name| interface(&lab, name, interface_name));
                seen.join("; ")
            },
        };
        life.walk(&mut router(&lab, name));
    }
}

#[test]
fn what_a_device_refuses_is_named_and_the_rest_of_its_set_is_made() {
    let lab = lab("netconf");
    let mut project = router(&lab, "startup");
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
    let problem = said(&value, "set3");
    assert!(problem.contains("[if:name='set3']/if:type"), "{problem}");
    assert_eq!(interface(&lab, "startup", "set3"), "nothing");
    assert!(interface(&lab, "startup", "set4").contains("softwareLoopback"));
    let one = json!({ "ietf_interface": { "set4": { "type": "softwareLoopback" } } });
    assert_eq!(asked(&mut project, &one).len(), 1, "one question a type");
    let gone = (0..5).map(|number| (format!("set{number}"), json!({ "ensure": "absent" })));
    let gone: serde_json::Map<String, Value> = gone.collect();
    assert_eq!(
        apply(&mut project, &json!({ "ietf_interface": gone }), "").0,
        [4, 0, 0]
    );
}

#[test]
fn a_run_that_fails_leaves_a_device_as_it_was_where_that_is_wanted() {
    let lab = lab("netconf");
    for name in ["old", "running"] {
        let mut project = router(&lab, name);
        let kept = json!({ "ietf_interface": { "kept1": { "type": "softwareLoopback", "description": "before" } } });
        assert_eq!(apply(&mut project, &kept, "").0[1], 0);
        let before = interface(&lab, name, "kept1");
        let made = json!({
            "ietf_system": { "system": { "contact": "noc@example.org" } },
            "ietf_interface": {
                "kept1": { "type": "softwareLoopback", "description": "after", "addresses": ["192.0.2.9/32"] },
                "kept2": { "type": "softwareLoopback" },
                "kept3": { "type": "noSuchType" },
            },
        });
        let (_, value) = apply(&mut project, &made, "--rollback on-error");
        assert_eq!(value["rolled_back"], true, "{value:#}");
        assert_eq!(interface(&lab, name, "kept1"), before);
        assert_eq!(interface(&lab, name, "kept2"), "nothing");
        let gone = json!({ "ietf_interface": { "kept1": { "ensure": "absent" } } });
        assert_eq!(apply(&mut project, &gone, "").0, [1, 0, 0]);
    }
}

#[test]
fn a_system_is_described_and_told_as_facts() {
    let lab = lab("netconf");
    let mut project = router(&lab, "startup");
    let described = json!({ "ietf_system": { "system": {
        "hostname": "decl-1", "contact": "noc@example.org", "ntp_servers": ["192.0.2.2", "192.0.2.1"],
    } } });
    assert_eq!(apply(&mut project, &described, "").0, [1, 0, 0]);
    assert_eq!(apply(&mut project, &described, "").0, [0, 0, 0]);
    let get = format!(
        "<get-config><source><running/></source><filter type='subtree'><system xmlns='{SYSTEM}'/></filter></get-config>"
    );
    let shown = netconf(&lab, "startup", &[&get]);
    for text in ["decl-1", "noc@example.org", "<address>192.0.2.1</address>"] {
        assert!(shown.contains(text), "{shown}");
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
    let shown = netconf(&lab, "startup", &[&get]);
    assert!(
        shown.contains("decl-1") && !shown.contains("noc@") && !shown.contains("192.0.2.2"),
        "{shown}"
    );
    let remove = format!(
        "<edit-config><target><candidate/></target><config><system xmlns='{SYSTEM}' \
         xmlns:nc='urn:ietf:params:xml:ns:netconf:base:1.0' nc:operation='delete'/></config></edit-config>"
    );
    netconf(&lab, "startup", &[&remove, "<commit/>"]);
}
