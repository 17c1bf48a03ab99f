//! A real router, recorded and replayed without it; and facts that stand in for a router.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::lab::Device;
use crate::support::project::Project;
use crate::support::run::CANARY;

/// Returns a free port of the loopback interface, below the ephemeral ports.
fn free_port() -> u16 {
    let mut ports = 27_000..27_900;
    ports
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port is free")
}

/// Returns the facts of a target, without those that change with time.
fn facts(project: &Project, target: &str) -> Value {
    let run = project.devgate(&format!("facts -t {target} --format json"));
    let mut facts = run.succeeded().item()["value"].clone();
    let hash = facts.as_object_mut().expect("facts are an object");
    hash.retain(|name, _| !name.contains("uptime"));
    facts
}

#[test]
fn a_router_that_was_recorded_is_replayed_with_the_same_facts() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let neighbor = format!("{} 192.0.2.77", 65000 + device.number());
    let secret = json!({ "remote_as": 64999, "password": "a-canary-bgp" });
    let manifest = project.manifest(json!({ "frr_bgp_neighbor": { &neighbor: secret } }));
    project
        .devgate(&format!("device --target router --apply {manifest}"))
        .succeeded();
    let record = "record -t router --command showxversion --format json recorded";
    let recorded = project.devgate(record).succeeded().item()["value"].clone();
    assert_eq!(recorded["refused"], json!(["showxversion"]), "{recorded}");
    let folder = project.path().join("recorded");
    for entry in fs::read_dir(&folder).expect("it is there").flatten() {
        let text = fs::read_to_string(entry.path()).expect("it is text");
        assert!(!text.contains(CANARY), "{:?}:\n{text}", entry.path());
    }
    let bgp = fs::read_to_string(folder.join("show running-config bgpd.txt")).expect("recorded");
    assert!(
        bgp.contains("neighbor 192.0.2.77 password ********"),
        "{bgp}"
    );
    project
        .devgate("record -t router recorded")
        .failed()
        .shows(&["is not empty"]);
    project
        .devgate("family test frr --case recorded")
        .succeeded()
        .shows(&["frr/recorded"]);

    let port = free_port();
    let played = project.start(&format!("practice --replay recorded --port {port}"));
    let known_hosts = project.path().join("home/known_hosts");
    let info = json!({
        "remote-transport": "frr", "host": "127.0.0.1", "port": port, "user": "admin",
        "password": "let-me-in", "known_hosts_file": known_hosts, "trust_on_first_use": true,
    });
    project.add_target("played", info);
    assert_eq!(facts(&project, "played"), facts(&project, "router"));
    let neighbors = "device --target played --resource frr_bgp_neighbor --format json";
    let neighbors = project.devgate(neighbors).succeeded().stdout;
    assert!(neighbors.contains("192.0.2.77"), "{neighbors}");
    project
        .devgate("session exec -t played show nonsense")
        .failed()
        .shows(&["% Unknown command: show nonsense"]);
    played.signal(Signal::SIGINT);
    played.finish().succeeded();
}

#[test]
fn facts_stand_in_for_a_router_that_is_down_and_for_no_other() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let item = |run: &str| {
        let run = project.devgate(&format!("facts -t router --format json {run}"));
        run.succeeded().item()
    };
    let fresh = item("--stale-ok");
    assert_eq!(fresh["collected"]["from"], "device", "{fresh}");
    assert_eq!(fresh["collected"]["age"], 0);
    let cached = item("--cached 1h");
    assert_eq!(cached["collected"]["from"], "cache", "{cached}");
    assert_eq!(cached["collected"]["because"], Value::Null);
    assert_eq!(cached["value"], fresh["value"]);
    let (file, text) = project
        .remaining_files()
        .pop_first()
        .expect("facts are kept");
    assert!(file.starts_with(project.path().join("home/.cache/devgate/facts")));
    assert!(!text.contains(CANARY));
    let mode = fs::metadata(&file)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    device.fault("refuse");
    let stale = item("--stale-ok");
    device.fault("accept");
    assert_eq!(stale["value"], fresh["value"]);
    assert_eq!(stale["collected"]["from"], "cache", "{stale}");
    let why = stale["collected"]["because"]["msg"].as_str();
    assert!(
        why.is_some_and(|why| why.contains("connection refused")),
        "{stale}"
    );

    let info = device.connection_info();
    project = Project::new();
    project.add_target("router", info.clone());
    project.devgate("facts -t router --stale-ok").succeeded();
    let mut wrong = info;
    wrong["password"] = json!("a-wrong-canary");
    let mut stranger = project;
    stranger.write(
        "inventory.yaml",
        &json!({ "version": 2, "targets": [{ "name": "router", "config": {
            "transport": "remote", "remote": wrong } }] })
        .to_string(),
    );
    stranger
        .devgate("facts -t router --stale-ok")
        .failed()
        .shows(&[
            "refuses the login",
            "are used only for a target that is down",
        ]);

    let damaged = stranger.remaining_files();
    let file = damaged.keys().next().expect("facts are kept").clone();
    fs::write(&file, "{").expect("written");
    stranger
        .devgate("facts -t router --cached 1h")
        .failed()
        .shows(&["is damaged", "refuses the login"]);
}
