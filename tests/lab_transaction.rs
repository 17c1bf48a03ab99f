//! Device runs on real routers: many resources, one read per type, ordering, purging and rollback.

use serde_json::{Map, Value, json};

use crate::support::lab::Device;
use crate::support::project::Project;

/// Returns 200 resources of four types with this `ensure`; one attribute of each route is `tag`.
fn bulk(device: &Device, ensure: &str, tag: u32) -> Value {
    let mut types = Map::new();
    let mut declare = |kind: &str, title: String, mut attributes: Value| {
        if kind != "frr_interface" {
            attributes["ensure"] = json!(ensure);
        }
        types.entry(kind).or_insert(json!({}))[title] = attributes;
    };
    for number in 0..100 {
        let route = format!("10.80.{number}.0/24 via Null0");
        declare("frr_static_route", route, json!({ "route_tag": tag }));
        if number < 70 {
            let entry = json!({ "action": "permit", "prefix": format!("10.81.{number}.0/24") });
            declare("frr_prefix_list", format!("BULK {}", number + 1), entry);
        }
        if number < 28 {
            let title = format!("{} 192.0.2.{}", 65000 + device.number(), 100 + number);
            let peer =
                json!({ "remote_as": 64900, "password": "a-canary-bulk", "description": "bulk" });
            declare("frr_bgp_neighbor", title, peer);
        }
    }
    for port in ["swp1", "swp2"] {
        let text = if ensure == "present" { "in bulk" } else { "" };
        declare(
            "frr_interface",
            port.to_owned(),
            json!({ "description": text }),
        );
    }
    Value::Object(types)
}

/// Returns the result and the log of a run, and checks that they contain none of the manifest's secrets.
fn applied(project: &Project, manifest: &str, options: &str) -> (Value, String) {
    let run = project.devgate(&format!(
        "device --target router --apply {manifest} --format json {options}"
    ));
    (run.item()["value"].clone(), run.stderr)
}

fn lines_with(config: &str, text: &str) -> usize {
    config.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn two_hundred_resources_are_applied_kept_mended_and_taken_away() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let removal = project.manifest(bulk(&device, "absent", 7));
    applied(&project, &removal, "");
    let manifest = project.manifest(bulk(&device, "present", 7));
    let (value, _) = applied(&project, &manifest, "");
    assert_eq!(
        [
            &value["status"],
            &value["summary"]["total"],
            &value["summary"]["changed"]
        ],
        [&json!("changed"), &json!(200), &json!(200)],
        "{:#}",
        value["summary"]
    );
    let config = || device.vtysh("show running-config");
    assert_eq!(
        [
            " tag 7",
            "ip prefix-list BULK seq",
            " description bulk",
            "description in bulk"
        ]
        .map(|text| { lines_with(&config(), text) }),
        [100, 70, 28, 2]
    );

    // A second run changes nothing, and reads each type once.
    let (value, message) = applied(&project, &manifest, "--log-level debug");
    assert_eq!(
        [&value["status"], &value["summary"]["unchanged"]],
        [&json!("unchanged"), &json!(200)],
        "{:#}",
        value["summary"]
    );
    let request: Vec<&str> = message
        .lines()
        .filter_map(|line| Some(line.split_once("asks for `")?.1))
        .collect();
    let mut request: Vec<&str> = request
        .iter()
        .map(|command| command.trim_end_matches('`'))
        .collect();
    request.sort_unstable();
    assert_eq!(
        request,
        [
            "show interface brief",
            "show running-config bgpd",
            "show running-config staticd",
            "show running-config zebra", // interfaces
            "show running-config zebra", // prefix lists
        ]
    );

    // A line that was changed externally is found and corrected, and nothing else is touched.
    let before = config();
    device.vtysh(
        "configure terminal\nno ip prefix-list BULK seq 30\nip prefix-list BULK seq 30 deny any\n",
    );
    assert_ne!(config(), before);
    let noop = applied(&project, &manifest, "--noop").0;
    assert_eq!(
        [&noop["summary"]["out_of_sync"], &noop["summary"]["changed"]],
        [&json!(1), &json!(0)]
    );
    assert_ne!(config(), before, "noop has changed the router");
    let (value, _) = applied(&project, &manifest, "");
    assert_eq!(value["summary"]["changed"], 1, "{:#}", value["summary"]);
    assert_eq!(config(), before);

    let manifest = project.manifest(bulk(&device, "absent", 7));
    let (value, _) = applied(&project, &manifest, "");
    assert_eq!(value["summary"]["changed"], 200, "{:#}", value["summary"]);
    assert_eq!(
        lines_with(&config(), "BULK") + lines_with(&config(), "10.80."),
        0
    );
}

#[test]
fn purge_removes_what_nobody_declared_and_nothing_else() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    device.vtysh("configure terminal\nip prefix-list STRAY seq 5 permit any\nip prefix-list KEPT seq 5 permit any\n");
    let purge = json!({
        "frr_prefix_list": { "KEPT 5": { "action": "permit", "prefix": "any" } },
        "resources": { "frr_prefix_list": { "purge": true } },
    });
    let manifest = project.manifest(purge);
    let config = || device.vtysh("show running-config");
    let before = config();
    let (value, _) = applied(&project, &manifest, "--noop");
    let would: Vec<&Value> = value["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|one| one["noop"] == true)
        .collect();
    assert!(
        would
            .iter()
            .any(|one| one["ref"] == "Frr_prefix_list[ipv4 STRAY 5]"),
        "{value:#}"
    );
    assert_eq!(config(), before, "noop has changed the router");
    let (value, _) = applied(&project, &manifest, "");
    assert_eq!(value["status"], "changed", "{value:#}");
    let lists: Vec<String> = config()
        .lines()
        .filter(|line| line.contains("prefix-list"))
        .map(str::to_owned)
        .collect();
    assert_eq!(lists, ["ip prefix-list KEPT seq 5 permit any"]);
    assert_eq!(applied(&project, &manifest, "").0["status"], "unchanged");
}

/// Removes what such a manifest leaves behind.
fn clean(project: &mut Project) {
    let clean = project.manifest(json!({
        "frr_interface": { "swp1": { "description": "" } },
        "frr_prefix_list": { "GOOD 5": { "ensure": "absent" } },
        "frr_static_route": { "10.82.2.0/24 via Null0": { "ensure": "absent" } },
    }));
    assert_ne!(applied(project, &clean, "").0["status"], "failed");
}

/// Writes a manifest whose prefix list the router refuses: it allows shorter lengths than its own.
fn failing(project: &mut Project) -> String {
    project.manifest(json!({
        "frr_interface": { "swp1": { "description": "before a failure" } },
        "frr_prefix_list": {
            "GOOD 5": { "action": "permit", "prefix": "10.82.0.0/16" },
            "BAD 5": { "action": "permit", "prefix": "10.82.0.0/16", "le": 8 },
        },
        "frr_static_route": {
            "10.82.1.0/24 via Null0": { "require": "Frr_prefix_list[BAD 5]" },
            "10.82.2.0/24 via Null0": { "require": "Frr_prefix_list[GOOD 5]" },
        },
    }))
}

#[test]
fn a_failure_in_the_middle_skips_what_depends_on_it_and_is_reported_as_it_is() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    clean(&mut project);
    let manifest = failing(&mut project);
    let (value, _) = applied(&project, &manifest, "");
    let end = |one: &Value| {
        let words = ["failed", "skipped", "changed"];
        let word = words.into_iter().find(|word| one[word] == true);
        (one["title"].clone(), word.unwrap_or("unchanged"))
    };
    let ends: Vec<(Value, &str)> = value["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .map(end)
        .collect();
    assert_eq!(
        ends,
        [
            (json!("swp1"), "changed"),
            (json!("GOOD 5"), "changed"),
            (json!("BAD 5"), "failed"),
            (json!("10.82.1.0/24 via Null0"), "skipped"),
            (json!("10.82.2.0/24 via Null0"), "changed"),
        ],
        "{value:#}"
    );
    let messages = value["resources"][3]["messages"].clone();
    assert_eq!(
        messages,
        json!([
            "Dependency Frr_prefix_list[BAD 5] has failures: true",
            "Skipping because of failed dependencies",
        ])
    );
    let config = device.vtysh("show running-config");
    let there = ["before a failure", "GOOD", "BAD", "10.82.1.0", "10.82.2.0"];
    assert_eq!(
        there.map(|text| config.contains(text)),
        [true, true, false, false, true],
        "{config}"
    );
}

#[test]
fn with_rollback_a_failure_leaves_the_router_as_it_was() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    clean(&mut project);
    let before = device.vtysh("show running-config");
    let manifest = failing(&mut project);
    let (value, _) = applied(&project, &manifest, "--rollback on-error");
    assert_eq!(
        [
            &value["rolled_back"],
            &value["status"],
            &value["summary"]["changed"]
        ],
        [&json!(true), &json!("failed"), &json!(0)],
        "{value:#}"
    );
    assert_eq!(device.vtysh("show running-config"), before);
}

#[test]
fn what_is_audited_is_reported_when_somebody_has_changed_it() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let manifest = project.manifest(json!({
        "frr_interface": { "swp2": { "audit": "description" } },
        "frr_static_route": { "10.83.0.0/16 via Null0": { "ensure": "absent", "tag": "edge" } },
    }));
    let describe = |text: &str| {
        device.vtysh(&format!(
            "configure terminal\ninterface swp2\ndescription {text}\n"
        ));
    };
    describe("one");
    let messages = |options: &str| {
        let (value, _) = applied(&project, &manifest, options);
        assert_eq!(value["status"], "unchanged", "{value:#}");
        value["resources"][0]["messages"].clone()
    };
    let audit_message = |text: &str| json!([format!("description: audit change: {text}")]);
    assert_eq!(messages(""), audit_message("newly-recorded value 'one'"));
    assert_eq!(messages(""), json!([]));
    describe("two");
    let changed = audit_message("previously recorded value 'one' has been changed to 'two'");
    assert_eq!(messages("--noop"), changed, "noop keeps nothing");
    assert_eq!(messages("--tags edge"), json!(["Not tagged with edge"]));
    assert_eq!(messages(""), changed);
    assert_eq!(messages(""), json!([]));
}

#[test]
fn a_diff_is_the_lines_that_the_router_is_sent() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let route = |distance: u32| json!({ "frr_static_route": { "10.84.0.0/16 via Null0": { "distance": distance } } });
    let manifest = project.manifest(route(7));
    applied(&project, &manifest, "");
    let manifest = project.manifest(route(9));
    let run = project.devgate(&format!("device --target router --apply {manifest} --diff"));
    run.succeeded().shows(&[
        "frr_static_route[10.84.0.0/16 via Null0]: changed",
        "distance changed 7 to 9",
        "+ ip route 10.84.0.0/16 Null0 9",
    ]);
    let run = project.devgate("device --target router --facts --tags edge");
    run.failed().shows(&["--tags"]);
}

#[test]
fn a_rollback_restores_what_was_removed_and_its_secrets() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let peer = format!("{} 192.0.2.177", 65000 + device.number());
    let held = json!({ &peer: { "remote_as": 64901, "password": "a-canary-back", "description": "to be kept" } });
    let manifest = project.manifest(json!({ "frr_bgp_neighbor": held }));
    assert_ne!(applied(&project, &manifest, "").0["status"], "failed");
    let before = device.vtysh("show running-config");
    assert!(
        before.contains("neighbor 192.0.2.177 password a-canary-back"),
        "{before}"
    );
    let manifest = project.manifest(json!({
        "frr_bgp_neighbor": { &peer: { "ensure": "absent" } },
        "frr_static_route": { "10.87.0.0/16 via Null0": { "require": format!("Frr_bgp_neighbor[{peer}]") } },
        "frr_prefix_list": { "BAD 6": {
            "action": "permit", "prefix": "10.87.0.0/16", "le": 8,
            "require": "Frr_static_route[10.87.0.0/16 via Null0]",
        } },
    }));
    let (value, _) = applied(&project, &manifest, "--rollback on-error --log-level trace");
    assert_eq!(value["rolled_back"], true, "{value:#}");
    assert_eq!(device.vtysh("show running-config"), before);
}
