//! A task that is ended leaves nothing behind but its output.

use std::time::Duration;

use devgate_core::cancel::Stage;
use serde_json::json;
use tokio::time::timeout;

use super::*;
use crate::process::ProcessLimits;

/// Starts a grandchild, writes its number to a file, and waits for it.
const WITH_GRANDCHILD: &str =
    "sleep 600 & echo $! > \"$PT_file.new\"; mv \"$PT_file.new\" \"$PT_file\"; wait";

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; its parent has not waited for it yet.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Waits until a condition holds, and fails after far too long a time.
async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let poll = async {
        while !condition() {
            let interval = Duration::from_millis(5);
            drop(timeout(interval, std::future::pending::<()>()).await);
        }
    };
    timeout(Duration::from_secs(60), poll).await.expect(what);
}

async fn pid_in(file: &Path) -> String {
    until("the number is written", || file.exists()).await;
    fs::read_to_string(file)
        .expect("a number")
        .trim()
        .to_owned()
}

fn time_limit(millis: u64) -> ProcessLimits {
    ProcessLimits {
        time: Some(Duration::from_millis(millis)),
        ..ProcessLimits::default()
    }
}

/// Runs a script that writes process numbers to `$PT_file` and does not end. Checks that the processes are gone
/// afterwards. Returns the details of the error.
async fn ended(script: &str, millis: u64) -> Json {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pids");
    let run = Run::of(script)
        .parameters(json!({"file": file}))
        .limits(time_limit(millis));
    let error = run.run().await.expect_err("over its time");
    let (kind, text, details) = error.to_error();
    assert_eq!(kind, "puppetlabs.tasks/timeout-error", "{text}");
    let pids = fs::read_to_string(&file).unwrap_or_default();
    assert!(!pids.is_empty(), "{script}: it has begun");
    for pid in pids.split_whitespace() {
        assert!(!is_alive(pid), "{script}: {pid} still lives");
    }
    details
}

#[tokio::test]
async fn a_task_over_its_time_is_ended_with_all_that_it_has_started() {
    for script in [
        // A child in its group.
        "echo partial; sleep 600 & echo $! $$ >\"$PT_file\"; wait",
        // A child that outlives it in its group and ignores SIGTERM.
        "(trap '' TERM; exec sleep 600) & echo $! $$ >\"$PT_file\"; echo partial; wait",
        // A child in a session of its own.
        "setsid sh -c 'echo $$ >>\"$PT_file\"; sleep 600' & echo $$ >>\"$PT_file\"; echo partial; wait",
        // A child in a session of its own whose parent has ended, with no output open.
        "setsid sh -c 'sleep 600 >&- 2>&- & echo $! >>\"$PT_file\"' & echo partial; exec sleep 600",
        // A child that ignores SIGTERM, in a session of its own.
        "setsid sh -c 'trap \"\" TERM; echo $$ >>\"$PT_file\"; while :; do sleep 1; done' & \
         echo partial; exec sleep 600",
        // A stopped child.
        "echo partial; sleep 600 & echo $! $$ >\"$PT_file\"; kill -STOP $!; wait",
    ] {
        let details = ended(script, 1500).await;
        assert_eq!(details["partial_output"], "partial\n", "{script}");
        assert_eq!(details["limit_seconds"], 1.5);
    }
}

#[tokio::test]
async fn a_task_that_will_not_end_is_killed() {
    let details = ended(
        "trap '' TERM; echo $$ >\"$PT_file\"; while :; do sleep 1; done",
        300,
    )
    .await;
    assert_eq!(details["partial_output"], Json::Null);
    let script =
        "trap 'echo going >&2; exit' TERM; echo $$ >\"$PT_file\"; while :; do sleep 0.1; done";
    let output = ended(script, 500).await["stderr"].to_string();
    assert!(output.contains("going"), "{output}");
}

#[tokio::test]
async fn a_task_that_fills_its_output_and_one_that_closes_it_are_ended() {
    let details = ended(
        "echo $$ >\"$PT_file\"; while :; do echo yes; echo no >&2; done",
        500,
    )
    .await;
    let partial = details["partial_output"].as_str().expect("a text");
    assert!(
        partial.ends_with("yes\n") && partial.len() <= 65536,
        "{}",
        partial.len()
    );
    ended("echo $$ >\"$PT_file\"; exec >&- 2>&-; sleep 600", 500).await;
}

#[tokio::test]
async fn a_stopped_run_is_ended_as_its_stage_says() {
    for (stage, trap) in [(Stage::End, "exit"), (Stage::Kill, ":")] {
        let notes = tempfile::tempdir().expect("a directory");
        let file = notes.path().join("pid");
        let script = format!(
            "trap 'echo heard; {trap}' TERM; echo partial; echo $$ >\"$PT_file.new\"; \
             mv \"$PT_file.new\" \"$PT_file\"; while :; do sleep 0.1; done"
        );
        let run = Run::of(&script).parameters(json!({"file": file}));
        let cancel_source = CancelSource::default();
        let (error, pid) = tokio::join!(run.run_under(cancel_source.token()), async {
            let pid = pid_in(&file).await;
            cancel_source.raise(stage, None);
            pid
        });
        let (kind, _, details) = error.expect_err("it was stopped").to_error();
        assert_eq!(kind, "devgate/interrupted");
        let output = details["partial_output"].as_str().expect("a text");
        assert!(output.starts_with("partial\n"), "{output}");
        assert!(
            stage == Stage::Kill || output.ends_with("heard\n"),
            "{output}"
        );
        assert!(!is_alive(&pid));
    }
}

#[tokio::test]
async fn what_a_task_that_ends_well_leaves_behind_lives() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let run = Run::of(
        "setsid sh -c 'echo $$ >\"$PT_file\"; exec sleep 600' >/dev/null 2>&1 & \
                       while ! [ -s \"$PT_file\" ]; do sleep 0.05; done; echo done",
    )
    .parameters(json!({"file": file}));
    assert_eq!(run.value().await, json!({"_output": "done\n"}));
    let pid = pid_in(&file).await;
    assert!(is_alive(&pid));
    let pid = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("our own process");
}

#[tokio::test]
async fn a_run_that_is_dropped_takes_its_processes_and_its_directory_along() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let run = Run::of(WITH_GRANDCHILD).parameters(json!({"file": file}));
    let pid = tokio::select! {
        _ = run.run() => panic!("the task waits"),
        pid = pid_in(&file) => pid,
    };
    until("the grandchild has ended", || !is_alive(&pid)).await;
    assert_eq!(run.left_behind(), 0);
}

#[tokio::test]
async fn a_process_that_keeps_the_output_open_holds_nobody_up() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let limits = ProcessLimits {
        drain: Duration::from_millis(100),
        ..ProcessLimits::default()
    };
    let run = Run::of("sleep 600 & echo $! > \"$PT_file\"; echo done")
        .parameters(json!({"file": file}))
        .limits(limits);
    assert_eq!(run.value().await, json!({"_output": "done\n"}));
    // The process outlives the task, like a service that the task has started.
    let pid = pid_in(&file).await;
    assert!(is_alive(&pid));
    let pid = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("our own process");
}
