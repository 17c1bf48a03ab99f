//! Sessions for tasks on proxies: the session with the device is on this node, and a relay leads to it.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::support::lab::Device;

/// A task that does not know where it runs.
const SHOW: &str = "devgate session exec 'show version'";

impl Lab {
    /// Adds the device as targets behind these proxies.
    fn behind(&mut self, device: &Device, targets: &[(&str, &str)]) {
        for (name, run_on) in targets {
            self.project.add(name, device, json!({"run-on": run_on}));
        }
    }

    /// Runs a task on a target and returns its output.
    fn output(&self, task: &str, target: &str) -> String {
        let command = format!("task run {task} -t {target} --format json");
        let run = self.project.devgate(&command).succeeded();
        let output = run.item()["value"]["_output"].clone();
        output.as_str().expect("it has output").to_owned()
    }
}

#[test]
fn the_same_task_has_a_session_here_and_on_every_proxy() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("plain", "h1", json!({}));
    lab.proxy("worker", "h1", json!({"run-as": "worker"}));
    lab.proxy("two", "h3", json!({}));
    lab.proxy("without_sftp", "h4", json!({}));
    lab.project.add("here", &device, json!({}));
    let targets = [
        ("on_plain", "plain"),
        ("on_worker", "worker"),
        ("on_two", "two"),
        ("on_without_sftp", "without_sftp"),
    ];
    lab.behind(&device, &targets);
    lab.task("show", REMOTE, SHOW);
    let here = lab.output("t::show", "here");
    assert!(here.starts_with("FRRouting"), "{here}");
    for (target, _) in targets {
        assert_eq!(lab.output("t::show", target), here, "{target}");
    }
    for host in ["h1", "h3", "h4"] {
        lab.is_clean(host, "/session/relay");
    }
}

#[test]
fn two_tasks_at_once_on_a_proxy_for_one_do_not_wait_for_each_other_for_ever() {
    let mut lab = Lab::new();
    let (one, other) = (Device::lease(), Device::lease());
    lab.proxy("proxy", "h1", json!({"concurrency": 1}));
    lab.behind(&one, &[("one", "proxy")]);
    lab.behind(&other, &[("other", "proxy")]);
    lab.task("show", REMOTE, SHOW);
    let run = lab
        .project
        .devgate("task run t::show -t one,other --timeout 60 --format json");
    for item in run.succeeded().json()["items"].as_array().expect("items") {
        let output = item["value"]["_output"].as_str().expect("it has output");
        assert!(output.starts_with("FRRouting"), "{output}");
    }
    lab.is_clean("h1", "/session/relay");
}

#[test]
fn many_commands_on_a_proxy_are_one_login_and_noop_is_obeyed() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    lab.behind(&device, &[("router", "proxy")]);
    let metadata = r#"{"remote": true, "input_method": "stdin", "supports_noop": true}"#;
    lab.task(
        "many",
        metadata,
        "seq 20 | xargs -P 20 -I% sh -c 'devgate session exec show interface brief >/dev/null || echo lost'\n\
         devgate session exec --config 'interface swp1' ' description over-a-proxy' 2>&1; echo \"status $?\"\n\
         devgate session exec nonsense 2>&1; echo \"status $?\"",
    );
    let accepted = "Accepted password";
    let before = device.logged(accepted, 0);
    let run = lab
        .project
        .devgate("task run t::many -t router --noop --format json");
    let output = run.succeeded().item()["value"]["_output"].clone();
    let output = output.as_str().expect("it has output");
    assert!(!output.contains("lost"), "{output}");
    assert!(output.contains("under --noop"), "{output}");
    assert!(output.contains("Unknown command"), "{output}");
    assert_eq!(output.matches("status 1").count(), 2, "{output}");
    assert_eq!(device.logged(accepted, before + 1), before + 1);
    assert!(!device.vtysh("show running-config").contains("over-a-proxy"));
    let run = lab
        .project
        .devgate("task run t::many -t router --format json");
    let output = run.succeeded().item()["value"]["_output"].clone();
    assert!(
        output
            .as_str()
            .expect("it has output")
            .starts_with("status 0\n")
    );
    assert!(device.vtysh("show running-config").contains("over-a-proxy"));
    lab.is_clean("h1", "/session/relay");
}

#[test]
fn a_proxy_holds_no_password_of_the_device_outside_the_tasks_input() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({"run-as": "worker"}));
    lab.behind(&device, &[("router", "proxy")]);
    // It reads its own input, which has the password, and keeps nothing of it.
    lab.task(
        "look",
        REMOTE,
        "cd /; cat >/dev/null; devgate session exec 'show version' >/dev/null\n\
         find \"${DEVGATE_SESSION%/*/*}\" -type f -exec cat {} +; echo; sleep 3",
    );
    let run = lab
        .project
        .start("task run t::look -t router --format json");
    let started = Instant::now();
    let mut seen = false;
    while started.elapsed() < Duration::from_secs(if seen { 2 } else { 60 }) {
        for process in fs::read_dir("/proc").expect("/proc").flatten() {
            let user = process.metadata().map(|metadata| metadata.uid());
            if !user.is_ok_and(|user| [7101, 7102].contains(&user)) {
                continue;
            }
            let read = |file: &str| fs::read(process.path().join(file)).unwrap_or_default();
            let (line, environment) = (read("cmdline"), read("environ"));
            let of_host = String::from_utf8_lossy(&line).into_owned();
            seen |= of_host.contains("/session/relay");
            for text in [of_host, String::from_utf8_lossy(&environment).into_owned()] {
                assert!(!text.contains(device.password()), "{text}");
            }
        }
    }
    assert!(seen, "no relay was seen");
    let output = run.finish().succeeded().item()["value"]["_output"].clone();
    let files = output.as_str().expect("it has output");
    assert!(files.contains("session exec"), "{files}");
    assert!(!files.contains(device.password()), "{files}");
    lab.is_clean("h1", "/session/relay");
}

#[test]
fn an_interrupt_ends_the_relay_and_its_clients() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    lab.behind(&device, &[("router", "proxy")]);
    lab.task(
        "long",
        REMOTE,
        "devgate session exec 'show version' >/dev/null; exec sleep 77011",
    );
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let run = lab
            .project
            .start("task run t::long -t router --format json");
        let started = Instant::now();
        while !is_running("77011") {
            assert!(started.elapsed() < Duration::from_secs(60), "it waits");
            pause(Duration::from_millis(50));
        }
        assert!(is_running("/session/relay"));
        run.signal(signal);
        drop(run.finish());
        assert!(has_ended("/session/relay"), "after {signal}");
        if signal == Signal::SIGINT {
            lab.is_clean("h1", "77011");
        }
    }
    // Nobody is there to remove the rest after SIGKILL, but the socket is gone.
    let tmp = PathBuf::from(lab.host("h1")["tmp"].as_str().expect("a path"));
    for left in fs::read_dir(&tmp).expect("the host's /tmp").flatten() {
        assert!(!left.path().join("session/0").exists());
        fs::remove_dir_all(left.path()).expect("it can be removed");
    }
    end("77011");
}

#[test]
fn without_an_interpreter_the_task_runs_and_a_notice_says_what_is_missing() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    lab.behind(&device, &[("router", "proxy")]);
    lab.task(
        "offered",
        REMOTE,
        "echo \"session: ${DEVGATE_SESSION:+offered}\"; devgate session exec 'show version'",
    );
    let home = PathBuf::from(lab.host("h1")["home"].as_str().expect("a path"));
    // The login shell leaves only the programs of a POSIX shell on the PATH.
    let few = home.join("few");
    drop(fs::remove_dir_all(&few));
    fs::create_dir_all(&few).expect("the user's home");
    let link = |program: &str| {
        symlink(format!("/usr/bin/{program}"), few.join(program)).expect("a link");
    };
    let posix = [
        "sh", "mkdir", "cat", "chmod", "rm", "ps", "tr", "grep", "sleep", "env",
    ];
    posix.into_iter().for_each(link);
    fs::write(home.join(".bashrc"), "PATH=/mnt/home/runner/few\n").expect("the user's home");
    let command = "task run t::offered -t router --format json";
    let without = lab.project.devgate(command);
    link("python3");
    let with_python = lab.project.devgate(command);
    fs::remove_file(home.join(".bashrc")).expect("it was written");
    fs::remove_dir_all(few).expect("it was made");
    let without = without
        .failed()
        .shows(&["get no session", "install perl or python3"]);
    assert_eq!(without.item()["value"]["_output"], "session: \n");
    let output = with_python.succeeded().item()["value"]["_output"].clone();
    let output = output.as_str().expect("it has output");
    assert!(
        output.starts_with("session: offered\nFRRouting"),
        "{output}"
    );
    lab.is_clean("h1", "/session/relay");
}

/// The programs of a host whose users find only those of a POSIX shell on their PATH, and others that are added.
struct FewPrograms {
    home: PathBuf,
    folder: PathBuf,
}

impl FewPrograms {
    fn of(lab: &Lab, host: &str) -> Self {
        let home = PathBuf::from(lab.host(host)["home"].as_str().expect("a path"));
        let few = Self {
            folder: home.join("few"),
            home,
        };
        drop(fs::remove_dir_all(&few.folder));
        fs::create_dir_all(&few.folder).expect("the user's home");
        for program in [
            "sh", "mkdir", "cat", "chmod", "rm", "ps", "tr", "grep", "sleep", "env",
        ] {
            symlink(format!("/usr/bin/{program}"), few.folder.join(program)).expect("a link");
        }
        let profile = "PATH=/mnt/home/runner/few\n";
        fs::write(few.home.join(".bashrc"), profile).expect("the user's home");
        few
    }

    fn add(&self, program: &str, script: &str) {
        let path = self.folder.join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, mode).expect("it is ours");
    }
}

impl Drop for FewPrograms {
    fn drop(&mut self) {
        drop(fs::remove_file(self.home.join(".bashrc")));
        drop(fs::remove_dir_all(&self.folder));
    }
}

#[test]
fn a_task_without_a_session_has_a_devgate_that_says_why() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    lab.behind(&device, &[("router", "proxy")]);
    lab.task(
        "ask",
        REMOTE,
        "devgate session exec 'show version' 2>&1; echo \"code $?\"; devgate facts 2>&1; echo \"code $?\"",
    );
    let few = FewPrograms::of(&lab, "h1");
    let alone = lab.output("t::ask", "router");
    few.add("devgate", "echo \"other $*\"");
    let beside_another = lab.output("t::ask", "router");
    drop(few);
    let why = "this task has no session with its device: neither Perl nor Python 3 is installed";
    let ask = format!("error: {why} there; install perl or python3\ncode 1\n");
    for (output, rest) in [
        (alone, "error: `devgate facts` is not known here, and"),
        (beside_another, "other facts\ncode 0\n"),
    ] {
        assert!(output.starts_with(&format!("{ask}{rest}")), "{output}");
    }
    lab.is_clean("h1", "/no-session-");
}

#[test]
fn what_a_program_that_connects_from_a_proxy_lacks_is_named_with_the_proxy() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("bare", "h1", json!({"forwarding": "program"}));
    lab.proxy("narrow", "narrow", json!({"forwarding": "program"}));
    lab.behind(&device, &[("on_bare", "bare"), ("on_narrow", "narrow")]);
    let few = FewPrograms::of(&lab, "h1");
    let without = lab.project.devgate("verify -t on_bare");
    few.add("perl", "exit 2");
    let broken = lab.project.devgate("verify -t on_bare");
    drop(few);
    for run in [without, broken] {
        let none = ["through bare (", "neither perl nor python3 is installed"];
        run.failed().shows(&none).shows(&["install `perl` or"]);
    }
    lab.project.devgate("verify -t on_bare").succeeded();
    let run = lab.project.devgate("verify -t on_narrow").failed();
    run.shows(&["through narrow (", "raise `MaxSessions`", "`concurrency`"]);
}

#[test]
fn more_connections_by_programs_than_a_connection_may_carry_open_another_one() {
    let mut lab = Lab::new();
    let devices = [(); 4].map(|()| Device::lease());
    lab.proxy("two", "h3", json!({"forwarding": "program"}));
    for (number, device) in devices.iter().enumerate() {
        lab.behind(device, &[(&format!("r{number}"), "two")]);
    }
    for _ in 0..5 {
        lab.project.devgate("verify -t r*").succeeded();
    }
}

#[test]
fn what_the_login_shell_prints_costs_no_task_its_session() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    lab.proxy("by_program", "h1", json!({"forwarding": "program"}));
    lab.behind(&device, &[("router", "proxy"), ("other", "by_program")]);
    lab.task("show", REMOTE, SHOW);
    let profile = PathBuf::from(lab.host("h1")["home"].as_str().expect("a path")).join(".bashrc");
    let noise = "echo noise; echo noise >&2; (sleep 0.1; echo late >&2) & printf %03000d 7\n";
    fs::write(&profile, noise).expect("the user's home");
    let runs: Vec<_> = (0..5)
        .map(|_| {
            lab.project
                .devgate("task run t::show -t router --format json")
        })
        .collect();
    let other = lab.project.devgate("verify -t other");
    fs::remove_file(profile).expect("it was written");
    for run in runs {
        let output = run.succeeded().item()["value"]["_output"].clone();
        let output = output.as_str().expect("it has output");
        assert!(output.starts_with("FRRouting"), "{output}");
    }
    other.succeeded();
    lab.is_clean("h1", "/session/relay");
}

#[test]
fn a_task_that_ignores_that_its_session_was_not_opened_gets_a_warning() {
    let mut lab = Lab::new();
    let device = Device::lease();
    lab.proxy("proxy", "h1", json!({}));
    let wrong = json!({"run-on": "proxy", "password": "canary-wrong"});
    lab.project.add("router", &device, wrong);
    lab.task(
        "ignore",
        REMOTE,
        "devgate session exec a; devgate session exec b; echo done",
    );
    let run = lab.project.devgate("task run t::ignore -t router");
    let run = run.succeeded();
    let warning = "router: the task's session with the device could not be opened: ";
    let shown = run.to_string();
    assert_eq!(shown.matches(warning).count(), 1, "{shown}");
    run.shows(&["refuses the login"]);
}

/// Ends the processes with this word, which a killed devgate has left.
fn end(word: &str) {
    for process in fs::read_dir("/proc").expect("/proc").flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let number = process.file_name().to_string_lossy().parse::<i32>();
        if let Ok(number) = number
            && String::from_utf8_lossy(&line).replace('\0', " ") == format!("sleep {word} ")
        {
            let pid = nix::unistd::Pid::from_raw(number);
            // It may have ended.
            let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
        }
    }
}
