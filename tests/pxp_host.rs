//! Running an action of a PXP module and waiting for it: what must stay hidden, and how the action is
//! ended.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::folder::{Project, document, messages_of, pause, wait_for_end};

/// Creates a module whose action `act` runs this script, in the folder `modules.pxp`.
fn module(script: &str) -> Project {
    let project = Project::new();
    let metadata = r#"{"description": "d", "actions": [{"name": "act", "description": "a", "input": {}, "results": {}}]}"#;
    let text =
        format!("#!/bin/sh\ncase $1 in\nmetadata) echo '{metadata}';;\nact) {script};;\nesac\n");
    project.write("modules.pxp/m", &text);
    project
}

const ACT: [&str; 6] = ["pxp", "run", "m", "act", "--modules-dir", "modules.pxp"];

/// Writes its process ID and that of a child, reads no more, and stays.
const STAY: &str = "sleep 300 & echo $$ $! >begun; cat >/dev/null; wait; sleep 300";

/// Waits for the process IDs that the action writes, and returns them.
fn started_processes(project: &Project) -> Vec<String> {
    let path = project.0.path().join("begun");
    for _ in 0..3000 {
        let text = fs::read_to_string(&path).unwrap_or_default();
        if text.ends_with('\n') {
            return text.split_whitespace().map(str::to_owned).collect();
        }
        pause();
    }
    panic!("the action has not begun");
}

#[test]
fn input_does_not_stay_on_the_command_line() {
    let project = module(STAY);
    for input in [
        &["--input", r#"{"password": "canary"}"#][..],
        &[r#"--input={"password": "canary"}"#],
    ] {
        let words = [&ACT[..], input].concat();
        let child = project
            .command(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.expect("the binary starts");
        let processes = started_processes(&project);
        let own = child.id().to_string();
        for process in processes.iter().chain([&own]) {
            let [words, environment] = ["cmdline", "environ"]
                .map(|file| fs::read(format!("/proc/{process}/{file}")).expect("it runs"));
            for bytes in [words, environment] {
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.is_empty() && !text.contains("canary"), "{text}");
            }
        }
        let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
        kill(pid, Signal::SIGTERM).expect("it is our child");
        assert_eq!(child.wait().expect("it is our child").code(), Some(143));
        processes.iter().for_each(|process| wait_for_end(process));
        fs::remove_file(project.0.path().join("begun")).expect("it is there");
    }
}

/// Prints its results at the first or second termination signal, and then ends or stays.
fn finishing(request: u32, then: &str) -> String {
    format!(
        "n=0; trap 'n=$((n+1)); [ $n = {request} ] && echo \"{{\\\"done\\\": [1, 2]}}\" && {then}' TERM; \
         sleep 300 & echo $$ $! >begun; cat >/dev/null; while :; do wait; done"
    )
}

#[test]
fn what_an_action_has_finished_is_printed_whatever_ends_it() {
    for (signals, script) in [
        (1, finishing(1, "exit 1")),
        (2, finishing(2, "exit 1")),
        (2, finishing(1, ":")),
    ] {
        let project = module(&script);
        let mut command = project.command(&[&ACT[..], &["--format", "json"]].concat());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.expect("the binary starts");
        let processes = started_processes(&project);
        let pid = Pid::from_raw(child.id().try_into().expect("it is a process's number"));
        for _ in 0..signals {
            kill(pid, Signal::SIGTERM).expect("it is our child");
            (0..50).for_each(|_| pause());
        }
        let output = child.wait_with_output().expect("it is our child");
        assert_eq!(output.status.code(), Some(143), "{script}");
        let document = document(&output);
        assert_eq!(document["results"]["done"][1], 2, "{script}: {document}");
        assert_eq!(document["status"], "failure", "{document}");
        assert_eq!(document["_error"]["kind"], "devgate/interrupted");
        processes.iter().for_each(|process| wait_for_end(process));
    }
}

#[test]
fn a_module_inherits_the_locale_of_its_caller() {
    let project = module(r#"echo "\"$LC_ALL $LANG\"""#);
    for (all, lang) in [("C.UTF-8", "de_DE.UTF-8"), ("", "")] {
        let mut command = project.command(&[&ACT[..], &["--format", "json"]].concat());
        let output = command.env("LC_ALL", all).env("LANG", lang).output();
        let results = &document(&output.expect("the binary starts"))["results"];
        assert_eq!(results, &format!("{all} {lang}"));
    }
}

#[test]
fn input_comes_from_the_command_line_a_file_or_stdin() {
    let project = module("cat");
    let input = r#"{"a": [1, "x", {"b": null}]}"#;
    project.write("input.json", input);
    for arguments in ["@input.json", "-", input] {
        let stdin = fs::File::open(project.0.path().join("input.json")).expect("it is there");
        let messages = [&ACT[..], &["--format", "json", "--input", arguments]].concat();
        let output = project
            .command(&messages)
            .stdin(stdin)
            .output()
            .expect("the binary starts");
        let document = document(&output);
        assert_eq!(document["status"], "success", "{arguments}");
        assert_eq!(
            document["results"]["input"].to_string(),
            r#"{"a":[1,"x",{"b":null}]}"#
        );
    }
    for (wrong, expected) in [
        ("[1]", "expected an object"),
        ("{\"canary", "EOF"),
        ("@none", "@none"),
    ] {
        let output = project.devgate(&[&ACT[..], &["--input", wrong]].concat());
        assert_eq!(output.status.code(), Some(1));
        let messages = messages_of(&output);
        assert!(
            messages.contains("input") && messages.contains(expected),
            "{messages}"
        );
        assert!(!messages.contains("canary"), "{messages}");
    }
}

#[test]
fn an_action_that_takes_too_long_is_ended_with_what_it_has_started() {
    let project = module(STAY);
    let words = [&ACT[..], &["--timeout", "1", "--format", "json"]].concat();
    let output = project.devgate(&words);
    assert_eq!(output.status.code(), Some(1));
    let document = document(&output);
    assert_eq!(document["status"], "failure");
    assert_eq!(document["_error"]["kind"], "devgate/timed-out");
    started_processes(&project)
        .iter()
        .for_each(|process| wait_for_end(process));
}

#[test]
fn secret_members_are_in_no_output() {
    let project = module("cat | tee /dev/stderr");
    project.write("conf/m.conf", r#"{"api": {"token": "canary-token"}}"#);
    project.write(
        "input.json",
        r#"{"enable-password": "canary-word", "name": "r1"}"#,
    );
    let more = [
        "--config-dir",
        "conf",
        "--input",
        "@input.json",
        "--log-level",
        "trace",
    ];
    for format in ["human", "json"] {
        let output = project.devgate(&[&ACT[..], &more, &["--format", format]].concat());
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &messages_of(&output);
        assert!(text.contains("r1") && !text.contains("canary"), "{text}");
    }
}
