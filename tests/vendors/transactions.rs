//! Types over APIs on which several changes take effect together.

use serde_json::{Value, json};

use super::with;
use crate::support::project::Project;
use crate::support::vendors::{f5, panos};

const POOL: &str = "
name: lb_pool
desc: A pool.
attributes:
  name: { type: 'String[1]', behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  monitor: { type: 'Optional[String]', desc: Its monitor. }
rest:
  get: { ask: tm/ltm/pool, rows: items, values: { NAME: name, MONITOR: monitor }, resource: { name: NAME, monitor: MONITOR } }
  create: { method: POST, path: tm/ltm/pool, body: { name: name, monitor: monitor } }
  update: { method: PATCH, path: 'tm/ltm/pool/~Common~{{ name }}', body: { monitor: monitor } }
  delete: { method: DELETE, path: 'tm/ltm/pool/~Common~{{ name }}' }
";

const ADDRESS: &str = "
name: fw_address
desc: An address.
attributes:
  name: { type: 'String[1]', behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  ip: { type: 'Optional[String]', desc: Its network. }
panos:
  get:
    ask: /config/shared/address
    rows: result/address/entry
    values: { NAME: '@name', IP: ip-netmask }
    resource: { name: NAME, ip: IP }
  create:
    method: set
    xpath: /config/shared/address/entry[@name='{{ name }}']
    element: <ip-netmask>{{ ip }}</ip-netmask>
  delete: { method: delete, xpath: \"/config/shared/address/entry[@name='{{ name }}']\" }
";

/// Applies resources, and returns the titles that changed, and the messages about those that failed.
fn apply(project: &mut Project, resources: Value) -> (Vec<String>, String) {
    let manifest = project.manifest(resources);
    let run = project.devgate(&format!(
        "device -t device --apply {manifest} --format json"
    ));
    let value = run.item()["value"].clone();
    let resources = value["resources"].as_array();
    let resources = resources.unwrap_or_else(|| panic!("{value:#}"));
    let changed = resources.iter().filter(|one| one["changed"] == true);
    let failed = resources.iter().filter(|one| one["failed"] == true);
    (
        changed
            .map(|one| one["title"].as_str().unwrap_or_default().to_owned())
            .collect(),
        failed
            .map(|one| format!("{}: {}", one["title"], one["messages"]))
            .collect(),
    )
}

fn add_family(project: &mut Project, protocol: &str, kind: &str, more: &str) {
    let name = kind
        .split_once('_')
        .map_or("", |(family, _)| &family["\nname: ".len()..]);
    let family = format!("name: {name}\ndesc: A device.\nprotocol: {protocol}\n{more}");
    project.write(&format!("modules/lab/devices/{name}/family.yaml"), &family);
    let file = kind
        .lines()
        .nth(1)
        .unwrap_or_default()
        .trim_start_matches("name: ")
        .to_owned();
    project.write(
        &format!("modules/lab/devices/{name}/types/{file}.yaml"),
        kind,
    );
}

#[test]
fn the_changes_of_f5_are_a_transaction_and_what_is_refused_fails_alone() {
    let server = f5::start(1000);
    let mut project = with("lb", &server, json!({}));
    add_family(&mut project, "f5", POOL, "");
    let pool = |monitor: &str| json!({ "monitor": monitor });
    let (changed, failed) = apply(
        &mut project,
        json!({ "lb_pool": { "a": pool("http"), "b": pool("https") } }),
    );
    assert_eq!((changed.len(), failed.as_str()), (2, ""));
    assert_eq!(server.count("POST /mgmt/tm/transaction"), 1);
    assert_eq!(server.count("PATCH /mgmt/tm/transaction/1"), 1);
    let wrong = json!({ "lb_pool": { "a": { "ensure": "absent" }, "bad": pool("invalid"), "c": pool("http") } });
    let (changed, failed) = apply(&mut project, wrong);
    assert_eq!(changed, ["a", "c"]);
    assert!(
        failed.starts_with("\"bad\"") && failed.contains("01070734"),
        "{failed}"
    );
    project
        .devgate("session get -t device tm/ltm/pool")
        .succeeded()
        .shows(&["\"b\"", "\"c\""]);
}

#[test]
fn the_changes_of_a_firewall_are_one_commit_without_those_of_others() {
    let server = panos::start_with_other_changes();
    let mut project = with("fw", &server, json!({}));
    let running = "connection_info: { configuration: { default: running } }\n";
    add_family(&mut project, "panos", ADDRESS, running);
    let address = |ip: &str| json!({ "ip": ip });
    let two = json!({ "fw_address": { "web": address("192.0.2.1"), "db": address("192.0.2.2") } });
    let (changed, failed) = apply(&mut project, two.clone());
    assert_eq!((changed.len(), failed.as_str()), (2, ""));
    assert_eq!(server.count("type=commit"), 1);
    assert_eq!(apply(&mut project, two).0.len(), 0);
    let others = format!("session get -t device {}", panos::OTHERS);
    project.devgate(&others).succeeded().shows(&["code=\"7\""]);
    // A commit that fails is reverted, and the others are made.
    let wrong =
        json!({ "fw_address": { "bad": address(panos::INVALID), "web": { "ensure": "absent" } } });
    let (changed, failed) = apply(&mut project, wrong);
    assert_eq!(changed, ["web"]);
    assert!(failed.contains("zone dmz is unknown"), "{failed}");
}

#[test]
fn own_changes_that_are_not_committed_are_neither_committed_nor_reverted() {
    let server = panos::start();
    let mut project = with("fw", &server, json!({}));
    add_family(&mut project, "panos", ADDRESS, "");
    project
        .devgate("session set -t device /config/x <mine/>")
        .succeeded();
    let (changed, failed) = apply(
        &mut project,
        json!({ "fw_address": { "web": { "ip": "192.0.2.1" } } }),
    );
    assert_eq!(changed, [""; 0]);
    assert!(
        failed.contains("has changes that are not committed"),
        "{failed}"
    );
    assert_eq!(server.count("type=commit"), 0);
    project
        .devgate("session get -t device /config/x")
        .succeeded()
        .shows(&["mine"]);
}
