//! The values of `run-on`: several hosts, unreachable hosts, and targets that are not hosts.

use std::net::TcpListener;

use super::*;
use crate::support::line::closed_port;

#[test]
fn a_pools_tasks_go_to_all_of_its_hosts() {
    let mut lab = Lab::new();
    lab.proxy("one", "h1", json!({}));
    lab.proxy("other", "h2", json!({}));
    lab.devices(25, json!(["one", "other"]));
    lab.task("where", REMOTE, "hostname; sleep 3");
    let run = lab.project.devgate("task run t::where -t d* --format json");
    let document = run.succeeded().json();
    let items = document["items"].as_array().expect("items").iter();
    let at = |name: &str| {
        let output = |item: &&Value| item["value"]["_output"] == format!("{name}\n");
        items.clone().filter(output).count()
    };
    let (one, other) = (at("h1"), at("h2"));
    assert_eq!(one + other, 25);
    assert!(one >= 5 && other >= 5, "{one} on one, {other} on the other");
}

#[test]
fn of_three_proxies_those_that_cannot_be_reached_are_reported_and_passed_over() {
    let mut lab = Lab::new();
    let (_held, closed) = closed_port();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let hanging = silent.local_addr().expect("an address").port();
    lab.proxy("refuses", "h1", json!({"port": closed}));
    lab.proxy(
        "hangs",
        "h1",
        json!({"port": hanging, "connect-timeout": 1}),
    );
    lab.proxy("works", "h1", json!({}));
    lab.devices(40, json!(["refuses", "hangs", "works"]));
    lab.task("noop", REMOTE, "sleep 2; echo '{}'");
    let run = lab
        .project
        .devgate("task run t::noop -t d* --format json -c 20");
    let run = run
        .succeeded()
        .shows(&["refuses: ", "refused", "hangs: ", "did not answer"]);
    assert_eq!(statuses(&run.json()), vec!["success"; 40]);
    lab.is_clean("h1", "t/tasks/noop");
    // Alone, each is an error with its reason.
    lab.project
        .add_target("alone", json!({"run-on": ["refuses", "nobody"]}));
    lab.project
        .devgate("task run t::noop -t alone")
        .failed()
        .shows(&["nobody", "not in the inventory"]);
}

#[test]
fn what_is_no_proxy_is_refused_by_name() {
    let mut lab = Lab::new();
    lab.devices(1, json!("localhost"));
    lab.project
        .add_entry(json!({"name": "win", "config": {"transport": "winrm"}}));
    for (name, run_on) in [("chained", "d1"), ("windows", "win"), ("lost", "nowhere")] {
        lab.project.add_target(name, json!({"run-on": run_on}));
    }
    lab.task("noop", REMOTE, "echo '{}'");
    for (target, kind, text) in [
        (
            "chained",
            "bolt/invalid-remote-target",
            "d1 is not a valid run-on target for chained",
        ),
        ("windows", "devgate/no-runner", "winrm"),
        ("lost", "devgate/unknown-target", "nowhere"),
    ] {
        let run = lab
            .project
            .devgate(&format!("task run t::noop -t {target} --format json"));
        let error = run.failed().item()["value"]["_error"].clone();
        assert_eq!(error["kind"], kind);
        assert!(
            error["msg"].as_str().expect("a text").contains(text),
            "{error}"
        );
    }
}

#[test]
fn a_full_disk_is_named_keeps_nothing_and_leaves_the_task_to_the_other_hosts() {
    let mut lab = Lab::new();
    lab.devices(1, json!("other"));
    lab.proxy("other", "h2", json!({}));
    let script = format!("hostname; ls /mnt/small; #{}", "x".repeat(100_000));
    lab.task("large", REMOTE, &script);
    // With SFTP and without.
    for (host, cause) in [
        ("h1", "look whether the disk is full"),
        ("h4", "No space left on device"),
    ] {
        let small = format!("small-{host}");
        lab.proxy(&small, host, json!({ "tmpdir": "/mnt/small" }));
        lab.proxy(host, host, json!({}));
        for (name, run_on) in [
            ("alone", json!(small)),
            ("both", json!([small, "other"])),
            ("look", json!(host)),
        ] {
            let info = json!({ "run-on": run_on });
            lab.project.add_target(&format!("{name}-{host}"), info);
        }
        let run = |name: &str| {
            let command = format!("task run t::large -t {name}-{host} --format json");
            lab.project.devgate(&command)
        };
        run("alone")
            .failed()
            .shows(&[&small, "/mnt/small/devgate-", cause]);
        let both = run("both")
            .succeeded()
            .shows(&[&small, "tasks run on other"]);
        assert_eq!(both.item()["value"]["_output"], "h2\n");
        let look = run("look").succeeded().item();
        assert_eq!(
            look["value"]["_output"],
            format!("{host}\n"),
            "something is left"
        );
    }
}
