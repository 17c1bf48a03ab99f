//! Runs that are interrupted by one, two or three signals, and the documents that they print.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::folder::{Project, document, wait_for_end};

/// Starts a task on `r1` and `r2`, one after the other. Sends each signal after the previous one was
/// acknowledged on stderr, and then creates a file `go`. Returns the output.
fn interrupted(project: &Project, words: &[&str], signals: &[(Signal, &str)]) -> Output {
    let all = ["task", "run", "m::long", "-t", "all", "-c", "1"];
    let mut child = project
        .command(&[&all[..], words].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    });
    wait_for(project, "begun");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut received = String::new();
    for (signal, answer) in signals {
        let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
        kill(pid, *signal).expect("it is our child");
        let from = received.len();
        while !received[from..].contains(answer) {
            let read = stderr.read_line(&mut received).expect("a pipe can be read");
            assert!(read > 0, "nothing like {answer:?} in {received}");
        }
    }
    project.write("go", "");
    let mut rest = Vec::new();
    stderr.read_to_end(&mut rest).expect("a pipe can be read");
    received.push_str(&String::from_utf8_lossy(&rest));
    Output {
        status: child.wait().expect("it is a child"),
        stdout: reader.join().expect("the reader does not panic"),
        stderr: received.into_bytes(),
    }
}

/// Waits until a task has written a file of this name.
fn wait_for(project: &Project, name: &str) {
    let path = project.0.path().join(name);
    for _ in 0..3000 {
        if fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')) {
            return;
        }
        super::folder::pause();
    }
    panic!("no task has begun");
}

fn errors(document: &Value) -> Vec<(&str, &Value)> {
    let items = document["items"].as_array().expect("items").iter();
    items
        .map(|item| {
            (
                item["target"].as_str().expect("a name"),
                &item["value"]["_error"],
            )
        })
        .collect()
}

#[track_caller]
fn assert_nothing_is_left(project: &Project) {
    let child = fs::read_to_string(project.0.path().join("begun")).expect("a child was started");
    wait_for_end(child.trim());
    let remaining: Vec<_> = fs::read_dir(project.0.path().join("tmp"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name != OsStr::new(".keep"))
        .collect();
    assert!(remaining.is_empty(), "{remaining:?}");
}

/// Starts a child, records its process ID, and waits for it.
const SLEEP: &str = "sleep 300 & echo $! >\"$PT_dir/begun\"; wait\n";

/// Like [`SLEEP`], but ignores the termination signal.
const STUBBORN: &str =
    "trap '' TERM; sleep 300 & echo $! >\"$PT_dir/begun\"; while :; do wait; sleep 1; done\n";

/// Ends when the file `go` exists.
const PATIENT: &str = "echo $$ >\"$PT_dir/begun\"; \
                       while [ ! -e \"$PT_dir/go\" ]; do sleep 0.1; done; echo done\n";

fn project(script: &str) -> (Project, String) {
    let project = Project::new();
    project.task("long", script);
    let dir = format!("dir={}", project.0.path().display());
    (project, dir)
}

#[test]
fn after_one_signal_what_runs_may_end_and_nothing_new_begins() {
    let (project, dir) = project(PATIENT);
    let signals = [(Signal::SIGINT, "1 target may finish within 10 seconds")];
    let output = interrupted(&project, &[&dir, "--format", "json"], &signals);
    assert_eq!(output.status.code(), Some(130));
    let document = document(&output);
    assert_eq!(document["target_count"], 2);
    assert_eq!(document["_error"]["kind"], "devgate/interrupted");
    assert_eq!(document["items"][0]["status"], "success");
    let (target, error) = errors(&document)[1];
    assert_eq!(
        (target, &error["kind"]),
        ("r2", &"devgate/interrupted".into())
    );
    assert_eq!(error["details"]["begun"], false);
}

#[test]
fn what_does_not_end_in_time_is_ended() {
    let (project, dir) = project(SLEEP);
    let signals = [(
        Signal::SIGTERM,
        "a second signal kills what is still running",
    )];
    let output = interrupted(&project, &[&dir, "--format", "json"], &signals);
    assert_eq!(output.status.code(), Some(143));
    let document = document(&output);
    let begun: Vec<&Value> = errors(&document)
        .iter()
        .map(|(_, error)| &error["kind"])
        .collect();
    assert_eq!(begun, ["devgate/interrupted", "devgate/interrupted"]);
    assert_nothing_is_left(&project);
}

#[test]
fn a_second_signal_kills_and_every_target_is_accounted_for() {
    for (script, signal, code) in [
        (SLEEP, Signal::SIGHUP, 129),
        (STUBBORN, Signal::SIGINT, 130),
    ] {
        let (project, dir) = project(script);
        let signals = [
            (signal, "may finish within"),
            (signal, "killing the processes"),
        ];
        let output = interrupted(&project, &[&dir, "--format", "json"], &signals);
        assert_eq!(output.status.code(), Some(code));
        let document = document(&output);
        assert_eq!(document["target_count"], 2);
        let begun: Vec<(&str, &Value)> = errors(&document)
            .iter()
            .map(|(target, error)| (*target, &error["details"]["begun"]))
            .collect();
        assert_eq!(begun, [("r1", &true.into()), ("r2", &false.into())]);
        assert_nothing_is_left(&project);
    }
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let (project, dir) = project(PATIENT);
    let words = ["task", "run", "m::long", "-t", "all", &dir];
    let child = project
        .command_under(&["nohup"], &words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nohup is there");
    wait_for(&project, "begun");
    let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
    kill(pid, Signal::SIGHUP).expect("it is our child");
    project.write("go", "");
    let output = child.wait_with_output().expect("it is a child");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn people_read_who_was_interrupted_and_programs_read_lines() {
    let signals = [
        (Signal::SIGINT, "may finish within"),
        (Signal::SIGINT, "killing the processes"),
    ];
    let (first, dir) = project(SLEEP);
    let output = interrupted(&first, &[&dir], &signals);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Failed on 2 targets: r1,r2"), "{text}");
    let (second, dir) = project(SLEEP);
    let output = interrupted(&second, &[&dir, "--format", "jsonl"], &signals);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let targets: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a document a line"))
        .map(|item| item["target"].clone())
        .collect();
    assert_eq!(targets, ["r1", "r2"]);
}

#[test]
fn plugins_are_left_at_any_signal_and_what_they_had_started_is_ended() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let (project, dir) = project("echo \"$PT_secret\"");
        project.write("modules/m/tasks/slow.sh", SLEEP);
        let parameters = serde_json::json!({"dir": project.0.path()});
        let plugin =
            serde_json::json!({"_plugin": "task", "task": "m::slow", "parameters": parameters});
        let inventory = serde_json::json!({"config": {"transport": "remote", "remote": {
            "remote-transport": "unknown", "password": plugin}}, "targets": ["r1"]});
        project.write("inventory.yaml", &inventory.to_string());
        let signals = [(signal, "interrupted while plugins were running")];
        let output = interrupted(&project, &[&dir, "--format", "json"], &signals);
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(document(&output)["_error"]["kind"], "devgate/interrupted");
        assert_nothing_is_left(&project);
    }
}

#[test]
fn a_reader_who_reads_nothing_does_not_keep_a_run_from_being_stopped() {
    let (project, _) = project("head -c 300000 /dev/zero | tr '\\0' x; echo >\"$PT_dir/begun\"\n");
    let dir = format!("dir={}", project.0.path().display());
    let words = ["task", "run", "m::long", "-t", "all", &dir];
    let mut child = project
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    wait_for(&project, "begun");
    let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
    kill(pid, Signal::SIGINT).expect("it is our child");
    let start = Instant::now();
    let ended = loop {
        match child.try_wait().expect("it is a child") {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(120) => {
                child.kill().expect("it is our child");
                panic!("it waits for its reader");
            }
            None => super::folder::pause(),
        }
    };
    assert_eq!(ended.code(), Some(130));
}
