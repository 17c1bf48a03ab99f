//! Non-blocking actions of PXP modules: one run for each id, and the truth about it, whoever was killed.

mod ended;
mod kept;
mod killed;
mod secret;
mod spool;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use self::spool::Spool;
use super::folder::{document, wait_for_the_end_of, words_of};

#[test]
fn an_action_goes_on_without_its_caller_and_what_became_of_it_is_told() {
    let spool = Spool::with("await go; finish '{\"done\": [1, null]}' 'some words' 0");
    // The caller's output ends here, while the action runs.
    let answer = spool.run("t-1");
    let expected = json!({
        "transaction_id": "t-1", "status": "running", "module": "m", "action": "act", "repeated": false,
    });
    assert_eq!(answer, expected);
    let told = spool.status("t-1");
    assert_eq!(told["status"], "running");
    assert_eq!(told.get("end"), None);
    spool.begun();
    for file in ["", "metadata", "pid", "results_schema"] {
        let metadata = fs::metadata(spool.folder("t-1").join(file)).expect("it is there");
        let expected = if file.is_empty() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{file}");
    }
    assert_eq!(spool.metadata("t-1")["request_params"], "{}");
    // Who attends it leads a session, and has none of the caller's streams.
    let attendant = spool.attendant("t-1");
    let stat = fs::read_to_string(format!("/proc/{attendant}/stat")).expect("it runs");
    let session = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.split(' ').nth(3));
    assert_eq!(session, Some(attendant.as_str()));
    spool.go();
    let told = spool.end("t-1");
    assert_eq!(told["status"], "success");
    assert_eq!(told["results"], json!({ "done": [1, null] }));
    for (key, value) in [
        ("exitcode", json!(0)),
        ("results_are_valid", json!(true)),
        ("stderr", json!("some words")),
        ("module", json!("m")),
        ("action", json!("act")),
    ] {
        assert_eq!(told[key], value, "{key}");
    }
    assert!(told["start"].as_str() < told["end"].as_str(), "{told}");
    assert_eq!(told.get("_error"), None);
    let human = spool
        .0
        .devgate(&["pxp", "status", "t-1", "--spool-dir", "spool"]);
    let human = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(human.starts_with("t-1: success (m act)\n{\n"), "{human}");
}

#[test]
fn an_id_that_was_used_is_not_run_again_whatever_is_asked_with_it() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0");
    let new = spool.0.devgate(&Spool::words("x", &["--timeout", "5m"]));
    assert_eq!(document(&new)["repeated"], false);
    assert_eq!(spool.end("x")["status"], "success");
    let again = spool.run("x");
    let expected = json!({
        "transaction_id": "x", "status": "success", "module": "m", "action": "act", "repeated": true,
    });
    assert_eq!(again, expected);
    // Neither the input nor the module is looked at.
    for (module, action, input) in [
        ("m", "act", "no JSON"),
        ("m", "other", "{}"),
        ("n", "act", "{}"),
    ] {
        let mut words = Spool::words("x", &["--input", input]);
        (words[2], words[3]) = (module, action);
        let output = spool.0.devgate(&words);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(document(&output), expected);
        let words = words_of(&output);
        let differs = (module, action) != ("m", "act");
        assert_eq!(
            words.contains("a new action needs a new id"),
            differs,
            "{words}"
        );
    }
    assert_eq!(spool.runs(), 1);
    // An empty folder is somebody's, too; so is a file.
    fs::create_dir(spool.folder("empty")).expect("a folder");
    fs::write(spool.folder("file"), "").expect("a file");
    for id in ["empty", "file"] {
        assert_eq!(spool.run(id)["status"], "unknown", "{id}");
        assert!(!spool.folder(id).join("metadata").exists());
    }
    assert_eq!(spool.runs(), 1);
}

#[test]
fn of_many_callers_at_once_one_runs_the_action() {
    let spool = Spool::with("await go; finish '{\"done\": 1}' '' 0");
    let callers: Vec<_> = (0..6)
        .map(|_| {
            let mut command = spool.0.command(&Spool::words("x", &[]));
            let child = command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            child.expect("the binary starts")
        })
        .collect();
    let answers: Vec<_> = callers
        .into_iter()
        .map(|caller| {
            let output = caller.wait_with_output().expect("it is our child");
            assert_eq!(output.status.code(), Some(0), "{}", words_of(&output));
            document(&output)
        })
        .collect();
    let new = answers.iter().filter(|answer| answer["repeated"] == false);
    assert_eq!(new.count(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["status"] == "running"));
    spool.go();
    assert_eq!(spool.end("x")["status"], "success");
    assert_eq!(spool.runs(), 1);
}

#[test]
fn ids_and_options_are_refused_with_what_was_expected() {
    let spool = Spool::with("");
    let long = "x".repeat(256);
    for id in ["", ".", "..", "a/b", "../x", &long] {
        for words in [
            Spool::words(id, &[]),
            vec!["pxp", "status", id, "--spool-dir", "."],
            vec!["pxp", "cancel", id, "--spool-dir", "."],
        ] {
            let output = spool.0.devgate(&words);
            assert_eq!(output.status.code(), Some(1), "{words:?}");
            let told = words_of(&output);
            assert!(
                told.contains("expected a transaction id of 1 to 255 bytes"),
                "{told}"
            );
        }
    }
    let without = spool.0.devgate(&[
        "pxp",
        "run",
        "m",
        "act",
        "--modules-dir",
        "modules.pxp",
        "--nonblocking",
    ]);
    assert!(words_of(&without).contains("--spool-dir"));
    let no_text = OsStr::from_bytes(b"sp\xffool");
    let words = Spool::words("x", &[]);
    let rest = words[1..].iter().map(OsStr::new);
    let rest = rest.map(|word| if word == "spool" { no_text } else { word });
    let output = spool.0.command(&words[..1]).args(rest).output();
    let told = words_of(&output.expect("the binary starts"));
    assert!(told.contains("its path is no text in UTF-8"), "{told}");
    let none = spool
        .0
        .devgate(&["pxp", "status", "x", "--spool-dir", "nowhere"]);
    assert!(words_of(&none).contains("the spool nowhere cannot be used"));
    let unknown = spool
        .0
        .devgate(&["pxp", "status", "x", "--spool-dir", ".", "--format", "json"]);
    assert_eq!(
        document(&unknown)["_error"]["msg"],
        "found no results directory"
    );
    // Without an id, each call is a transaction of its own.
    let words = Spool::words("x", &[]);
    let words: Vec<&str> = words
        .into_iter()
        .filter(|word| !["--transaction", "x"].contains(word))
        .collect();
    let ids = [(); 2].map(|()| document(&spool.0.devgate(&words))["transaction_id"].clone());
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        spool.end(id.as_str().expect("a text"));
    }
    assert_eq!(spool.runs(), 2);
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
    fs::create_dir(spool.path()).expect("a folder");
    let everybody = |mode: u32| {
        let folder = spool.path();
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    everybody(0o777);
    let refused = spool.0.devgate(&Spool::words("x", &[]));
    assert!(words_of(&refused).contains("everybody may write in it"));
    everybody(0o700);
    // A disk that is full: no file may grow beyond this.
    let full = |bytes: usize, id: &str| {
        let script = format!("trap '' XFSZ; exec prlimit --fsize={bytes} \"$@\"");
        let mut command = spool
            .0
            .started_by(&["sh", "-c", &script, "sh"], &Spool::words(id, &[]));
        let output = command.output().expect("sh starts");
        assert_eq!(output.status.code(), Some(1), "{}", words_of(&output));
        document(&output)["_error"].clone()
    };
    let error = full(16, "full");
    assert_eq!(error["kind"], "devgate/spool-error", "{error}");
    assert!(!spool.folder("full").exists());
    assert_eq!(fs::read_dir(spool.path()).expect("a spool").count(), 0);
    // Full after the claim: who attends the action cannot record itself.
    spool.run("x");
    assert_eq!(spool.end("x")["status"], "success");
    wait_for_the_end_of(&spool.attendant("x"));
    let mut claim = spool.metadata("x");
    let more = ["attended_by", "end", "exitcode", "results_are_valid"];
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
