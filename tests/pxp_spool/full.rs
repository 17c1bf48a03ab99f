//! Full disks and read-only folders: an action that cannot be recorded is not started, and no secret
//! remains because there is no room to mask it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;

use super::spool::Spool;
use crate::folder::{document, wait_for_the_end_of, words_of};

/// The secret.
const SECRET: &str = "canary-on-a-full-disk";

/// Starts a transaction from a shell that ignores the signal for too large files.
fn begun_by(spool: &Spool, script: &str, id: &str, more: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; {script}");
    let starter = ["sh", "-c", &script, "sh"];
    let mut command = spool.0.started_by(&starter, &Spool::words(id, more));
    command.output().expect("sh starts")
}

/// Starts a transaction `x` with a secret in its input; its disk becomes full for the attendant.
fn attended_without_room(script: &str) -> Spool {
    let spool = Spool::with(script);
    let input = format!("{{\"password\": \"{SECRET}\"}}");
    spool.0.write("input.json", &input);
    let begun = begun_by(&spool, "exec \"$@\"", "x", &["--input", "@input.json"]);
    assert_eq!(begun.status.code(), Some(0), "{}", words_of(&begun));
    let limited = spool
        .0
        .started_by(
            &["prlimit", "--fsize=16", "--pid", &spool.attendant("x")],
            &[],
        )
        .status();
    assert!(limited.expect("it is installed").success());
    spool
}

#[track_caller]
fn assert_hidden(told: &Value) {
    assert!(!told.to_string().contains(SECRET), "{told}");
    let why = told["_error"]["msg"].as_str().expect("a text");
    assert!(
        why.contains("is not shown") || why.contains("nothing on stdout"),
        "{why}"
    );
}

#[test]
fn what_cannot_be_masked_on_a_full_disk_is_removed() {
    let spool =
        attended_without_room("await go; finish \"{\\\"done\\\": $request}\" \"$request\" 0");
    spool.go();
    wait_for_the_end_of(&spool.attendant("x"));
    // It may still be ending.
    assert_hidden(&spool.end("x"));
    for file in ["stdout", "stderr"] {
        assert!(!spool.folder("x").join(file).exists(), "{file}");
    }
}

#[test]
fn what_nobody_has_masked_is_not_shown() {
    let spool =
        attended_without_room("await go; finish \"{\\\"done\\\": $request}\" \"$request\" 0");
    spool.kill_attendant("x");
    spool.go();
    let told = spool.end("x");
    assert_eq!(told["status"], "success");
    assert_hidden(&told);
}

#[test]
fn who_cancels_on_a_full_disk_hears_that_the_action_was_ended() {
    let spool = attended_without_room("await never");
    let action = spool.begun();
    let output = spool.ask("cancel", "x");
    assert_eq!(output.status.code(), Some(1));
    let error = &document(&output)["_error"];
    assert_eq!(error["kind"], "devgate/spool-error");
    let told = error["msg"].as_str().expect("a text");
    assert!(
        told.contains("was cancelled, but that cannot be recorded"),
        "{told}"
    );
    wait_for_the_end_of(&action);
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
    let told = words_of(&refused);
    assert!(
        told.contains("inventory.yaml cannot be used: not a directory"),
        "{told}"
    );
    fs::create_dir(spool.path()).expect("a folder");
    let everybody = |mode: u32| {
        let folder = spool.path();
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    everybody(0o777);
    let refused = spool.0.devgate(&Spool::words("x", &[]));
    assert!(words_of(&refused).contains("all users can write to it"));
    everybody(0o700);
    // Simulates a full disk: no file may grow beyond this size.
    let full = |bytes: usize, id: &str| {
        let output = begun_by(
            &spool,
            &format!("exec prlimit --fsize={bytes} \"$@\""),
            id,
            &[],
        );
        assert_eq!(output.status.code(), Some(1), "{}", words_of(&output));
        document(&output)["_error"].clone()
    };
    let error = full(16, "full");
    assert_eq!(error["kind"], "devgate/spool-error", "{error}");
    assert!(!spool.folder("full").exists());
    assert_eq!(fs::read_dir(spool.path()).expect("a spool").count(), 0);
    // The disk is full after the claim: the attendant cannot record itself.
    spool.run("x");
    assert_eq!(spool.end("x")["status"], "success");
    wait_for_the_end_of(&spool.attendant("x"));
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
