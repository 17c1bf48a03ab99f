//! Runs with rollback on real NETCONF servers: what remains of them, however they end.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Map, Value, json};

use super::apply;
use super::netconfd::Server;
use crate::support::lab::pause;
use crate::support::project::Project;
use crate::support::run::Running;

const WAY_BACK: &str = "--rollback on-error";

#[test]
fn a_run_that_fails_leaves_a_device_as_it_was_where_that_is_wanted() {
    for name in ["candidate", "old", "running", "startup"] {
        let server = Server::lease(name);
        let mut project = server.project();
        let kept = json!({ "ietf_interface": { "kept1": { "type": "softwareLoopback", "description": "before" } } });
        assert_eq!(apply(&mut project, &kept, "").0[1], 0);
        let before = server.interface("kept1");
        let present = json!({
            "ietf_system": { "system": { "contact": "noc@example.org" } },
            "ietf_interface": {
                "kept1": { "type": "softwareLoopback", "description": "after", "addresses": ["192.0.2.9/32"] },
                "kept2": { "type": "softwareLoopback" },
                "kept3": { "type": "noSuchType" },
            },
        });
        let (_, value) = apply(&mut project, &present, WAY_BACK);
        assert_eq!(value["rolled_back"], true, "{name}: {value:#}");
        assert_eq!(server.interface("kept1"), before, "{name}");
        assert_eq!(server.interface("kept2"), "nothing", "{name}");
        let removal = json!({ "ietf_interface": { "kept1": { "ensure": "absent" } } });
        assert_eq!(apply(&mut project, &removal, "").0, [1, 0, 0], "{name}");
    }
}

/// A device would roll back an unconfirmed commit as soon as the session is gone.
#[test]
fn a_run_that_goes_well_stays_when_its_session_is_gone() {
    for name in ["candidate", "old", "startup"] {
        let server = Server::lease(name);
        let mut project = server.project();
        let chain = chain(3);
        let (counts, value) = apply(&mut project, &chain, WAY_BACK);
        assert_eq!(counts, [3, 0, 0], "{name}: {value:#}");
        for interface in ["chain0", "chain1", "chain2"] {
            assert!(server.interface(interface).contains("softwareLoopback"));
        }
        if name == "startup" {
            let get = "<get-config><source><startup/></source></get-config>";
            assert!(server.send(&[get]).contains("chain2"), "it is saved, too");
        }
        assert_eq!(apply(&mut project, &chain, WAY_BACK).0, [0, 0, 0]);
        assert_eq!(apply(&mut project, &absent(3), "").0, [3, 0, 0]);
    }
}

#[test]
fn a_gateway_that_is_killed_leaves_a_device_that_goes_back_by_itself() {
    for name in ["candidate", "old"] {
        let server = Server::lease(name);
        let mut project = server.project();
        let run = started_run(&mut project);
        run.signal(Signal::SIGKILL);
        let run = run.finish();
        assert_eq!(run.code(), None, "{name}: it had time to end:\n{run}");
        let until = Instant::now() + Duration::from_secs(20);
        while server.interface("chain0") != "nothing" {
            assert!(Instant::now() < until, "{name} keeps it:\n{run}");
            pause(Duration::from_millis(100));
        }
    }
}

#[test]
fn a_run_whose_session_is_cut_fails_and_sees_the_device_go_back() {
    let server = Server::lease("candidate");
    let mut project = server.project();
    let run = started_run(&mut project);
    server.sever();
    let run = run.finish().failed();
    let value = run.item()["value"].clone();
    assert_eq!(value["rolled_back"], true, "{run}");
    assert_eq!(server.interface("chain0"), "nothing");
}

/// Starts a long run, and waits until its first change has been committed.
fn started_run(project: &mut Project) -> Running {
    let manifest = project.manifest(chain(60));
    let mut run = project.start(&format!(
        "device --target it --apply {manifest} {WAY_BACK} --log-level debug --format json"
    ));
    run.wait_for("its confirmation");
    run
}

/// Returns interfaces that are each created after the previous one, by a separate commit.
fn chain(length: usize) -> Value {
    let mut interfaces = Map::new();
    for number in 0..length {
        let mut interface = json!({ "type": "softwareLoopback" });
        if let Some(before) = number.checked_sub(1) {
            interface["require"] = json!(format!("Ietf_interface[chain{before}]"));
        }
        interfaces.insert(format!("chain{number}"), interface);
    }
    json!({ "ietf_interface": interfaces })
}

fn absent(length: usize) -> Value {
    let entry = |number| (format!("chain{number}"), json!({ "ensure": "absent" }));
    json!({ "ietf_interface": (0..length).map(entry).collect::<Map<_, _>>() })
}
