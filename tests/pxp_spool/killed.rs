//! SIGKILL of the attendant, of the action, and of the caller: the status is truthful, and nothing runs
//! twice.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::spool::{Spool, end};
use crate::folder::pause;

#[test]
fn an_action_that_nobody_attends_any_more_is_judged_by_what_it_leaves() {
    for (last, status, exitcode) in [
        ("finish '{\"done\": 1}' words 0", "success", json!(0)),
        ("finish '{\"done\": 1}' words 3", "failure", json!(3)),
        ("finish '{\"did\": 1}' words 0", "failure", json!(0)),
        ("finish '{\"done\": 1}' words 5", "failure", json!(5)),
    ] {
        let spool = Spool::with(&format!("await go; {last}; echo end >ended"));
        spool.run("x");
        spool.wait_for_start();
        spool.kill_supervisor("x");
        assert_eq!(spool.status("x")["status"], "running");
        assert_eq!(spool.run("x")["status"], "running");
        // The module is not called again.
        fs::remove_dir_all(spool.0.0.path().join("modules.pxp")).expect("it is there");
        spool.go();
        spool.wait_for("ended");
        let report = spool.end("x");
        assert_eq!(
            (&report["status"], &report["exitcode"]),
            (&json!(status), &exitcode),
            "{last}"
        );
        assert_eq!(
            report["results"] == json!({"done": 1}),
            exitcode != 5 && !last.contains("did")
        );
        // A query changes nothing, and the answer stays the same.
        assert_eq!(spool.metadata("x")["status"], "running");
        assert_eq!(spool.status("x"), report);
        assert_eq!(spool.run("x")["repeated"], true);
        assert_eq!(spool.runs(), 1);
    }
}

#[test]
fn an_action_that_was_killed_with_who_attends_it_is_unknown() {
    let spool = Spool::with("await never");
    spool.run("x");
    let action = spool.wait_for_start();
    spool.kill_supervisor("x");
    end(&action);
    let report = spool.status("x");
    let expected = "task process is not running, but no output is available";
    assert_eq!(
        (&report["status"], &report["_error"]["msg"]),
        (&json!("unknown"), &json!(expected))
    );
    assert_eq!(spool.run("x")["status"], "unknown");
    assert_eq!(spool.runs(), 1);

    // Another process may reuse the process ID, such as this test.
    let pid = spool.folder("x").join("pid");
    let written = fs::read_to_string(&pid).expect("it is there");
    let (_, which) = written.split_once('\n').expect("two lines");
    fs::write(&pid, format!("{}\n{which}", std::process::id())).expect("it is ours");
    assert_eq!(spool.status("x"), report);
    spool.run_command("cancel", "x");
    // A process ID alone proves nothing.
    let missing = "the PID and output of this task are not available";
    fs::write(&pid, format!("{}\n", std::process::id())).expect("it is ours");
    assert_eq!(spool.status("x")["_error"]["msg"], missing);
    spool.run_command("cancel", "x");
    fs::remove_file(&pid).expect("it is there");
    assert_eq!(spool.status("x")["_error"]["msg"], missing);
    // An empty or truncated exit code proves nothing either.
    fs::write(spool.folder("x").join("exitcode"), "").expect("it is ours");
    let report = spool.status("x");
    assert_eq!(report["status"], "unknown");
    assert!(
        report["_error"]["msg"]
            .as_str()
            .expect("a text")
            .contains("invalid value"),
        "{report}"
    );
    assert_eq!(spool.run("x")["repeated"], true);
    assert_eq!(spool.runs(), 1);
}

#[test]
fn wherever_a_process_is_killed_the_action_runs_once_at_most() {
    let spool = Spool::with("sleep 0.05; finish '{\"done\": 1}' '' 0");
    for round in 0..24_u32 {
        let id = format!("t-{round}.");
        let mut caller = spool.0.command(&Spool::words(&id, &[]));
        let caller = caller.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut caller = caller.expect("the binary starts");
        // After the claim, the attendant starts at any moment; each round kills a little later.
        while caller.try_wait().expect("it is our child").is_none() && !spool.folder(&id).exists() {
            pause();
        }
        (0..round / 2).for_each(|_| pause());
        if round % 2 == 1 {
            caller.kill().expect("it is our child");
        }
        for process in supervisors(&spool, &id) {
            let pid = nix::unistd::Pid::from_raw(process);
            // It may have ended by now.
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
        caller.wait().expect("it is our child");
        let report = spool.end(&id);
        assert_eq!(spool.run(&id)["repeated"], true);
        let runs = spool.runs_of(&id);
        assert!(runs <= 1, "{id}: {runs}");
        if report["status"] == "success" {
            assert_eq!(runs, 1, "{report}");
        } else {
            assert!(report["_error"]["msg"].is_string(), "{report}");
        }
    }
}

/// Returns the processes that attend a transaction, by their command lines.
fn supervisors(spool: &Spool, id: &str) -> Vec<i32> {
    let folder = spool.folder(id).display().to_string();
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let attends = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = words.split(|byte| *byte == 0).collect();
        words.contains(&&b"attend"[..]) && words.contains(&folder.as_bytes())
    };
    pids.filter(attends).collect()
}

#[test]
fn what_was_claimed_and_never_started_is_unknown_and_is_not_started_later() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0");
    spool.run("first");
    spool.end("first");
    // The state after the caller was killed right after the claim.
    let mut metadata = spool.metadata("first");
    metadata["transaction_id"] = json!("x");
    metadata["status"] = json!("running");
    let keys = ["attended_by", "end", "exitcode", "results_are_valid"];
    for key in keys {
        metadata.as_object_mut().expect("an object").remove(key);
    }
    fs::create_dir(spool.folder("x")).expect("a folder");
    fs::write(spool.folder("x").join("metadata"), metadata.to_string()).expect("it is ours");
    let report = spool.status("x");
    let missing = "the PID and output of this task are not available";
    assert_eq!(
        (&report["status"], &report["_error"]["msg"]),
        (&json!("unknown"), &json!(missing))
    );
    assert_eq!(spool.run("x")["repeated"], true);
    assert_eq!(spool.runs(), 1);
    // A second attendant is refused as well.
    let folder = spool.folder("first").display().to_string();
    let output = spool.0.devgate(&["pxp", "attend", &folder]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("devgate/not-started"), "{report}");
    assert_eq!(spool.runs(), 1);
    assert_eq!(spool.status("first")["status"], Value::from("success"));
}
