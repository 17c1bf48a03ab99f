//! Features of devgate that need no device.

use serde_json::json;

use crate::support::http::{HttpResponse, Server};
use crate::support::project::Project;

#[test]
fn the_demo_goes_well_and_leaves_nothing() {
    let project = Project::new();
    project
        .devgate("demo")
        .succeeded()
        .shows(&["$ devgate verify", "$ devgate device"]);
    assert!(
        project.remaining_files().is_empty(),
        "{:#?}",
        project.remaining_files()
    );
}

#[test]
fn every_family_passes_its_recorded_cases() {
    let project = Project::new();
    project
        .devgate("family test")
        .succeeded()
        .shows(&["frr/frr_static_route_get"]);
}

#[test]
fn a_family_without_cases_was_not_tested() {
    let mut project = Project::new();
    let family = "name: mybox\ndesc: x\nprotocol: ssh_cli\ndialect:\n  prompt: { exec: '> ?' }\n";
    project.write("modules/m/devices/mybox/family.yaml", family);
    let run = project.devgate("family test mybox").failed();
    run.shows(&["nothing was tested", "cases/NAME/case.yaml"]);
    project.devgate("family test").succeeded();
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
fn a_rendered_change_has_canonical_values_as_in_a_run() {
    let project = Project::new();
    let is = json!({ "trunk_vlans": "3,1-2", "description": "a" });
    let should = json!({ "title": "gi0/3", "trunk_vlans": "1,2,3", "description": "b" });
    let render = format!("resource render practice practice_interface --is {is} --should {should}");
    assert_eq!(
        project.devgate(&render).succeeded().stdout,
        "interface GigabitEthernet0/3\n description b\n"
    );
}

#[test]
fn names_that_nobody_knows_are_reported() {
    let project = Project::new();
    for (arguments, name) in [
        ("verify -t nobody", "nobody"),
        ("task run nothing::here -t localhost", "nothing::here"),
        ("type show frr/frr_vlan", "frr_vlan"),
        ("transport show carrier_pigeon", "carrier_pigeon"),
        ("resource render frr frr_vlan --should {}", "frr_vlan"),
    ] {
        project.devgate(arguments).failed().shows(&[name]);
    }
}

#[test]
fn a_session_is_lent_only_where_there_can_be_one() {
    let mut project = Project::new();
    project
        .devgate("session exec show version")
        .failed()
        .shows(&["DEVGATE_SESSION is not set", "devgate session run"]);
    project.add_target("unknown", json!({ "remote-transport": "nobody_knows" }));
    let script = "#!/bin/sh\necho \"session: ${DEVGATE_SESSION-none}\"\n";
    for (task, remote, target) in [("far", true, "unknown"), ("near", false, "localhost")] {
        let metadata = json!({ "remote": remote }).to_string();
        project.write(&format!("modules/demo/tasks/{task}.json"), &metadata);
        project.write(&format!("modules/demo/tasks/{task}.sh"), script);
        project
            .devgate(&format!("task run demo::{task} -t {target}"))
            .succeeded()
            .shows(&["session: none"]);
    }
    project
        .devgate("session run -t localhost -- true")
        .failed()
        .shows(&["localhost is not a remote target"]);
}

#[test]
fn a_value_that_no_device_takes_is_refused_before_any_device_is_asked() {
    let mut project = Project::new();
    // Nothing listens there: a command that connects would fail.
    for name in ["r1", "r2"] {
        let info = json!({"remote-transport": "frr", "host": "127.0.0.1", "port": 9, "user": "me"});
        project.add_target(name, info);
    }
    let refused = |project: &mut Project, manifest: serde_json::Value, why: &[&str]| {
        let manifest = project.manifest(manifest);
        let run = project.devgate(&format!("device -t r1,r2 --apply {manifest}"));
        let run = run.failed().shows(why);
        assert!(
            !run.to_string().contains("127.0.0.1"),
            "a device is asked: {run}"
        );
    };
    let port = json!({"swp4": {"description": "uplink"}});
    refused(
        &mut project,
        json!({"frr_interface": port, "frr_static_route": {"10.60.0.0/40 via Null0": {}}}),
        &[
            "Frr_static_route[10.60.0.0/40 via Null0]",
            "`prefix`",
            "10.60.0.0/40",
        ],
    );
    refused(
        &mut project,
        json!({"frr_interface": {"swp4": {"description": "what?"}}}),
        &["Frr_interface[swp4]", "`description`", "'?'"],
    );
    let much = json!({"distance": 300, "schedule": "daily", "requires": "x"});
    refused(
        &mut project,
        json!({"frr_static_route": {"10.60.0.0/40 via Null0": much}}),
        &[
            "`distance` expects",
            "`schedule` is not known",
            "no attribute `requires`",
            "length beyond 32",
        ],
    );
    let twice = json!({"10.9.1.0/16 via Null0": {}, "10.9.0.0/16 via Null0": {}});
    refused(
        &mut project,
        json!({ "frr_static_route": twice }),
        &["is the same resource as"],
    );
}

#[test]
fn a_target_behind_a_proxy_is_not_reached_from_here_unless_somebody_says_so() {
    let server = Server::start(|_| Some(HttpResponse::json(200, &json!({ "alive": true }))));
    let mut project = Project::new();
    for (name, run_on) in [
        ("behind", json!("jump")),
        ("near", json!(["localhost"])),
        ("mixed", json!(["localhost", "jump"])),
    ] {
        let info = json!({
            "remote-transport": "rest", "host": "127.0.0.1", "port": server.port,
            "protocol": "http", "run-on": run_on,
        });
        project.add_target(name, info);
    }
    for command in [
        "verify -t behind",
        "facts -t behind",
        "record -t behind kept",
    ] {
        let run = project
            .devgate(&format!("{command} --format json"))
            .failed();
        let error = &run.item()["value"]["_error"];
        assert_eq!(error["kind"], "devgate/unknown-target", "{command}: {run}");
        run.shows(&["`run-on: jump`", "not in the inventory"]);
    }
    for command in [
        "session get -t behind /",
        "session set -t behind / {}",
        "session exec -t behind show",
        "session run -t behind -- true",
    ] {
        let run = project.devgate(command).failed();
        run.shows(&["`run-on: jump`", "not in the inventory"]);
    }
    for command in ["verify -t mixed", "session get -t mixed /"] {
        let run = project.devgate(command).failed();
        run.shows(&["`run-on: localhost,jump` names localhost and other hosts"]);
    }
    assert_eq!(server.requests().len(), 0, "nothing was sent");
    for command in [
        "verify -t near",
        "verify -t behind --direct",
        "session get -t behind --direct /",
        "session run -t behind --direct -- true",
    ] {
        project.devgate(command).succeeded();
    }
    // A task that is lent a session needs no connection of its own.
    project.write("inner.sh", "devgate session get -t behind /");
    project
        .devgate("session run -t behind --direct -- sh inner.sh")
        .succeeded()
        .shows(&["alive"]);
}
