//! Manifests in other formats than YAML, on a real router: catalogs compiled by Puppet, and `.pp` files.

use serde_json::{Value, json};

use crate::support::lab::Device;
use crate::support::project::Project;

const COMPILED: &str = include_str!("catalogs/edge.json");

/// Returns the numbers of changed, failed and unchanged resources of a run.
fn counts(value: &Value) -> [u64; 3] {
    ["changed", "failed", "unchanged"]
        .map(|count| value["summary"][count].as_u64().expect("it is counted"))
}

fn lines(device: &Device, word: &str) -> Vec<String> {
    let config = device.vtysh("show running-config");
    let found = config.lines().filter(|line| line.contains(word));
    found.map(str::to_owned).collect()
}

#[test]
fn a_catalog_that_puppet_has_compiled_is_applied() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let own = format!("{}", 65000 + device.number());
    let catalog = project.write("catalog.json", &COMPILED.replace("65001", &own));
    let apply = format!(
        "device --target router --apply {} --format json",
        catalog.display()
    );
    let skipped = "Skipping host resources because running on a device: Notify[routing is set up]";
    let run = project.devgate(&apply).succeeded().shows(&[skipped]);
    let value = run.item()["value"].clone();
    assert_eq!(counts(&value)[1], 0, "{value:#}");
    let ours = |line: &String| (4..10).any(|net| line.contains(&format!("10.{net}.0.0/16")));
    let routes: Vec<String> = lines(&device, "Null0").into_iter().filter(ours).collect();
    assert_eq!(
        routes,
        ["4", "8", "9"].map(|net| {
            let distance = if net == "4" { "" } else { " 20" };
            format!("ip route 10.{net}.0.0/16 Null0{distance}")
        })
    );
    let password = "neighbor 192.0.2.7 password a-canary-bgp";
    assert_eq!(lines(&device, password).len(), 1);
    let again = project.devgate(&apply).succeeded().item()["value"].clone();
    assert_eq!(counts(&again)[0], 0, "{again:#}");
}

#[test]
fn a_pp_file_is_applied_and_a_second_run_changes_nothing() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let text = "\
        $nets = ['10.61.0.0/16 via Null0', '10.62.0.0/16 via Null0']\n\
        Frr_static_route { distance => 7 }\n\
        frr_interface { 'swp2': description => \"the ${nets[0]} side\" } -> frr_static_route { $nets: }\n";
    let manifest = project.write("site.pp", text);
    let apply = format!(
        "device -t router --apply {} --format json",
        manifest.display()
    );
    let value = project.devgate(&apply).succeeded().item()["value"].clone();
    assert_eq!(counts(&value), [3, 0, 0], "{value:#}");
    for line in [
        "ip route 10.61.0.0/16 Null0 7",
        "ip route 10.62.0.0/16 Null0 7",
    ] {
        assert!(
            lines(&device, "ip route").contains(&line.to_owned()),
            "{line}"
        );
    }
    let again = project.devgate(&apply).succeeded().item()["value"].clone();
    assert_eq!(counts(&again), [0, 0, 3], "{again:#}");

    let wrong = project.write(
        "wrong.pp",
        "frr_interface { 'swp2':\n  description => lookup('x') }",
    );
    let apply = format!("device -t router --apply {} --format json", wrong.display());
    project
        .devgate(&apply)
        .failed()
        .shows(&["wrong.pp:2:18: a call of a function is not supported"]);
    assert_eq!(lines(&device, "the 10.61").len(), 1);

    let undone = text
        .replace("distance => 7", "ensure => absent")
        .replace("the ${nets[0]} side", "");
    let manifest = project.write("undone.pp", &undone);
    let apply = format!("device -t router --apply {}", manifest.display());
    project.devgate(&apply).succeeded().shows(&["3 changed"]);
    assert!(lines(&device, "10.61.0.0").is_empty());
}

#[test]
fn what_the_router_holds_is_printed_as_a_manifest_that_changes_nothing() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let text = "frr_static_route { '10.63.0.0/16 via Null0': distance => 9 }\n\
                frr_bgp_neighbor { 'AS 192.0.2.63': remote_as => 64963, password => Sensitive('a-canary-bgp') }\n";
    let text = text.replace("AS", &format!("{}", 65000 + device.number()));
    let manifest = project.write("before.pp", &text);
    let apply = format!("device -t router --apply {}", manifest.display());
    project.devgate(&apply).succeeded();
    for (option, file) in [("", "held.pp"), ("--to_yaml", "held.yaml")] {
        for kind in ["frr_static_route", "frr_bgp_neighbor", "Frr_interface"] {
            let document = project
                .devgate(&format!("device -t router -r {option} {kind}"))
                .succeeded();
            let held = project.write(file, &document.stdout);
            let apply = format!("device -t router --apply {} --format json", held.display());
            let value = project.devgate(&apply).succeeded().item()["value"].clone();
            assert_eq!(counts(&value)[..2], [0, 0], "{document}: {value:#}");
            assert!(counts(&value)[2] > 0, "{document}: {value:#}");
        }
    }
    project
        .devgate("device -t router --resource frr_bgp_neighbour")
        .failed()
        .shows(&[
            "Could not find type frr_bgp_neighbour",
            "frr_bgp_neighbor`?",
        ]);
    let undone = text.replace("=> 9 }", "=> 9, ensure => absent }");
    let undone = undone.replace("'a-canary-bgp') }", "'a-canary-bgp'), ensure => absent }");
    let manifest = project.write("undone.pp", &undone);
    let apply = format!("device -t router --apply {}", manifest.display());
    project.devgate(&apply).succeeded().shows(&["2 changed"]);
}

#[test]
fn reports_are_kept_as_puppets_own_without_secrets() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let text = "frr_static_route { '10.65.0.0/16 via Null0': distance => 9 }\n\
                frr_prefix_list { 'BAD 5': action => permit, prefix => '10.82.0.0/16', le => 8 }\n";
    let manifest = project.write("site.pp", text).display().to_string();
    for (format, file) in [
        ("puppet-json", "router.json"),
        ("puppet-yaml", "router.yaml"),
    ] {
        let run = project.devgate(&format!(
            "device -t router --apply {manifest} --report kept --report-format {format}"
        ));
        assert_eq!(run.code(), Some(1), "{run}");
        let saved = std::fs::read_to_string(project.path().join("kept").join(file));
        let saved = saved.expect("it is kept");
        let body = saved.strip_prefix("--- !ruby/object:Puppet::Transaction::Report\n");
        let report: Value = serde_json::from_str(body.unwrap_or(&saved)).expect("JSON");
        assert_eq!([&report["host"], &report["status"]], ["router", "failed"]);
        let status = &report["resource_statuses"]["Frr_prefix_list[BAD 5]"];
        assert_eq!(status["failed"], true, "{report:#}");
        assert!(!saved.contains("canary"), "{saved}");
    }
    let absent = "frr_static_route { '10.65.0.0/16 via Null0': ensure => absent }\n";
    let absent = project.write("absent.pp", absent).display().to_string();
    project
        .devgate(&format!("device -t router --apply {absent}"))
        .succeeded();
}

#[test]
fn exit_codes_distinguish_changes_from_failures() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    project.add("shut", &device, json!({ "password": "a-wrong-canary" }));
    let good = "frr_static_route { '10.64.0.0/16 via Null0': distance => 9 }\n";
    // The prefix list allows shorter lengths than its own: only the router detects that.
    let bad = "frr_prefix_list { 'BAD 5': action => permit, prefix => '10.82.0.0/16', le => 8 }\n";
    let good = project.write("good.pp", good).display().to_string();
    let bad = project.write("bad.pp", bad).display().to_string();
    let wrong = project
        .write("wrong.pp", "notice('x')")
        .display()
        .to_string();
    let absent = "frr_static_route { '10.64.0.0/16 via Null0': ensure => absent }\n";
    let absent = project.write("absent.pp", absent).display().to_string();
    for (targets, options, manifest, code) in [
        ("router", "--detailed-exitcodes --noop", &good, 0),
        ("router", "--detailed-exitcodes", &good, 2),
        ("router", "--detailed-exitcodes", &good, 0),
        ("router", "--detailed-exitcodes", &bad, 4),
        ("router", "", &bad, 1),
        ("router", "--puppet-exitcodes", &bad, 0),
        ("router", "--puppet-exitcodes", &wrong, 1),
        ("router,shut", "--detailed-exitcodes", &absent, 3),
        ("router", "", &absent, 0),
        ("shut", "--puppet-exitcodes", &good, 1),
    ] {
        let run = project.devgate(&format!("device -t {targets} {options} --apply {manifest}"));
        assert_eq!(
            run.code(),
            Some(code),
            "{targets} {options} {manifest}: {run}"
        );
    }
}
