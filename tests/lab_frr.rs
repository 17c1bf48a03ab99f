//! Operations on a real router: verify it, read it, change it, and see the change.

use serde_json::{Value, json};

use crate::support::lab::Device;
use crate::support::project::Project;
use crate::support::run::Run;

#[test]
fn verify_says_that_the_router_can_be_reached() {
    let device = Device::lease();
    let project = Project::with(&device);
    let item = project
        .devgate("verify -t router --format json")
        .succeeded()
        .item();
    assert_eq!(
        [
            &item["target"],
            &item["action"],
            &item["status"],
            &item["value"]
        ],
        [
            &json!("router"),
            &json!("verify"),
            &json!("success"),
            &json!({})
        ]
    );
    project
        .devgate("verify -t router")
        .succeeded()
        .shows(&["router"]);
}

#[test]
fn facts_are_what_the_router_itself_says() {
    let device = Device::lease();
    let project = Project::with(&device);
    let facts = project
        .devgate("facts -t router --format json")
        .succeeded()
        .item()["value"]
        .clone();
    let release = facts
        .pointer("/os/release/full")
        .and_then(Value::as_str)
        .expect("the facts have a release");
    assert!(
        device
            .vtysh("show version")
            .contains(&format!("FRRouting {release} ")),
        "{facts:#}"
    );
    assert_eq!(
        facts.pointer("/networking/hostname"),
        Some(&json!(device.name())),
        "{facts:#}"
    );
    project
        .devgate("facts -t router")
        .succeeded()
        .shows(&[release]);
}

#[test]
fn show_commands_are_run_compared_and_checked_and_no_others_are_sent() {
    let device = Device::lease();
    let project = Project::with(&device);
    let run = |words: &[&str]| {
        let command = [
            "devgate", "command", "run", "-t", "router", "--format", "json",
        ];
        project.run_program(&[&command[..], words].concat())
    };
    let route = "sh ip route | include 10.255";
    let item = run(&["show interface lo", "--for", &format!("frr={route}")])
        .succeeded()
        .item();
    let commands = &item["value"]["commands"];
    let interface = commands[0]["output"].as_str().expect("a text");
    assert_eq!(interface.trim(), device.vtysh("show interface lo").trim());
    assert_eq!(commands[1]["command"], route);
    let routes = commands[1]["output"].as_str().expect("a text");
    assert!(routes.lines().count() == 1 && routes.contains("directly connected, lo"));
    for refused in [
        "clear ip bgp *",
        "show version | redirect x",
        "write memory",
    ] {
        let item = run(&[refused]).failed().item();
        assert_eq!(item["value"]["_error"]["kind"], "devgate/not-harmless");
    }
    let interfaces = "show interface brief";
    run(&[interfaces, "--save", "saved", "--expect", "^lo +up"]).succeeded();
    let item = run(&[interfaces, "--diff", "saved"]).succeeded().item();
    assert_eq!(item["value"]["commands"][0]["diff"], "");
    let configure = "devgate session exec -t router --config";
    let lines = ["interface lo", " ip address 10.255.9.9/32"];
    let words: Vec<&str> = configure.split(' ').chain(lines).collect();
    project.run_program(&words).succeeded();
    let item = run(&[interfaces, "--diff", "saved"]).failed().item();
    let diff = item["value"]["commands"][0]["diff"]
        .as_str()
        .expect("a text");
    assert!(diff.contains("10.255.9.9/32"), "{diff}");
}

#[test]
fn keys_and_keyboard_interactive_logins_do_as_well_as_passwords() {
    let device = Device::lease();
    let key = json!({ "password": null, "private_key": device.private_key() });
    let interactive = json!({ "port": device.port("keyboard_interactive_port") });
    for settings in [key, interactive] {
        let project = Project::with_settings(&device, settings);
        project.devgate("verify -t router").succeeded();
    }
}

#[test]
fn old_algorithms_are_used_only_where_the_target_allows_them() {
    let device = Device::lease();
    let legacy = device.port("legacy_port");
    let allowed = Project::with_settings(
        &device,
        json!({ "port": legacy, "ssh_algorithms": "legacy" }),
    );
    allowed.devgate("verify -t router").succeeded();
    let refused = Project::with_settings(&device, json!({ "port": legacy }));
    refused
        .devgate("verify -t router")
        .failed()
        .shows(&["ssh_algorithms: legacy"]);
}

#[test]
fn a_key_trusted_on_first_use_is_remembered() {
    let device = Device::lease();
    let mut project = Project::new();
    let known_hosts = project.path().join("home/known_hosts");
    let settings = json!({ "known_hosts_file": known_hosts, "trust_on_first_use": true });
    project.add("new", &device, settings);
    project.add("met", &device, json!({ "known_hosts_file": known_hosts }));
    project
        .devgate("verify -t met")
        .failed()
        .shows(&["is not known"]);
    project.devgate("verify -t new").succeeded();
    project.devgate("verify -t met").succeeded();
}

#[test]
fn many_sessions_at_once_are_no_trouble() {
    let device = Device::lease();
    let mut project = Project::new();
    for number in 0..60 {
        project.add(&format!("router{number}"), &device, json!({}));
    }
    let document = project
        .devgate("facts -t all --format json")
        .succeeded()
        .json();
    assert_eq!(document["target_count"], 60);
    let hostname = |item: &Value| item.pointer("/value/networking/hostname").cloned();
    for item in document["items"].as_array().expect("items is a list") {
        assert_eq!(hostname(item), Some(json!(device.name())), "{item:#}");
    }
}

#[test]
fn noop_shows_the_change_and_makes_none() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let manifest = route(&mut project, "10.41.0.0/16", "present", 20);
    let before = device.vtysh("show running-config");
    let run = project.devgate(&format!(
        "device --target router --apply {manifest} --noop --format json"
    ));
    let value = run.succeeded().item()["value"].clone();
    assert_eq!(
        [
            &value["summary"]["out_of_sync"],
            &value["summary"]["changed"]
        ],
        [&json!(1), &json!(0)],
        "{value:#}"
    );
    let row = &value["resources"][0];
    assert_eq!(
        [&row["noop"], &row["changed"]],
        [&json!(true), &json!(false)],
        "{value:#}"
    );
    assert_eq!(
        row.pointer("/should/distance"),
        Some(&json!(20)),
        "{value:#}"
    );
    assert_eq!(
        device.vtysh("show running-config"),
        before,
        "noop has changed the router"
    );
}

#[test]
fn every_type_converges() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let neighbor = format!("{} 192.0.2.7", 65000 + device.number());
    let absent = json!({ "ensure": "absent" });
    let removal = project.write(
        "gone.yaml",
        &json!({
            "frr_prefix_list": { "CUSTOMERS 10": absent, "ipv6 CUSTOMERS 10": absent },
            "frr_interface": { "swp2": { "description": "", "addresses": [] } },
            "frr_bgp_neighbor": { &neighbor: absent },
            "frr_static_route": { "10.52.0.0/16 via Null0": absent, "2001:db8:52::/48 via swp1": absent },
        })
        .to_string(),
    );
    let manifest = project.manifest(json!({
        "frr_prefix_list": {
            "CUSTOMERS 10": { "action": "permit", "prefix": "10.50.0.0/16", "le": 24 },
            "ipv6 CUSTOMERS 10": { "action": "deny", "prefix": "any" },
        },
        "frr_interface": { "swp2": { "description": "to the lab", "addresses": ["10.51.0.1/24"] } },
        "frr_bgp_neighbor": {
            neighbor: { "remote_as": 64999, "description": "a peer", "password": "a-canary-bgp", "keepalive": 5, "holdtime": 20 },
        },
        "frr_static_route": { "10.52.0.0/16 via Null0": {}, "2001:db8:52::/48 via swp1": { "distance": 9 } },
    }));
    let apply = format!("device --target router --apply {manifest} --format json");
    let remove = apply.replace(&manifest, removal.to_str().expect("the path is text"));
    let summary = |run: Run| run.succeeded().item()["value"]["summary"].clone();
    // A lab that was used before may contain some of the resources.
    summary(project.devgate(&remove));
    let first = summary(project.devgate(&apply));
    assert_eq!(
        [&first["total"], &first["changed"], &first["failed"]],
        [&json!(6), &json!(6), &json!(0)]
    );
    let config = device.vtysh("show running-config");
    for line in [
        "ip prefix-list CUSTOMERS seq 10 permit 10.50.0.0/16 le 24",
        "ipv6 prefix-list CUSTOMERS seq 10 deny any",
        " description to the lab",
        " neighbor 192.0.2.7 password a-canary-bgp",
        "ipv6 route 2001:db8:52::/48 swp1 9",
    ] {
        assert!(
            config.lines().any(|found| found == line),
            "{line:?} is missing:\n{config}"
        );
    }
    let second = summary(project.devgate(&apply));
    assert_eq!(
        [&second["changed"], &second["unchanged"]],
        [&json!(0), &json!(6)]
    );
    assert_eq!(summary(project.devgate(&remove))["changed"], 6);
    let config = device.vtysh("show running-config");
    for word in ["CUSTOMERS", "to the lab", "192.0.2.7", "db8:52"] {
        assert!(!config.contains(word), "{word:?} is left:\n{config}");
    }
}

#[test]
fn an_applied_route_is_on_the_router_and_a_second_run_changes_nothing() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let apply = |project: &Project, manifest: &str| {
        let run = project.devgate(&format!(
            "device --target router --apply {manifest} --format json"
        ));
        run.succeeded().item()["value"].clone()
    };
    let on_router = || {
        let config = device.vtysh("show running-config");
        config
            .lines()
            .filter(|line| line.contains("10.42.0.0/16"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };

    let manifest = route(&mut project, "10.42.0.0/16", "present", 20);
    let value = apply(&project, &manifest);
    assert_eq!(value["summary"]["changed"], 1, "{value:#}");
    assert_eq!(on_router(), ["ip route 10.42.0.0/16 10.0.0.9 20"]);

    let value = apply(&project, &manifest);
    assert_eq!(
        [&value["summary"]["changed"], &value["summary"]["unchanged"]],
        [&json!(0), &json!(1)],
        "{value:#}"
    );

    let listing = project
        .devgate("device --target router --resource frr_static_route --format json")
        .succeeded()
        .item()["value"]
        .clone();
    let rows = listing["resources"]
        .as_array()
        .expect("resources is a list");
    let row = rows
        .iter()
        .find(|row| row["title"] == "10.42.0.0/16 via 10.0.0.9")
        .expect("the route is listed");
    let attribute = |name: &str| row.get("is").unwrap_or(row).get(name).cloned();
    assert_eq!(
        [attribute("ensure"), attribute("distance")],
        [Some(json!("present")), Some(json!(20))],
        "{row:#}"
    );

    let manifest = route(&mut project, "10.42.0.0/16", "absent", 20);
    assert_eq!(apply(&project, &manifest)["summary"]["changed"], 1);
    assert_eq!(on_router(), [""; 0]);
}

/// Writes a manifest with one static route.
fn route(project: &mut Project, prefix: &str, ensure: &str, distance: u8) -> String {
    let title = format!("{prefix} via 10.0.0.9");
    let attributes = json!({ "ensure": ensure, "distance": distance });
    project.manifest(json!({ "frr_static_route": { title: attributes } }))
}
