//! What devgate does for somebody who has no device at hand.

use serde_json::json;

use crate::support::project::Project;

#[test]
fn the_demo_goes_well_and_leaves_nothing() {
    let project = Project::new();
    project
        .devgate("demo")
        .succeeded()
        .says(&["$ devgate verify", "$ devgate device"]);
    assert!(
        project.left_behind().is_empty(),
        "{:#?}",
        project.left_behind()
    );
}

#[test]
fn every_family_passes_its_recorded_cases() {
    let project = Project::new();
    project
        .devgate("family test")
        .succeeded()
        .says(&["frr/frr_static_route_get"]);
}

#[test]
fn what_a_type_reads_it_can_write_again() {
    let mut project = Project::new();
    let line = "ip route 10.9.0.0/16 Null0 20";
    let output = project.write("show.txt", &format!("{line}\n"));
    let parse = format!(
        "resource parse frr frr_static_route --from {} --format json",
        output.display()
    );
    let resource = project.devgate(&parse).succeeded().json()["resources"][0].clone();
    assert_eq!(
        [&resource["prefix"], &resource["distance"]],
        [&json!("10.9.0.0/16"), &json!(20)]
    );
    let should =
        json!({ "prefix": resource["prefix"], "next_hop": resource["next_hop"], "distance": 20 });
    let render = format!("resource render frr frr_static_route --should {should}");
    assert_eq!(project.devgate(&render).succeeded().stdout.trim_end(), line);
}

#[test]
fn names_that_nobody_knows_are_told() {
    let project = Project::new();
    for (arguments, name) in [
        ("verify -t nobody", "nobody"),
        ("task run nothing::here -t localhost", "nothing::here"),
        ("type show frr/frr_vlan", "frr_vlan"),
        ("transport show carrier_pigeon", "carrier_pigeon"),
        ("resource render frr frr_vlan --should {}", "frr_vlan"),
    ] {
        project.devgate(arguments).failed().says(&[name]);
    }
}

#[test]
fn a_session_is_lent_only_where_there_can_be_one() {
    let mut project = Project::new();
    project
        .devgate("session exec show version")
        .failed()
        .says(&["DEVGATE_SESSION is not set", "devgate session run"]);
    project.add_target("unknown", json!({ "remote-transport": "nobody_knows" }));
    let script = "#!/bin/sh\necho \"session: ${DEVGATE_SESSION-none}\"\n";
    for (task, remote, target) in [("far", true, "unknown"), ("near", false, "localhost")] {
        let metadata = json!({ "remote": remote }).to_string();
        project.write(&format!("modules/demo/tasks/{task}.json"), &metadata);
        project.write(&format!("modules/demo/tasks/{task}.sh"), script);
        project
            .devgate(&format!("task run demo::{task} -t {target}"))
            .succeeded()
            .says(&["session: none"]);
    }
    project
        .devgate("session run -t localhost -- true")
        .failed()
        .says(&["localhost is no remote target"]);
}
