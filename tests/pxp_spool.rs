//! Non-blocking actions of PXP modules: one run for each ID, and a truthful status, whichever process was
//! killed.

mod ended;
mod full;
mod kept;
mod killed;
mod left;
mod secret;
mod spool;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use self::spool::Spool;
use super::folder::{document, messages_of};

#[test]
fn an_action_goes_on_without_its_caller_and_what_became_of_it_is_reported() {
    let spool = Spool::with("await go; finish '{\"done\": [1, null]}' 'some words' 0");
    // The caller's output ends here, while the action is still running.
    let answer = spool.run("t-1");
    let expected = json!({
        "transaction_id": "t-1", "status": "running", "module": "m", "action": "act", "repeated": false,
    });
    assert_eq!(answer, expected);
    let report = spool.status("t-1");
    assert_eq!(report["status"], "running");
    assert_eq!(report.get("end"), None);
    spool.wait_for_start();
    for file in ["", "metadata", "pid", "results_schema"] {
        let metadata = fs::metadata(spool.folder("t-1").join(file)).expect("it is there");
        let expected = if file.is_empty() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{file}");
    }
    assert_eq!(spool.metadata("t-1")["request_params"], "{}");
    // The attendant leads a session, and has none of the caller's streams.
    let supervisor = spool.supervisor("t-1");
    let stat = fs::read_to_string(format!("/proc/{supervisor}/stat")).expect("it runs");
    let session = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.split(' ').nth(3));
    assert_eq!(session, Some(supervisor.as_str()));
    spool.go();
    let report = spool.end("t-1");
    assert_eq!(report["status"], "success");
    assert_eq!(report["results"], json!({ "done": [1, null] }));
    for (key, value) in [
        ("exitcode", json!(0)),
        ("results_are_valid", json!(true)),
        ("stderr", json!("some words")),
        ("module", json!("m")),
        ("action", json!("act")),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    assert!(
        report["start"].as_str() < report["end"].as_str(),
        "{report}"
    );
    assert_eq!(report.get("_error"), None);
    let human = spool
        .0
        .devgate(&["pxp", "status", "t-1", "--spool-dir", "spool"]);
    let human = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(human.starts_with("t-1: success (m act)\n{\n"), "{human}");
}

#[test]
fn an_id_that_was_used_is_not_run_again_whatever_is_requested_with_it() {
    let spool = Spool::with("finish '{\"done\": 1}' '' 0");
    let new = spool.0.devgate(&Spool::words("x", &["--timeout", "5m"]));
    assert_eq!(document(&new)["repeated"], false);
    assert_eq!(spool.end("x")["status"], "success");
    let again = spool.run("x");
    let expected = json!({
        "transaction_id": "x", "status": "success", "module": "m", "action": "act", "repeated": true,
    });
    assert_eq!(again, expected);
    // Neither the input nor the module is checked again.
    for (module, action, input) in [
        ("m", "act", "no JSON"),
        ("m", "other", "{}"),
        ("n", "act", "{}"),
    ] {
        let mut words = Spool::words("x", &["--input", input]);
        (words[2], words[3]) = (module, action);
        let output = spool.0.devgate(&words);
        if (module, action) == ("m", "act") {
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(document(&output), expected);
            continue;
        }
        assert_eq!(output.status.code(), Some(1));
        let error = &document(&output)["_error"];
        assert_eq!(error["kind"], "devgate/id-taken");
        let message = error["msg"].as_str().expect("a text");
        for words in [
            "the action `act` of module `m`",
            &format!("`{action}` of `{module}` was not started"),
        ] {
            assert!(message.contains(words), "{message}");
        }
    }
    assert_eq!(spool.runs(), 1);
    // An empty folder may belong to somebody else, and so may a file.
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
            assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
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
fn where_no_spool_is_named_it_is_the_users_own() {
    let spool = Spool::with("");
    let state = tempfile::tempdir().expect("a temporary folder can be made");
    let own = state.path().join("devgate/pxp/spool");
    let own = own.to_str().expect("its name is a text");
    let begin = ["pxp", "run", "m", "act", "--modules-dir", "modules.pxp"];
    let begin = [&begin[..], &["--nonblocking", "--transaction", "own"]].concat();
    for (words, code) in [
        (begin, 0),
        (vec!["pxp", "cancel", "own"], 0),
        (vec!["pxp", "status", "own"], 1),
        (vec!["pxp", "status", "own", "--spool-dir", own], 1),
    ] {
        let run = spool
            .0
            .command(&words)
            .env("XDG_STATE_HOME", state.path())
            .output();
        let run = run.expect("the binary starts");
        let message = String::from_utf8_lossy(&run.stdout);
        assert!(message.contains("own: "), "{message}{}", messages_of(&run));
        assert_eq!(run.status.code(), Some(code), "{message}");
    }
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
            let message = messages_of(&output);
            assert!(
                message.contains("expected a transaction ID of 1 to 255 bytes"),
                "{message}"
            );
        }
    }
    let run = ["pxp", "run", "m", "act", "--modules-dir", "modules.pxp"];
    let kept = spool.0.devgate(&[&run[..], &["--keep", "1d"]].concat());
    assert!(messages_of(&kept).contains("--nonblocking"));
    let no_text = OsStr::from_bytes(b"sp\xffool");
    let words = Spool::words("x", &[]);
    let rest = words[1..].iter().map(OsStr::new);
    let rest = rest.map(|word| if word == "spool" { no_text } else { word });
    let output = spool.0.command(&words[..1]).args(rest).output();
    let message = messages_of(&output.expect("the binary starts"));
    assert!(message.contains("its path is not UTF-8"), "{message}");
    let none = spool
        .0
        .devgate(&["pxp", "status", "x", "--spool-dir", "nowhere"]);
    assert!(messages_of(&none).contains("the spool nowhere cannot be used"));
    let unknown = spool
        .0
        .devgate(&["pxp", "status", "x", "--spool-dir", ".", "--format", "json"]);
    assert_eq!(
        document(&unknown)["_error"]["msg"],
        "found no results directory"
    );
    // Without an ID, each call is a separate transaction.
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
