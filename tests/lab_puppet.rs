//! Catalogs compiled by the system's Puppet, on a real router.

use crate::support::lab::Device;
use crate::support::project::Project;
use crate::support::puppet::{of_the_tests, puppet};

/// Language features that devgate does not read from `.pp` files: a class with parameters, a node,
/// functions, conditions, calculations.
const SITE: &str = "\
class edge (Array[String] $nets, Integer $distance) {
  $nets.each |$index, $net| {
    frr_static_route { \"${net} via Null0\": distance => $distance + $index }
  }
  unless $nets.empty {
    frr_interface { 'swp2': description => \"before ${nets.length} routes\", before => Frr_static_route[\"${nets[0]} via Null0\"] }
  }
}
node 'router' {
  class { 'edge': nets => Integer[71, 73].map |$net| { \"10.${net}.0.0/16\" }, distance => 30 }
}
node default { fail('only the router is known') }
";

/// Compiles a manifest as a Puppet server would, and returns the path of the catalog.
fn compile(project: &mut Project, manifest: &str) -> String {
    let manifest = project.write("site.pp", manifest).display().to_string();
    let modules = of_the_tests("catalogs/modules").display().to_string();
    let line = ["catalog", "compile", "router", "--render-as", "json"];
    let files = ["--manifest", &manifest, "--modulepath", &modules];
    let run = puppet(project, &[line.as_slice(), &files].concat()).succeeded();
    // The output begins with the notice that Puppet prints before the catalog.
    let catalog = project.write("catalog.json", &run.stdout);
    catalog.display().to_string()
}

#[test]
fn a_catalog_that_the_systems_puppet_compiles_now_is_applied() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let catalog = compile(&mut project, SITE);
    let apply = format!("device --target router --apply {catalog} --format json");
    let value = project.devgate(&apply).succeeded().item()["value"].clone();
    let resources = value["resources"].as_array().expect("resources");
    let position = |title: &str| resources.iter().position(|one| one["title"] == title);
    assert!(
        position("swp2") < position("10.71.0.0/16 via Null0"),
        "{value:#}"
    );
    for resource in resources {
        assert_eq!(resource["path"][1], "Edge", "{resource:#}");
    }
    let config = device.vtysh("show running-config");
    for line in [
        "description before 3 routes",
        "ip route 10.71.0.0/16 Null0 30",
        "ip route 10.72.0.0/16 Null0 31",
        "ip route 10.73.0.0/16 Null0 32",
    ] {
        assert!(config.contains(line), "{line} is not in {config}");
    }
    let again = project.devgate(&apply).succeeded().item();
    assert_eq!(again["value"]["summary"]["unchanged"], 4, "{again:#}");

    let removal = SITE.replace("distance => $distance + $index", "ensure => absent");
    let removal = removal.replace("\"before ${nets.length} routes\"", "''");
    let catalog = compile(&mut project, &removal);
    project
        .devgate(&format!("device --target router --apply {catalog}"))
        .succeeded()
        .shows(&["4 changed"]);
}
