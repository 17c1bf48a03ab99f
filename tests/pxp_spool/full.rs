//! Full disks and read-only folders: an action that cannot be recorded is not started, and no secret
//! remains because there is no room to mask it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;

use super::spool::Spool;
use crate::folder::{document, messages_of, wait_for_end};

/// The secret.
const SECRET: &str = "canary-on-a-full-disk";

/// Starts a transaction from a shell that ignores the signal for too large files.
fn start_under(spool: &Spool, script: &str, id: &str, more: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; {script}");
    let wrapper = ["sh", "-c", &script, "sh"];
    let mut command = spool.0.command_under(&wrapper, &Spool::words(id, more));
    command.output().expect("sh starts")
}

/// Starts a transaction `x` with a secret in its input; its disk becomes full for the attendant.
fn run_on_full_disk(script: &str) -> Spool {
    let spool = Spool::with(script);
    let input = format!("{{\"password\": \"{SECRET}\"}}");
    spool.0.write("input.json", &input);
    let started = start_under(&spool, "exec \"$@\"", "x", &["--input", "@input.json"]);
    assert_eq!(started.status.code(), Some(0), "{}", messages_of(&started));
    let limited = spool
        .0
        .command_under(
            &["prlimit", "--fsize=16", "--pid", &spool.supervisor("x")],
            &[],
        )
        .status();
    assert!(limited.expect("it is installed").success());
    spool
}

#[track_caller]
fn assert_hidden(report: &Value) {
    assert!(!report.to_string().contains(SECRET), "{report}");
    let why = report["_error"]["msg"].as_str().expect("a text");
    assert!(
        why.contains("is not shown") || why.contains("nothing on stdout"),
        "{why}"
    );
}

#[test]
fn what_cannot_be_masked_on_a_full_disk_is_removed() {
    let spool = run_on_full_disk("await go; finish \"{\\\"done\\\": $request}\" \"$request\" 0");
    spool.go();
    wait_for_end(&spool.supervisor("x"));
    // It may still be ending.
    assert_hidden(&spool.end("x"));
    for file in ["stdout", "stderr"] {
        assert!(!spool.folder("x").join(file).exists(), "{file}");
    }
}

#[test]
fn what_nobody_has_masked_is_not_shown() {
    let spool = run_on_full_disk("await go; finish \"{\\\"done\\\": $request}\" \"$request\" 0");
    spool.kill_supervisor("x");
    spool.go();
    let report = spool.end("x");
    assert_eq!(report["status"], "success");
    assert_hidden(&report);
}

#[test]
fn a_cancellation_on_a_full_disk_reports_that_the_action_was_ended() {
    let spool = run_on_full_disk("await never");
    let action = spool.wait_for_start();
    let output = spool.run_command("cancel", "x");
    assert_eq!(output.status.code(), Some(1));
    let error = &document(&output)["_error"];
    assert_eq!(error["kind"], "devgate/spool-error");
    let message = error["msg"].as_str().expect("a text");
    assert!(
        message.contains("was cancelled, but that cannot be recorded"),
        "{message}"
    );
    wait_for_end(&action);
}

#[test]
fn what_cannot_be_recorded_is_not_started() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0");
    let mut words = Spool::words("x", &[]);
    *words
        .iter_mut()
        .find(|word| **word == "spool")
        .expect("it is there") = "inventory.yaml/spool";
    let refused = spool.0.devgate(&words);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(document(&refused)["_error"]["kind"], "devgate/spool-error");
    let words = ["pxp", "run", "m", "act", "--modules-dir", "modules.pxp"];
    let file = ["--nonblocking", "--spool-dir", "inventory.yaml"];
    let refused = spool.0.devgate(&[&words[..], &file].concat());
    let message = messages_of(&refused);
    assert!(
        message.contains("inventory.yaml cannot be used: not a directory"),
        "{message}"
    );
    fs::create_dir(spool.path()).expect("a folder");
    let everybody = |mode: u32| {
        let folder = spool.path();
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    everybody(0o777);
    let refused = spool.0.devgate(&Spool::words("x", &[]));
    assert!(messages_of(&refused).contains("all users can write to it"));
    everybody(0o700);
    // Simulates a full disk: no file may grow beyond this size.
    let full = |bytes: usize, id: &str| {
        let output = start_under(
            &spool,
            &format!("exec prlimit --fsize={bytes} \"$@\""),
            id,
            &[],
        );
        assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
        document(&output)["_error"].clone()
    };
    let error = full(16, "full");
    assert_eq!(error["kind"], "devgate/spool-error", "{error}");
    assert!(!spool.folder("full").exists());
    assert_eq!(fs::read_dir(spool.path()).expect("a spool").count(), 0);
    // The disk is full after the claim: the attendant cannot record itself.
    spool.run("x");
    assert_eq!(spool.end("x")["status"], "success");
    wait_for_end(&spool.supervisor("x"));
    let mut claim = spool.metadata("x");
    let more = [
        "attended_by",
        "end",
        "exitcode",
        "results_are_valid",
        "written",
    ];
    for key in more {
        claim.as_object_mut().expect("an object").remove(key);
    }
    let claim = serde_json::to_string_pretty(&claim).expect("it is JSON");
    let id = "y";
    let error = full(claim.len() + 60, id);
    assert_eq!(error["kind"], "devgate/not-started", "{error}");
    assert_eq!(spool.runs(), 1);
    assert!(spool.folder(id).exists() && !spool.folder(id).join("pid").exists());
    assert_eq!(spool.status(id)["status"], "unknown");
}
