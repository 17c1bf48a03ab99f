//! Faults of the way to a target, with real packets, on every protocol: each is waited for within its bound, told
//! once a try, and ends as the error that it is.

mod peer;

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::lab::{Device, pause};
use crate::support::project::Project;
use crate::support::run::Run;
use peer::{Peer, over_all};

/// How long a run waits for a target to recover, and a little for what it does beside.
const BOUND: Duration = Duration::from_secs(33);

#[test]
fn a_port_that_refuses_is_tried_until_patience_is_spent() {
    over_all("refused", |peer| {
        peer.link.fault("refuse");
        spent(peer, "refused")
    });
}

#[test]
fn a_port_that_takes_connections_again_is_reached() {
    over_all("refused for 8 s", |peer| {
        peer.link.fault("refuse");
        let mut running = peer.start("verify");
        running.wait_for("try 2 follows");
        pause(Duration::from_secs(8));
        peer.link.fault("clear");
        running.finish().succeeded()
    });
}

#[test]
fn an_address_that_swallows_everything_is_tried_until_patience_is_spent() {
    over_all("dropped", |peer| {
        peer.link.fault("drop");
        spent(peer, "did not answer")
    });
}

#[test]
fn an_address_without_a_way_is_tried_until_patience_is_spent() {
    over_all("unreachable", |peer| {
        peer.link.fault("unreach");
        spent(peer, "no route")
    });
}

#[test]
fn three_hundred_milliseconds_of_delay_only_delay() {
    over_all("300 ms delay", |peer| {
        peer.link.slow(Duration::from_millis(150));
        peer.start("verify").finish().succeeded()
    });
}

#[test]
fn one_packet_lost_in_twenty_only_delays() {
    over_all("5 % loss", |peer| {
        peer.link.fault("loss 5");
        peer.start("verify").finish().succeeded()
    });
}

#[test]
fn a_way_on_which_long_packets_vanish_is_given_up_within_patience() {
    over_all("MTU black hole", |peer| {
        peer.link.fault("mtu 300");
        spent(peer, "did not answer")
    });
}

#[test]
fn a_session_whose_socket_is_destroyed_is_replaced() {
    over_all("socket cut in a session", |peer| {
        peer.in_a_session("cut", Duration::ZERO)
    });
}

#[test]
fn a_session_that_is_reset_is_replaced() {
    over_all("reset in a session, for 3 s", |peer| {
        peer.in_a_session("reset", Duration::from_secs(3))
    });
}

#[test]
fn a_session_goes_on_where_the_way_was_gone_for_a_while() {
    over_all("half-open in a session, for 12 s", |peer| {
        peer.in_a_session("halfopen", Duration::from_secs(12))
    });
}

#[test]
fn a_session_that_is_open_on_one_side_only_is_found_out_and_replaced() {
    over_all("half-open in a session, for 40 s", |peer| {
        peer.in_a_session("halfopen", Duration::from_secs(40))
    });
}

#[test]
fn a_name_server_that_falls_silent_is_waited_for() {
    let device = Device::lease();
    let name = "router.lab.invalid";
    let mut project = Project::new();
    let known = std::fs::read_to_string(device.known_hosts()).expect("the lab has known hosts");
    let known = project.write(
        "known_hosts",
        &known.replace("[127.0.0.1]", &format!("[{name}]")),
    );
    project.add(
        "peer",
        &device,
        json!({ "host": name, "known_hosts_file": known }),
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
    let starter = ["unshare", "--mount", "sh", "-c", &script, "sh"];
    let verify = "verify -t peer --format json";
    let mut running = project.start_by(&starter, verify);
    running.wait_for("try 3 follows");
    project.write("hosts", &format!("127.0.0.1 {name}\n"));
    running.finish().succeeded();
}

/// It fails when patience is spent, not later, and says why.
fn spent(peer: &Peer, why: &str) -> Run {
    let started = Instant::now();
    let run = peer.start("verify").finish().failed().says(&[why]);
    assert!(started.elapsed() < BOUND, "{:?}\n{run}", started.elapsed());
    let kind = run.item()["value"]["_error"]["kind"].clone();
    assert_eq!(kind, "puppetlabs.tasks/connect-error", "{run}");
    run
}
