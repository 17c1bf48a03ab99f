//! The ways in which actions end or are ended, and the status that is reported.

use std::process::Stdio;

use serde_json::{Value, json};

use super::spool::{Spool, end};
use crate::folder::{document, pause, wait_for_end};

#[test]
fn the_exit_code_and_the_results_say_what_became_of_it() {
    for (script, exitcode, valid, expected) in [
        (
            "finish '{\"done\": 1}' no 3; exit 3",
            json!(3),
            true,
            "it ended with exit code 3",
        ),
        (
            "finish '{\"did\": 1}' no 0",
            json!(0),
            false,
            "its results do not match their schema",
        ),
        (
            "finish '{\"done\"' no 0",
            json!(0),
            false,
            "invalid JSON on stdout",
        ),
        // The exit code of the process takes precedence, as long as it is known.
        (
            "finish '{\"done\": 1}' no 0; exit 4",
            json!(4),
            true,
            "it ended with exit code 4",
        ),
        (
            "finish '{\"done\": 1}' no 5; exit 5",
            json!(5),
            false,
            "failed to write output on file",
        ),
        (
            "exit 0",
            json!(0),
            false,
            "it has not written the file of `output_files.stdout`",
        ),
        ("kill -9 $$", json!(137), false, "it was ended by signal 9"),
    ] {
        let spool = Spool::with(script);
        spool.run("x");
        let ended = spool.end("x");
        wait_for_end(&spool.supervisor("x"));
        assert_eq!(spool.status("x"), ended, "{script}");
        assert_eq!(ended["status"], "failure", "{script}");
        assert_eq!(ended["exitcode"], exitcode, "{script}");
        assert_eq!(ended["results_are_valid"], valid, "{script}");
        assert_eq!(ended.get("results").is_some(), valid, "{script}");
        let error = ended["_error"]["msg"].as_str().expect("a text");
        assert!(error.contains(expected), "{script}: {error}");
    }
}

#[test]
fn what_exists_instead_of_output_is_not_waited_for() {
    let spool = Spool::with("mkfifo \"$dir/stdout\"; echo 0 >\"$dir/exitcode\"");
    spool.run("x");
    let report = spool.end("x");
    wait_for_end(&spool.supervisor("x"));
    for report in [report, spool.status("x")] {
        let why = report["_error"]["msg"].as_str().expect("a text");
        assert!(why.ends_with("stdout: it is not a file"), "{why}");
    }
    assert_eq!(spool.status("x")["status"], "failure");
}

#[test]
fn a_module_that_cannot_be_started_is_reported_to_the_caller() {
    let spool = Spool::with("");
    spool.0.write(
        "modules.pxp/m",
        &format!(
            "#!/bin/sh\necho '{}'\nmv \"$0\" \"$0.gone\"\n",
            json!({
                "description": "d",
                "actions": [{"name": "act", "description": "a", "input": {}, "results": {}}],
            })
        ),
    );
    let output = spool.0.devgate(&Spool::words("x", &[]));
    assert_eq!(output.status.code(), Some(1));
    let error = &document(&output)["_error"];
    let message = error["msg"].as_str().expect("a text");
    assert!(
        message.starts_with("failed to start action task: it cannot be started"),
        "{message}"
    );
    let report = spool.status("x");
    assert_eq!(report["status"], "failure");
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(message.starts_with(why), "{message}");
    // The ID may have been generated.
    assert_eq!(error["details"]["transaction_id"], "x");
    assert!(
        message.contains("; `devgate pxp status x --spool-dir "),
        "{message}"
    );
    assert!(message.contains("/m does not exist any more"), "{message}");
}

/// Ignores SIGTERM, and has a child that has left its process group and session.
const STUBBORN: &str =
    "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >child; sleep 600' & await never";

/// Asserts that a cancelled action and its child processes have ended, and that the status says so.
#[track_caller]
fn assert_cancelled(spool: &Spool, report: &Value, processes: &[String]) {
    assert_eq!(report["cancelled"], true, "{report}");
    for process in processes {
        wait_for_end(process);
    }
    wait_for_end(&spool.supervisor("x"));
    let report = spool.status("x");
    assert_eq!(report["status"], "failure");
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(why.starts_with("cancelled"), "{why}");
    assert_eq!(spool.run("x")["repeated"], true);
    assert_eq!(spool.runs(), 1);
}

#[test]
fn a_cancelled_action_gets_sigterm_and_is_killed_when_it_is_cancelled_again() {
    let spool = Spool::with(STUBBORN);
    spool.run("x");
    let processes = [
        spool.wait_for_start(),
        spool.wait_for("child").trim().to_owned(),
    ];
    let words = [
        "pxp",
        "cancel",
        "x",
        "--spool-dir",
        "spool",
        "--format",
        "json",
    ];
    let mut first = spool.0.command(&words);
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let first = first.expect("the binary starts");
    // The cancellation is recorded before it begins.
    while spool.metadata("x").get("ending").is_none() {
        pause();
    }
    let report = spool.status("x");
    assert_eq!(
        (&report["status"], &report["ending"], report.get("_error")),
        (&json!("running"), &json!("cancelled"), None)
    );
    let second = document(&spool.run_command("cancel", "x"));
    let first = first.wait_with_output().expect("it is our child");
    assert_eq!(first.status.code(), Some(0));
    for report in [second, document(&first)] {
        assert_cancelled(&spool, &report, &processes);
    }
}

#[test]
fn an_action_that_nobody_attends_is_ended_by_who_cancels_it() {
    let spool = Spool::with(STUBBORN);
    spool.run("x");
    let processes = [
        spool.wait_for_start(),
        spool.wait_for("child").trim().to_owned(),
    ];
    spool.kill_supervisor("x");
    assert_eq!(spool.status("x")["status"], "running");
    let report = document(&spool.run_command("cancel", "x"));
    assert_cancelled(&spool, &report, &processes);
}

#[test]
fn what_has_ended_stays_as_it_is_when_it_is_cancelled() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0");
    spool.run("x");
    spool.end("x");
    wait_for_end(&spool.supervisor("x"));
    let before = spool.metadata("x");
    let output = spool.run_command("cancel", "x");
    assert_eq!(output.status.code(), Some(0));
    let report = document(&output);
    assert_eq!(
        (&report["cancelled"], &report["status"]),
        (&json!(false), &json!("success"))
    );
    assert_eq!(spool.metadata("x"), before);
    let unknown = spool.run_command("cancel", "y");
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(document(&unknown)["status"], "unknown");
}

#[test]
fn who_has_finished_is_not_undone_by_being_slow_to_end() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0; await never");
    spool.run_with("x", &["--timeout", "2"]);
    // As in pxp-agent, the exit code marks the end.
    let report = spool.end("x");
    assert_eq!(
        (&report["status"], &report["exitcode"]),
        (&json!("success"), &json!(0))
    );
    wait_for_end(&spool.supervisor("x"));
    wait_for_end(&spool.wait_for_start());
    assert_eq!(spool.metadata("x")["status"], "success");
}

#[test]
fn an_action_that_takes_too_long_is_ended_with_all_that_it_has_started() {
    let spool = Spool::with("setsid sh -c 'echo $$ >child; exec sleep 600' & await never");
    spool.run_with("x", &["--timeout", "3"]);
    let processes = [
        spool.wait_for_start(),
        spool.wait_for("child").trim().to_owned(),
    ];
    let report = spool.end("x");
    assert_eq!(report["status"], "failure");
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(
        why.starts_with("it exceeded the time limit of 3 s (--timeout)"),
        "{why}"
    );
    for process in &processes {
        wait_for_end(process);
    }
}

#[test]
fn who_is_killed_while_it_ends_an_action_has_said_why() {
    // Each script kills its own attendant.
    for (last, status) in [
        ("finish '{\"done\": 1}' '' 0; exit", "success"),
        ("exit", "failure"),
    ] {
        let spool = Spool::with(&format!(
            "ended() {{ kill -9 $PPID; {last}; }}; trap ended TERM; await never & wait"
        ));
        spool.run("x");
        spool.wait_for_start();
        let report = document(&spool.run_command("cancel", "x"));
        assert_eq!(
            (&report["status"], &report["ending"]),
            (&json!(status), &json!("cancelled")),
            "{report}"
        );
        if status == "success" {
            // The action ended by itself: it was not cancelled.
            assert_eq!(report["results"], json!({"done": 1}));
            assert_eq!(report["cancelled"], false);
        } else {
            let why = report["_error"]["msg"].as_str().expect("a text");
            assert!(why.starts_with("cancelled"), "{why}");
        }
    }
}

#[test]
fn who_is_asked_often_to_end_an_action_still_says_what_became_of_it() {
    let spool = Spool::with(STUBBORN);
    spool.run("x");
    let processes = [
        spool.wait_for_start(),
        spool.wait_for("child").trim().to_owned(),
    ];
    let supervisor: i32 = spool.supervisor("x").parse().expect("a number");
    let supervisor = nix::unistd::Pid::from_raw(supervisor);
    // This simulates many concurrent cancellations; a pending signal is not queued twice.
    for _ in 0..100 {
        if nix::sys::signal::kill(supervisor, nix::sys::signal::Signal::SIGTERM).is_err() {
            break;
        }
        pause();
    }
    wait_for_end(&supervisor.to_string());
    assert_eq!(spool.metadata("x")["status"], "failure");
    for process in &processes {
        wait_for_end(process);
    }
}

#[test]
fn an_exit_code_counts_when_it_is_complete() {
    let spool = Spool::with(
        "printf 1 >\"$dir/exitcode\"; sleep 0.3; printf 2 >>\"$dir/exitcode\"; await never",
    );
    spool.run_with("x", &["--timeout", "3"]);
    assert_eq!(spool.end("x")["exitcode"], 12);
    wait_for_end(&spool.supervisor("x"));
}

#[test]
fn what_an_action_leaves_behind_may_live() {
    let spool = Spool::with("sleep 600 & echo $! >child; finish '{\"done\": 1}' '' 0");
    spool.run("x");
    assert_eq!(spool.end("x")["status"], "success");
    wait_for_end(&spool.supervisor("x"));
    end(spool.wait_for("child").trim());
}
