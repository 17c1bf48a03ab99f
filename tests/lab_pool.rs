//! The pool of sessions: one login for all who mean the same, and every session is closed, not cut off.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::lab::Device;
use crate::support::project::Project;

/// How often somebody has logged in on the device, has said goodbye, and has gone in any way, by now.
fn counts(device: &Device) -> [usize; 3] {
    let log = fs::read_to_string(device.path("log/ssh.log")).expect("the server has a log");
    let count = |mark| {
        let of_users = log.lines().filter(|line| !line.contains("[preauth]"));
        of_users.filter(|line| line.contains(mark)).count()
    };
    let [logins, goodbyes] = ["Accepted password", "Disconnected from user"].map(count);
    [logins, goodbyes, goodbyes + count("Connection closed by")]
}

/// How often somebody logged in during `work`, and how many of these said goodbye; the server writes
/// that down in its own time.
fn counted<T>(device: &Device, work: impl FnOnce() -> T) -> (T, [usize; 2]) {
    let before = counts(device);
    let done = work();
    let patience = Instant::now() + Duration::from_secs(10);
    loop {
        let after = counts(device);
        let [logins, goodbyes, gone] = [0, 1, 2].map(|which| after[which] - before[which]);
        if gone >= logins || Instant::now() > patience {
            return (done, [logins, goodbyes]);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn names_that_mean_the_same_are_one_login_and_other_credentials_are_another() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    project.add("same", &device, json!({}));
    let (_, once) = counted(&device, || {
        project.devgate("facts -t router,same").succeeded();
    });
    assert_eq!(once, [1, 1]);
    let reader = json!({ "user": "oper", "password": device.readers_password() });
    project.add("reader", &device, reader);
    let (_, twice) = counted(&device, || project.devgate("verify -t all").succeeded());
    assert_eq!(twice, [2, 2]);
}

#[test]
fn a_wrong_password_is_sent_once_whatever_names_have_it() {
    let device = Device::lease();
    let wrong = json!({ "password": "a-canary-typo" });
    let mut project = Project::with_settings(&device, wrong.clone());
    project.add("same", &device, wrong);
    let failed = || {
        let log = fs::read_to_string(device.path("log/ssh.log")).expect("the server has a log");
        log.matches("Failed password").count()
    };
    let before = failed();
    let run = project.devgate("facts -t all --format json").failed();
    assert_eq!(failed(), before + 1);
    for item in run.json()["items"].as_array().expect("items") {
        let kind = &item["value"]["_error"]["kind"];
        assert_eq!(kind, "puppetlabs.tasks/connect-error");
    }
}

#[test]
fn an_operator_asks_any_device_once_by_its_name() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let (said, once) = counted(&device, || {
        let run = project.devgate("session exec -t router show version");
        run.succeeded().stdout.clone()
    });
    assert!(said.starts_with("FRRouting"), "{said}");
    assert_eq!(once, [1, 1]);
    let can = "it has a command line: `devgate session exec`";
    for ask in ["get -t router /x", "set -t router /x {}"] {
        let run = project.devgate(&format!("session {ask}"));
        run.failed().says(&["has no data", can]);
    }

    // Within a session that is lent, that one is used, and is bound by what it may do.
    project.write(
        "it.sh",
        "devgate session exec -t router show version && devgate session exec show version\n\
         devgate session exec -t router --config 'interface swp2' ' description canary'\n",
    );
    let (run, once) = counted(&device, || {
        project.devgate("session run -t router --noop -- sh it.sh")
    });
    let run = run.failed().says(&["--noop", "was not sent"]);
    assert_eq!(run.stdout.matches("FRRouting 8").count(), 2, "{run}");
    assert_eq!(once, [1, 1]);
}

#[test]
fn who_interrupts_a_command_leaves_no_session_behind() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    // One command, and then a stdin on which nothing comes.
    let lines = "mkfifo lines; exec 3<>lines; echo show version >&3; exec \"$@\" <&3\n";
    project.write("it.sh", lines);
    let (run, once) = counted(&device, || {
        let exec = "session exec -t router --log-level debug -";
        let mut running = project.start_by(&["sh", "it.sh"], exec);
        running.wait_for("is open");
        running.signal(Signal::SIGINT);
        running.finish()
    });
    assert_eq!(run.code(), Some(130), "{run}");
    run.says(&["interrupted"]);
    assert_eq!(once, [1, 1]);
}
