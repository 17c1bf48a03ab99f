//! Manifests that are not YAML, on a real router: catalogs that Puppet has compiled, `.pp` files.

use serde_json::Value;

use crate::support::lab::Device;
use crate::support::project::Project;

const COMPILED: &str = include_str!("catalogs/edge.json");

/// What a run says of the resources: how many were changed, failed, and as they should be.
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
    let run = project.devgate(&apply).succeeded().says(&[skipped]);
    let value = run.item()["value"].clone();
    assert_eq!(counts(&value)[1], 0, "{value:#}");
    assert_eq!(
        lines(&device, "Null0"),
        ["4", "8", "9"].map(|net| {
            let distance = if net == "4" { "" } else { " 20" };
            format!("ip route 10.{net}.0.0/16 Null0{distance}")
        })
    );
    assert_eq!(lines(&device, "a-canary-bgp").len(), 1);
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
        .says(&["wrong.pp:2:18: a call of a function is not read here"]);
    assert_eq!(lines(&device, "the 10.61").len(), 1);

    let undone = text
        .replace("distance => 7", "ensure => absent")
        .replace("the ${nets[0]} side", "");
    let manifest = project.write("undone.pp", &undone);
    let apply = format!("device -t router --apply {}", manifest.display());
    project.devgate(&apply).succeeded().says(&["3 changed"]);
    assert!(lines(&device, "10.61.0.0").is_empty());
}
