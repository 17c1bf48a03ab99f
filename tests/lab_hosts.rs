//! Proxies: hosts behind real SSH servers that run the tasks of remote targets, alone and in pools.

mod ends;
mod pools;
mod programs;
mod sessions;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::lab::{lab, pause};
use crate::support::project::Project;

/// The hosts are counted on: one test at a time has them.
pub(crate) static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// A project with the lab's hosts.
struct Lab {
    project: Project,
    lab: Value,
    _exclusive: MutexGuard<'static, ()>,
}

/// The log messages of an SSH server when files are to be transferred, and when it does not support that.
const SFTP: [&str; 2] = ["subsystem 'sftp' for runner", "sftp by user runner failed"];

/// The metadata of a remote task that reads its parameters on stdin.
const REMOTE: &str = r#"{"remote": true, "input_method": "stdin"}"#;

impl Lab {
    fn new() -> Self {
        let exclusive = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            project: Project::new(),
            lab: lab("hosts"),
            _exclusive: exclusive,
        }
    }

    fn host(&self, name: &str) -> &Value {
        let hosts = self.lab["hosts"].as_array().expect("lab.json lists hosts");
        let found = hosts.iter().find(|host| host["name"] == name);
        found.expect("the lab has it")
    }

    /// Adds a host of the lab to the inventory under this name, with additional options.
    fn proxy(&mut self, name: &str, of: &str, options: Value) {
        let host = self.host(of);
        let mut ssh = json!({
            "host": host["host"], "port": host["port"], "user": self.lab["user"],
            "private-key": self.lab["private_key"], "known-hosts-file": self.lab["known_hosts"],
            "load-config": false, "connect-timeout": 20,
        });
        for (key, value) in options.as_object().expect("options are an object") {
            ssh[key] = value.clone();
        }
        let config = json!({"transport": "ssh", "ssh": ssh});
        self.project
            .add_entry(json!({"name": name, "config": config}));
    }

    /// Adds remote targets `d1`, `d2` and so on behind these proxies.
    fn devices(&mut self, count: usize, run_on: Value) {
        for number in 1..=count {
            let info = json!({"run-on": run_on, "password": "canary-of-device"});
            self.project.add_target(&format!("d{number}"), info);
        }
    }

    fn task(&mut self, name: &str, metadata: &str, script: &str) {
        let tasks = "modules/t/tasks";
        self.project
            .write("bolt-project.yaml", "modulepath: modules\n");
        self.project
            .write(&format!("{tasks}/{name}.json"), metadata);
        let script = format!("#!/bin/sh\n{script}\n");
        self.project.write(&format!("{tasks}/{name}.sh"), &script);
    }

    /// Returns how often a text occurs in a host's log.
    fn logged(&self, host: &str, text: &str) -> usize {
        let log = self.host(host)["log"].as_str().expect("a path");
        let log = fs::read_to_string(log).expect("the SSH server has a log");
        log.matches(text).count()
    }

    /// Returns how often file transfers to a host were attempted.
    fn uploads(&self, host: &str) -> usize {
        SFTP.iter().map(|text| self.logged(host, text)).sum()
    }

    /// Asserts that a host has no directory of a run, and no process with this word in its command line.
    fn is_clean(&self, host: &str, word: &str) {
        let tmp = self.host(host)["tmp"].as_str().expect("a path");
        let remaining: Vec<_> = fs::read_dir(tmp)
            .expect("the host's /tmp")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("devgate-"))
            .collect();
        assert!(remaining.is_empty(), "{remaining:?}");
        assert!(
            !word.is_empty() && has_ended(word),
            "a process with {word} lives"
        );
    }
}

/// Whether the command line of any process contains a word, on this machine or on a host.
pub(crate) fn is_running(word: &str) -> bool {
    command_lines().any(|line| line.contains(word))
}

/// Waits until no process with this word is left, and returns whether that happened in time. A killed
/// process disappears only after it is scheduled again.
pub(crate) fn has_ended(word: &str) -> bool {
    let start = Instant::now();
    while is_running(word) {
        if start.elapsed() > Duration::from_secs(5) {
            return false;
        }
        pause(Duration::from_millis(50));
    }
    true
}

fn command_lines() -> impl Iterator<Item = String> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    })
}

fn statuses(document: &Value) -> Vec<&str> {
    let items = document["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| item["status"].as_str().expect("a status"))
        .collect()
}

#[test]
fn five_hundred_targets_take_one_upload_and_as_few_connections_as_the_host_allows() {
    for (of, sessions) in [("h1", 10), ("h3", 2), ("h4", 10)] {
        let mut lab = Lab::new();
        lab.proxy("proxy", of, json!({}));
        lab.devices(500, json!("proxy"));
        lab.task("noop", REMOTE, "echo '{\"ok\": true}'");
        let (logins, uploads) = (lab.logged(of, "Accepted publickey"), lab.uploads(of));
        let run = lab.project.devgate("task run t::noop -t d* --format json");
        let document = run.succeeded().json();
        assert_eq!(statuses(&document), vec!["success"; 500]);
        assert_eq!(document["items"][7]["value"], json!({"ok": true}));
        let logins = lab.logged(of, "Accepted publickey") - logins;
        assert!(logins <= 500 / sessions + 1, "{logins} connections to {of}");
        assert_eq!(lab.uploads(of) - uploads, 1, "uploads to {of}");
        lab.is_clean(of, "t/tasks/noop");
    }
}

#[test]
fn a_task_gets_behind_ssh_what_it_gets_here() {
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    lab.project.add_target("here", json!({}));
    lab.project.add_target("there", json!({"run-on": "proxy"}));
    lab.task(
        "all",
        r#"{"remote": true, "files": ["t/lib/helper"]}"#,
        "cat | sed 's/_target.*//' | sha256sum\nprintf %s \"$PT_text\" | sha256sum\n\
         cat \"$PT__installdir/t/lib/helper\"; env | grep -c ^PT__target; echo oops >&2; exit 3",
    );
    lab.project.write("modules/t/lib/helper", "helped\n");
    let text = format!("q'\"\\ $x `y`\n\n é ! 漢 {}\n", "z".repeat(100_000));
    let params = json!({"a": text, "text": text});
    // `_installdir` differs and must be ignored.
    lab.task(
        "same",
        r#"{"remote": true, "input_method": "environment"}"#,
        "printf %s \"$PT_a$PT_text\" | sha256sum; exit 3",
    );
    lab.project.write("params.json", &params.to_string());
    for task in ["t::same", "t::all"] {
        let run = lab
            .project
            .devgate(&format!(
                "task run {task} -t here,there --params @params.json --format json"
            ))
            .failed();
        let items = run.json()["items"].as_array().expect("items").clone();
        let output = |at: usize| {
            let text = items[at]["value"]["_output"].as_str().expect("output");
            // The first line of `all` is the input, which contains `_installdir`.
            text.lines()
                .skip(usize::from(task == "t::all"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(output(0), output(1), "{run}");
        assert_eq!(
            items[0]["value"]["_error"]["details"],
            items[1]["value"]["_error"]["details"]
        );
    }
    lab.is_clean("h1", "t/tasks/same");
}

#[test]
fn tasks_run_as_whom_the_inventory_says() {
    let mut lab = Lab::new();
    let password = lab.lab["password"].clone();
    lab.proxy("worker", "h2", json!({"run-as": "worker"}));
    lab.proxy(
        "root",
        "h2",
        json!({"run-as": "root", "sudo-password": password}),
    );
    lab.proxy(
        "wrong",
        "h2",
        json!({"run-as": "root", "sudo-password": "wrong-canary"}),
    );
    lab.proxy("none", "h2", json!({"run-as": "root"}));
    lab.task(
        "who",
        r#"{"input_method": "stdin"}"#,
        "cat >/dev/null; id -un",
    );
    for user in ["worker", "root"] {
        let run = lab
            .project
            .devgate(&format!("task run t::who -t {user} --format json"));
        assert_eq!(
            run.succeeded().item()["value"]["_output"],
            format!("{user}\n")
        );
    }
    for (host, code) in [("wrong", "BAD_PASSWORD"), ("none", "NO_PASSWORD")] {
        let run = lab
            .project
            .devgate(&format!("task run t::who -t {host} --format json"));
        let error = run.failed().item()["value"]["_error"].clone();
        assert_eq!(error["kind"], "puppetlabs.tasks/escalate-error");
        assert_eq!(error["details"]["issue_code"], code);
    }
    lab.is_clean("h2", "t/tasks/who");
}

#[test]
fn where_tasks_cannot_be_copied_the_error_says_what_to_do() {
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({"tmpdir": "/proc/none"}));
    lab.task("noop", "{}", "echo '{}'");
    lab.project
        .devgate("task run t::noop -t proxy --tty")
        .failed()
        .shows(&["/proc/none/devgate-", "set `tmpdir`", "`tty` has no effect"]);
}

#[test]
fn a_connection_that_is_lost_in_the_middle_is_no_reason_to_run_a_task_again() {
    let mut lab = Lab::new();
    lab.proxy("one", "h1", json!({}));
    lab.proxy("two", "h2", json!({}));
    lab.devices(1, json!(["one", "two"]));
    // The task's ancestors are the login shell, if it still exists, and the server's process.
    lab.task(
        "cut",
        REMOTE,
        "echo ran >>\"/tmp/cut-$(hostname)\"; kill -9 $PPID; sleep 5",
    );
    let run = lab
        .project
        .devgate("task run t::cut -t d1 --format json")
        .failed();
    let error = run.item()["value"]["_error"].clone();
    assert_eq!(error["kind"], "puppetlabs.tasks/connect-error", "{run}");
    assert!(
        error["msg"].as_str().expect("a text").contains("not known"),
        "{run}"
    );
    let ran: Vec<PathBuf> = ["h1", "h2"]
        .map(|host| {
            Path::new(lab.host(host)["tmp"].as_str().expect("a path")).join(format!("cut-{host}"))
        })
        .into_iter()
        .filter(|path| path.exists())
        .collect();
    let [once] = ran.as_slice() else {
        panic!("it ran on one host, not on {ran:?}");
    };
    assert_eq!(fs::read_to_string(once).expect("what it wrote"), "ran\n");
    fs::remove_file(once).expect("it can be removed");
}

#[test]
fn no_secret_is_in_a_command_line_or_on_a_proxys_disk() {
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    lab.devices(20, json!("proxy"));
    lab.task(
        "slow",
        r#"{"remote": true, "parameters": {"word": {"sensitive": true, "type": "String"}}}"#,
        "cat >/dev/null; grep -rl canary \"${0%/*}/..\" 2>/dev/null | grep -v /slow.sh; sleep 1",
    );
    lab.project
        .write("params.json", r#"{"word": "canary-of-parameter"}"#);
    let run = lab
        .project
        .start("task run t::slow -t d* --params @params.json --format json");
    let started = Instant::now();
    let mut seen = false;
    while started.elapsed() < Duration::from_secs(if seen { 3 } else { 60 }) {
        for line in command_lines() {
            seen |= line.contains("slow.sh");
            assert!(
                !line.contains("canary-of"),
                "a command line holds a secret: {line}"
            );
        }
    }
    assert!(seen, "no task was seen");
    let document = run.finish().succeeded().json();
    for item in document["items"].as_array().expect("items") {
        assert_eq!(
            item["value"],
            json!({"_output": ""}),
            "the disk holds a secret"
        );
    }
}
