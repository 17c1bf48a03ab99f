//! Runs whose output nobody reads: they do their work nevertheless, and can be stopped.

use std::fs;
use std::io::Read;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::folder::{Project, pause};

/// Writes more than any pipe holds, and then creates the file `written`.
const MUCH: &str = "head -c 300000 /dev/zero | tr '\\0' x; echo >\"$PT_dir/written\"\n";

/// Like [`MUCH`] on the first target; on the other, it waits for a child.
const MUCH_OR_SLEEP: &str = "if mkdir \"$PT_dir/first\"; then head -c 300000 /dev/zero | tr '\\0' x; \
                             else sleep 300 & echo $! >\"$PT_dir/begun\"; wait; fi\n";

/// The maximum time to wait for an event.
const LONG: Duration = Duration::from_secs(60);

/// Starts a run of a task whose output nobody reads yet.
fn start(project: &Project, script: &str, words: &[&str]) -> Child {
    project.task("long", script);
    let dir = format!("dir={}", project.0.path().display());
    let all = ["task", "run", "m::long", "--format", "json", &dir];
    project
        .command(&[&all[..], words].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

#[track_caller]
fn wait_until<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(start.elapsed() < LONG, "{what}");
        pause();
    }
}

/// Waits until a task has written the process ID of its child and that child has ended.
#[track_caller]
fn child_has_ended(project: &Project) {
    let message = project.0.path().join("begun");
    let number = wait_until("no child was started", || {
        let text = fs::read_to_string(&message).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    });
    wait_until("the child is still running", || {
        let words = fs::read(format!("/proc/{number}/cmdline"));
        words.map_or(true, |words| words.is_empty()).then_some(())
    });
}

/// Waits until a pipe is full.
#[track_caller]
fn is_full(stdout: &ChildStdout) {
    wait_until("nothing is printed", || {
        let held = rustix::io::ioctl_fionread(stdout).expect("it is a pipe");
        (held >= 60_000).then_some(())
    });
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
    kill(pid, signal).expect("it is our child");
}

#[track_caller]
fn ended(child: &mut Child) -> ExitStatus {
    wait_until("it has not ended", || {
        child.try_wait().expect("it is a child")
    })
}

/// Reads the output and the exit status; the rest of the output is read concurrently.
fn read(mut child: Child, stdout: Option<ChildStdout>) -> (Value, ExitStatus) {
    let stdout = stdout.or_else(|| child.stdout.take()).expect("a pipe");
    let mut stderr = child.stderr.take().expect("a pipe");
    let words = std::thread::spawn(move || {
        let mut words = String::new();
        stderr.read_to_string(&mut words).map(|_| words)
    });
    let mut text = String::new();
    let mut stdout = stdout;
    stdout
        .read_to_string(&mut text)
        .expect("a pipe can be read");
    let words = words.join().expect("the reader does not panic");
    let document = serde_json::from_str(&text);
    let document = document.unwrap_or_else(|error| panic!("{error}: {text} {words:?}"));
    (document, ended(&mut child))
}

#[test]
fn a_task_is_ended_in_time_though_nobody_reads_and_who_reads_late_reads_all() {
    let project = Project::new();
    let words = ["-t", "r1,r2", "--timeout", "2"];
    let child = start(&project, MUCH_OR_SLEEP, &words);
    child_has_ended(&project);
    let (document, status) = read(child, None);
    assert_eq!(status.code(), Some(1));
    assert_eq!(document["target_count"], 2);
    let items = document["items"].as_array().expect("items");
    let much = items.iter().find(|item| item["status"] == "success");
    let output = &much.expect("one went well")["value"]["_output"];
    assert_eq!(output.as_str().map(str::len), Some(300_000));
    let late = items.iter().find(|item| item["status"] == "failure");
    let message = late.expect("one took too long")["value"]["_error"]["msg"].to_string();
    assert!(message.contains("longer than 2s"), "{message}");
}

#[test]
fn a_task_is_ended_in_time_though_nobody_reads_the_messages() {
    let project = Project::new();
    let script = "sleep 300 & echo $! >\"$PT_dir/begun\"; yes | head -c 2000000; \
                  echo >\"$PT_dir/written\"; wait\n";
    let words = ["-t", "r1", "--timeout", "2", "--stream"];
    let child = start(&project, script, &words);
    child_has_ended(&project);
    // The writer waits for the reader: only the output in between is kept in memory.
    assert!(!project.0.path().join("written").exists());
    let (document, status) = read(child, None);
    assert_eq!(status.code(), Some(1));
    assert_eq!(document["target_count"], 1);
}

#[test]
fn signals_are_handled_while_nobody_reads_and_the_exit_code_reports_them() {
    let project = Project::new();
    let mut child = start(&project, MUCH, &["-t", "r1"]);
    is_full(child.stdout.as_ref().expect("a pipe"));
    send(&child, Signal::SIGTERM);
    for _ in 0..50 {
        pause();
    }
    let second = Instant::now();
    send(&child, Signal::SIGTERM);
    assert_eq!(ended(&mut child).code(), Some(143));
    assert!(
        second.elapsed() < Duration::from_secs(3),
        "{:?}",
        second.elapsed()
    );
}

#[test]
fn a_document_says_that_the_run_was_interrupted_where_the_exit_code_does() {
    let project = Project::new();
    let mut child = start(&project, &format!("{MUCH}exit 1\n"), &["-t", "r1"]);
    let stdout = child.stdout.take().expect("a pipe");
    is_full(&stdout);
    for _ in 0..50 {
        pause();
    }
    send(&child, Signal::SIGTERM);
    for _ in 0..50 {
        pause();
    }
    let (document, status) = read(child, Some(stdout));
    let message = document.get("_error").is_some();
    assert_eq!(status.code(), Some(if message { 143 } else { 1 }));
    assert_eq!(document["target_count"], 1);
}
