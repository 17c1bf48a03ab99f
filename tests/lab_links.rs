//! Network faults on the path to a target, with real packets, on every protocol. Each fault is waited for
//! within its limit, reported once per attempt, and ends as the right error.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::thread::scope;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::lab::{Device, pause};
use crate::support::peers::{ALL, Peer};
use crate::support::project::Project;
use crate::support::run::{Run, Running};
use crate::support::tls::TlsServer;

/// The number of seconds that a run may wait for a target to recover, with some margin.
const BOUND: u64 = 32;

#[test]
fn a_port_that_refuses_is_tried_until_patience_is_spent() {
    for_all_targets("refused", |target| {
        target.peer.link.fault("refuse");
        spent(target, &["refused"])
    });
}

#[test]
fn a_port_that_takes_connections_again_is_reached() {
    for_all_targets("refused for 8 s", |target| {
        target.peer.link.fault("refuse");
        let mut running = target.start("verify");
        running.wait_for("try 2 follows");
        pause(Duration::from_secs(8));
        target.peer.link.fault("clear");
        running.finish().succeeded()
    });
}

#[test]
fn an_address_that_swallows_everything_is_tried_until_patience_is_spent() {
    for_all_targets("dropped", |target| {
        target.peer.link.fault("drop");
        spent(target, &["did not answer"])
    });
}

#[test]
fn an_address_without_a_route_is_tried_until_patience_is_spent() {
    for_all_targets("unreachable", |target| {
        target.peer.link.fault("unreach");
        spent(target, &["no route", "did not answer"])
    });
}

#[test]
fn three_hundred_milliseconds_of_delay_only_delay() {
    // The duration does not matter here, because the machine may be busy.
    for_all_changed_targets("300 ms delay", Peer::use_long_limits, |target| {
        target.peer.link.slow(Duration::from_millis(150));
        target.start("verify").finish().succeeded()
    });
}

#[test]
fn one_packet_lost_in_twenty_only_delays() {
    // If TCP loses the first packet, it waits three seconds for each packet that it loses later, and then
    // six.
    for_all_changed_targets("5 % loss", Peer::use_long_limits, |target| {
        target.peer.link.fault("loss 5");
        target.start("verify").finish().succeeded()
    });
}

#[test]
fn a_path_that_drops_long_packets_is_given_up_within_patience() {
    for_all_targets("MTU black hole", |target| {
        // Messages of an SNMP agent have about 100 bytes, sometimes fewer, because their numbers have
        // variable lengths.
        target.peer.link.fault("mtu 80");
        let why = [
            "did not answer",
            "did not acknowledge",
            "closed the connection",
        ];
        given_up(target, &why)
    });
}

#[test]
fn a_session_whose_socket_is_destroyed_is_replaced() {
    for_all_targets("socket cut in a session", |target| {
        target.in_a_session("cut", Duration::ZERO)
    });
}

#[test]
fn a_session_that_is_reset_is_replaced() {
    for_all_targets("reset in a session, for 3 s", |target| {
        target.in_a_session("reset", Duration::from_secs(3))
    });
}

#[test]
fn a_session_continues_after_a_short_network_outage() {
    for_all_targets("half-open in a session, for 12 s", |target| {
        target.in_a_session("halfopen", Duration::from_secs(12))
    });
}

#[test]
fn a_name_server_that_falls_silent_is_waited_for() {
    let device = Device::lease();
    let name = "router.lab.invalid";
    let mut project = Project::new();
    let known_hosts = fs::read_to_string(device.known_hosts()).expect("the lab has known hosts");
    let known_hosts = project.write(
        "known_hosts",
        &known_hosts.replace("[127.0.0.1]", &format!("[{name}]")),
    );
    project.add(
        "peer",
        &device,
        json!({ "host": name, "known_hosts_file": known_hosts }),
    );
    let hosts = project.write("hosts", "");
    let nowhere = project.write(
        "resolv.conf",
        "nameserver 127.0.0.153\noptions timeout:1 attempts:1\n",
    );
    let script = format!(
        "mount --bind {} /etc/hosts && mount --bind {} /etc/resolv.conf && exec \"$@\"",
        hosts.display(),
        nowhere.display()
    );
    let wrapper = ["unshare", "--mount", "sh", "-c", &script, "sh"];
    let verify = "verify -t peer --format json";
    let mut running = project.start_under(&wrapper, verify);
    running.wait_for("try 3 follows");
    project.write("hosts", &format!("127.0.0.1 {name}\n"));
    running.finish().succeeded();
}

#[test]
fn a_certificate_that_expires_between_two_connects_is_reported_at_once() {
    let server = TlsServer::start("2025-01-01", "+15 seconds", &[]);
    let expires = Instant::now() + Duration::from_secs(16);
    let mut project = Project::new();
    project.add_target(
        "peer",
        json!({
            "remote-transport": "rest", "host": "127.0.0.1", "port": server.port,
            "ssl_ca_file": server.authority(),
        }),
    );
    project.devgate("verify -t peer").succeeded();
    pause(expires.saturating_duration_since(Instant::now()));
    let run = project.devgate("verify -t peer --format json").failed();
    let run = run.shows(&["has expired"]);
    assert!(!run.stderr.contains("follows in"), "{run}");
}

#[test]
fn a_router_that_goes_away_during_its_configuration_is_reported_and_nothing_is_sent_twice() {
    let (_, router) = ALL[0];
    let mut router = router();
    router.info["remote-transport"] = json!("frr");
    let mut target = Target::of(router);
    let mut apply = |ensure: &str| {
        let routes: serde_json::Map<_, _> = (0..1500)
            .map(|number| {
                (
                    format!("10.{}.{}.0/24 via Null0", 77 + number / 250, number % 250),
                    json!({ "ensure": ensure }),
                )
            })
            .collect();
        let manifest = target
            .project
            .manifest(json!({ "frr_static_route": routes }));
        let apply =
            format!("device --target peer --apply {manifest} --format json --log-level debug");
        target.project.start(&apply)
    };
    target.peer.link.slow(Duration::from_millis(50));
    let mut running = apply("present");
    running.wait_for("is open");
    pause(Duration::from_secs(4));
    target.peer.link.fault("reset");
    pause(Duration::from_secs(4));
    target.peer.link.fault("clear");
    running.finish().failed().shows(&["not sent again"]);
    apply("present").finish().succeeded();
    apply("absent").finish().succeeded();
}

/// Asserts that the run fails when the retry budget is spent, not later, for one of these reasons.
fn spent(target: &Target, why: &[&str]) -> Run {
    let run = given_up(target, why);
    let seconds = run.json()["elapsed_time"].as_u64();
    assert!(seconds.is_some_and(|seconds| seconds <= BOUND), "{run}");
    run
}

/// Asserts that the run fails for one of these reasons. It may have waited for an answer in addition to a
/// recovery.
fn given_up(target: &Target, why: &[&str]) -> Run {
    let run = target.start("verify").finish().failed();
    let error = run.item()["value"]["_error"].clone();
    assert_eq!(error["kind"], "puppetlabs.tasks/connect-error", "{run}");
    let message = error["msg"].as_str().expect("an error has a message");
    assert!(why.iter().any(|why| message.contains(why)), "{run}");
    run
}

/// A peer as the target `peer` of its own project.
struct Target {
    peer: Peer,
    project: Project,
}

/// Does the same to every peer at once. If `DEVGATE_FAULTS` names a table, the results become a row of it.
fn for_all_targets(fault: &str, act: impl Fn(&mut Target) -> Run + Sync) {
    for_all_changed_targets(fault, |_| (), act);
}

/// Like [`for_all_targets`], after a change to each peer.
fn for_all_changed_targets(
    fault: &str,
    change: fn(&mut Peer),
    act: impl Fn(&mut Target) -> Run + Sync,
) {
    scope(|scope| {
        for (protocol, peer) in ALL {
            let act = &act;
            scope.spawn(move || {
                let mut peer = peer();
                change(&mut peer);
                let mut target = Target::of(peer);
                let started = Instant::now();
                let run = act(&mut target);
                note(protocol, fault, started.elapsed(), &run);
            });
        }
    });
}

impl Target {
    fn of(peer: Peer) -> Self {
        let mut project = Project::new();
        project.add_target("peer", peer.info.clone());
        Self { peer, project }
    }

    fn start(&self, command: &str) -> Running {
        self.project
            .start(&format!("{command} -t peer --format json"))
    }

    /// Sends three requests in one session, with a fault on its path for some time after the first. The
    /// second may fail if it cannot be repeated; the third must succeed.
    fn in_a_session(&mut self, fault: &str, time: Duration) -> Run {
        let ask = format!("devgate session {}", self.peer.command);
        let script = format!(
            "{ask} >first || exit\nuntil [ -e spoilt ]; do sleep 0.1; done\n{ask} >second\n\
             {ask} >third && cmp first third\n"
        );
        self.project.write("ask.sh", &script);
        let running = self.project.start("session run -t peer -- sh ask.sh");
        let request = self.project.path().join("first");
        let latest = Instant::now() + Duration::from_secs(BOUND);
        while fs::read(&request).map_or(true, |answer| answer.is_empty()) {
            assert!(
                Instant::now() < latest,
                "no answer to {}",
                self.peer.command
            );
            pause(Duration::from_millis(50));
        }
        self.peer.link.fault(fault);
        self.project.write("spoilt", "");
        pause(time);
        self.peer.link.fault("clear");
        running.finish().succeeded()
    }
}

/// Adds a row to the table of faults.
fn note(protocol: &str, fault: &str, elapsed: Duration, run: &Run) {
    let Some(table) = std::env::var_os("DEVGATE_FAULTS") else {
        return;
    };
    let retries = run.stderr.matches(" follows in ").count();
    let error = match run.code() {
        Some(0) => None,
        _ => Some(run.item()["value"]["_error"]["msg"].to_string()),
    };
    let outcome = error.as_deref().unwrap_or("success");
    let row = format!(
        "| {fault} | {protocol} | {:.1} s | {retries} | {outcome} |\n",
        elapsed.as_secs_f64()
    );
    let file = OpenOptions::new().create(true).append(true).open(table);
    let written = file.and_then(|mut file| file.write_all(row.as_bytes()));
    written.expect("the table can be written");
}
