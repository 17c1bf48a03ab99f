//! The pool of sessions: one login for everyone who uses the same connection, and every session is closed
//! properly.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::awkward::{Awkward, PASSWORD};
use crate::support::lab::{Device, pause};
use crate::support::project::Project;

/// Counts, in the server's log from `from` on, the sessions that logged in since then: logins, goodbyes,
/// and all ends. Earlier sessions may end late; the port in each line identifies the session.
fn sessions(device: &Device, from: usize) -> [usize; 3] {
    let log = device.ssh_log();
    let lines = |mark: &'static str| {
        let ports = log[from..].lines().filter(move |line| line.contains(mark));
        ports.filter(|line| !line.contains("[preauth]")).map(port)
    };
    let logins: HashSet<&str> = lines("Accepted ").collect();
    let ours = |mark| lines(mark).filter(|port| logins.contains(port)).count();
    let goodbyes = ours("Disconnected from user");
    [
        logins.len(),
        goodbyes,
        goodbyes + ours("Connection closed by"),
    ]
}

/// Returns the client's port in a line of the server's log.
fn port(line: &str) -> &str {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "port");
    words.next().expect("the line names a port")
}

/// Counts logins and goodbyes during `work`. The server may log them late.
fn counted<T>(device: &Device, work: impl FnOnce() -> T) -> (T, [usize; 2]) {
    let from = device.ssh_log().len();
    let done = work();
    let retry_budget = Instant::now() + Duration::from_secs(10);
    loop {
        let [logins, goodbyes, gone] = sessions(device, from);
        if gone >= logins || Instant::now() > retry_budget {
            return (done, [logins, goodbyes]);
        }
        pause(Duration::from_millis(20));
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
    let failed = |least| device.logged("Failed password", least);
    let before = failed(0);
    let run = project.devgate("facts -t all --format json").failed();
    assert_eq!(failed(before + 1), before + 1);
    for item in run.json()["items"].as_array().expect("items") {
        let kind = &item["value"]["_error"]["kind"];
        assert_eq!(kind, "puppetlabs.tasks/connect-error");
    }
}

#[test]
fn an_operator_asks_any_device_once_by_its_name() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let (output, once) = counted(&device, || {
        let run = project.devgate("session exec -t router show version");
        run.succeeded().stdout.clone()
    });
    assert!(output.starts_with("FRRouting"), "{output}");
    assert_eq!(once, [1, 1]);
    let can = "it has a command line: `devgate session exec`";
    for ask in ["get -t router /x", "set -t router /x {}"] {
        let run = project.devgate(&format!("session {ask}"));
        run.failed().shows(&["has no data", can]);
    }

    // Within a lent session, that session is used, with its restrictions.
    project.write(
        "it.sh",
        "devgate session exec -t router show version && devgate session exec show version\n\
         devgate session exec -t router --config 'interface swp2' ' description canary'\n",
    );
    let (run, once) = counted(&device, || {
        project.devgate("session run -t router --noop -- sh it.sh")
    });
    let run = run.failed().shows(&["--noop", "was not sent"]);
    assert_eq!(run.stdout.matches("FRRouting 8").count(), 2, "{run}");
    assert_eq!(once, [1, 1]);
}

/// Creates a project with six names of one device, with four kinds of credentials and a session limit.
fn six_names(device: &Device, limit: usize) -> Project {
    let mut project = Project::new();
    let reader = json!({ "user": "oper", "password": device.readers_password() });
    let by_key = json!({ "password": null, "private_key": device.private_key() });
    let reader_by_key =
        json!({ "user": "oper", "password": null, "private_key": device.private_key() });
    let kinds = [json!({}), reader, by_key, reader_by_key];
    for (number, settings) in kinds.iter().cycle().take(6).enumerate() {
        let mut settings = settings.clone();
        settings["session-limit"] = json!(limit);
        project.add(&format!("name{number}"), device, settings);
    }
    project
}

/// Returns the maximum number of concurrent sessions in the server's log from a place on.
fn most_at_once(device: &Device, from: usize) -> usize {
    let (mut open, mut most) = (HashSet::new(), 0);
    let log = device.ssh_log();
    for line in log[from..]
        .lines()
        .filter(|line| !line.contains("[preauth]"))
    {
        if line.contains("Accepted ") {
            open.insert(port(line));
        } else if line.contains("Disconnected from user") {
            open.remove(port(line));
        }
        most = most.max(open.len());
    }
    most
}

#[test]
fn so_many_sessions_are_open_at_once_as_the_limit_says_whatever_names_and_credentials() {
    let device = Device::lease();
    for limit in [1, 3] {
        let project = six_names(&device, limit);
        let from = device.ssh_log().len();
        let (run, [logins, goodbyes]) = counted(&device, || {
            project.devgate("facts -t all --format json").succeeded()
        });
        assert_eq!(run.json()["items"].as_array().map(Vec::len), Some(6));
        assert_eq!(logins, goodbyes);
        assert!((4..=6).contains(&logins), "{logins} logins");
        assert_eq!(most_at_once(&device, from), limit);
    }
}

#[test]
fn who_interrupts_several_at_once_leaves_none_of_their_sessions_behind() {
    let device = Device::lease();
    let project = six_names(&device, 3);
    let from = device.ssh_log().len();
    let mut running = project.start("facts -t all --log-level debug");
    running.wait_for("is open");
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGINT);
    let run = running.finish();
    assert_eq!(run.code(), Some(130), "{run}");
    let retry_budget = Instant::now() + Duration::from_secs(10);
    loop {
        let [logins, _, gone] = sessions(&device, from);
        if logins > 0 && gone == logins {
            break;
        }
        assert!(
            Instant::now() < retry_budget,
            "{gone} of {logins} have gone"
        );
        pause(Duration::from_millis(20));
    }
}

#[test]
fn a_device_whose_lines_are_all_taken_is_waited_for_and_each_try_is_reported() {
    let device = Awkward::start();
    let mut project = Project::new();
    let known_hosts = project.write("known_hosts", &device.known_hosts());
    for number in 0..6 {
        let info = json!({
            "remote-transport": "ssh_cli",
            "host": "127.0.0.1",
            "port": device.port(),
            "user": "lines-3",
            "password": PASSWORD,
            "known_hosts_file": known_hosts,
            "session-limit": 3,
            // Different settings mean different sessions.
            "idle_timeout": 20 + number,
        });
        project.add_target(&format!("name{number}"), info);
    }
    let run = project.devgate("verify -t all").succeeded();
    assert!(
        !run.stderr.contains("follows"),
        "never one too many:\n{run}"
    );

    let mut one = Project::new();
    let known_hosts = one.write("known_hosts", &device.known_hosts());
    let info = json!({
        "remote-transport": "ssh_cli",
        "host": "127.0.0.1",
        "port": device.port(),
        "user": "lines-1",
        "password": PASSWORD,
        "known_hosts_file": known_hosts,
    });
    one.add_target("switch", info);
    let mut first = one.start("session exec -t switch --log-level debug show slow 4");
    first.wait_for("is open");
    let second = one.devgate("verify -t switch").succeeded();
    let tries = second.stderr.matches(" follows in ").count();
    assert!(tries > 0, "{second}");
    assert_eq!(tries, second.stderr.matches("refuses a terminal").count());
    first.finish().succeeded();
}

#[test]
fn who_interrupts_a_command_leaves_no_session_behind() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    // One command, and then a stdin that stays silent.
    let lines = "mkfifo lines; exec 3<>lines; echo show version >&3; exec \"$@\" <&3\n";
    project.write("it.sh", lines);
    let (run, once) = counted(&device, || {
        let exec = "session exec -t router --log-level debug -";
        let mut running = project.start_under(&["sh", "it.sh"], exec);
        running.wait_for("is open");
        running.signal(Signal::SIGINT);
        running.finish()
    });
    assert_eq!(run.code(), Some(130), "{run}");
    run.shows(&["interrupted"]);
    assert_eq!(once, [1, 1]);
}
