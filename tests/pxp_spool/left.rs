//! Modules that end and leave something behind: work, a service, or late output.

use serde_json::{Value, json};

use super::spool::{Spool, end};
use crate::folder::{document, wait_for_end};

/// Exits successfully without output files, and leaves a process behind.
const LEAVES: &str = "sleep 600 & echo $! >child; exit 0";

#[test]
fn what_was_left_to_others_may_not_take_longer_than_all_else() {
    let spool = Spool::with(LEAVES);
    spool.run_with("x", &["--timeout", "2"]);
    let report = spool.end("x");
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert_eq!(report["status"], "failure");
    assert!(
        why.starts_with("it exceeded the time limit of 2 s"),
        "{why}"
    );
    wait_for_end(spool.wait_for("child").trim());
}

#[test]
fn a_service_that_is_left_behind_is_not_waited_for_and_lives() {
    let spool = Spool::with(LEAVES);
    spool.run("x");
    let report = spool.end("x");
    assert_eq!(
        (&report["status"], &report["exitcode"]),
        (&json!("failure"), &json!(0))
    );
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(why.contains("it has not written the file"), "{why}");
    wait_for_end(&spool.supervisor("x"));
    assert_eq!(
        document(&spool.run_command("cancel", "x"))["cancelled"],
        false
    );
    end(spool.wait_for("child").trim());
}

#[test]
fn what_is_left_of_an_action_whose_end_nobody_knows_is_ended_by_who_cancels_it() {
    let spool = Spool::with("sleep 600 & echo $! >child; await go");
    spool.run("x");
    let action = spool.wait_for_start();
    let child = spool.wait_for("child");
    spool.kill_supervisor("x");
    spool.go();
    wait_for_end(&action);
    assert_eq!(spool.end("x")["status"], "unknown");
    let report = document(&spool.run_command("cancel", "x"));
    assert_eq!(
        (&report["cancelled"], &report["status"]),
        (&json!(true), &json!("failure"))
    );
    wait_for_end(child.trim());
    assert_eq!(
        document(&spool.run_command("cancel", "x"))["cancelled"],
        false
    );
}

#[test]
fn what_is_written_after_the_end_is_not_shown() {
    let spool = Spool::with(
        "finish '{\"done\": 1}' '' 0; await go; echo '{\"done\": 2}' >\"$dir/stdout\"; echo late >late",
    );
    spool.run("x");
    let report = spool.end("x");
    assert_eq!(
        (&report["status"], &report["results"]),
        (&json!("success"), &json!({"done": 1}))
    );
    spool.go();
    spool.wait_for("late");
    let report = spool.status("x");
    assert_eq!(
        (&report["status"], report.get("results")),
        (&json!("success"), None::<&Value>)
    );
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(why.contains("was changed after it ended"), "{why}");
    wait_for_end(&spool.supervisor("x"));
}
