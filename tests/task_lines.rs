//! The command line of tasks as known from Bolt: targets, reruns, streams, lists, refusals.

mod explained;

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::folder::{Project, document, messages_of};

fn run<'a>(task: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["task", "run", task][..], words].concat()
}

/// Returns each target with its status, by name.
fn items(document: &Value) -> Vec<(&str, &str)> {
    let mut items: Vec<(&str, &str)> = document["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            let text = |key: &str| item[key].as_str().expect("a text");
            (text("target"), text("status"))
        })
        .collect();
    items.sort_unstable();
    items
}

/// A task that fails only on `r2`.
const PICKY: &str = "#!/bin/sh\n[ \"$(cat | grep -c '\"name\":\"r2\"')\" = 0 ]\n";

#[test]
fn what_failed_can_be_run_again() {
    let project = Project::new();
    project.task("picky", PICKY);
    let json = ["--format", "json"];
    let first = project.devgate(&run(
        "m::picky",
        &[&["-t", "r1", "-t", "r2"][..], &json].concat(),
    ));
    assert_eq!(first.status.code(), Some(1), "{}", messages_of(&first));
    assert_eq!(
        items(&document(&first)),
        [("r1", "success"), ("r2", "failure")]
    );
    let file = project.0.path().join(".rerun.json");
    let saved = || -> Value {
        let text = fs::read_to_string(&file).expect("the run is remembered");
        serde_json::from_str(&text).expect("JSON")
    };
    let mut lines = saved().as_array().expect("a list").clone();
    lines.sort_by_key(|line| line["target"].to_string());
    assert_eq!(
        Value::from(lines),
        json!([{"target": "r1", "status": "success"}, {"target": "r2", "status": "failure"}])
    );
    let kept = [&["--rerun", "success", "--no-save-rerun"][..], &json].concat();
    let success = project.devgate(&run("m::picky", &kept));
    assert_eq!(items(&document(&success)), [("r1", "success")]);
    let failure = project.devgate(&run(
        "m::picky",
        &[&["--rerun", "failure"][..], &json].concat(),
    ));
    assert_eq!(items(&document(&failure)), [("r2", "failure")]);
    assert_eq!(saved(), json!([{"target": "r2", "status": "failure"}]));
    fs::write(&file, r#"[{"target": "r1", "status": "success"}]"#).expect("it is ours");
    let none = project.devgate(&run("m::picky", &["--rerun", "failure"]));
    assert_eq!(none.status.code(), Some(1));
    let message = messages_of(&none);
    for expected in [
        "nothing failed in the last run (20",
        "`--rerun all` repeats it",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let both = project.devgate(&run("m::picky", &["--rerun", "all", "-t", "r1"]));
    assert_eq!(both.status.code(), Some(1));
}

#[test]
fn a_project_says_where_runs_are_remembered_and_whether() {
    let project = Project::new();
    project.task("picky", PICKY);
    project.write(
        "bolt-project.yaml",
        "rerunfile: runs/last.json\nsave-rerun: false\n",
    );
    let missing = project.devgate(&run("m::picky", &["--rerun", "all", "--format", "json"]));
    let error = &document(&missing)["_error"];
    assert_eq!(error["kind"], "bolt/file-error");
    assert!(
        error["msg"]
            .as_str()
            .expect("a text")
            .contains("runs/last.json")
    );
    project.devgate(&run("m::picky", &["-t", "r1"]));
    let file = project.0.path().join("runs/last.json");
    assert!(!file.exists());
    project.devgate(&run("m::picky", &["-t", "r1", "--save-rerun"]));
    assert!(file.exists());
    project.write("runs/last.json", "{}");
    let wrong = project.devgate(&run("m::picky", &["--rerun", "all"]));
    assert!(
        messages_of(&wrong).contains("is not a saved run"),
        "{}",
        messages_of(&wrong)
    );
}

#[test]
fn what_a_task_writes_is_streamed_in_lines_without_secrets() {
    let project = Project::new();
    let metadata =
        r#"{"remote": true, "parameters": {"word": {"type": "String", "sensitive": true}}}"#;
    project.task(
        "talk",
        "printf 'one is cana'; sleep 0.3; printf 'ry-secret\\n'; echo \"two $PT_word\" >&2\n\
         printf 'no end'\n",
    );
    project.write("modules/m/tasks/talk.json", metadata);
    let words = ["-t", "r1", "--stream", "word=canary-secret"];
    let human = project.devgate(&run("m::talk", &words));
    let text = String::from_utf8_lossy(&human.stdout).into_owned();
    for line in [
        "[r1] out: one is ********\n",
        "[r1] err: two ********\n",
        "[r1] out: no end\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let json = project.devgate(&run(
        "m::talk",
        &[&words[..], &["--format", "json"]].concat(),
    ));
    assert_eq!(items(&document(&json)), [("r1", "success")]);
    assert!(messages_of(&json).contains("[r1] out: one is ********\n"));
    for output in [human, json] {
        let all = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            messages_of(&output)
        );
        assert!(!all.contains("canary"), "{all}");
    }
}

#[test]
fn targets_come_as_people_write_them() {
    let project = Project::new();
    project.task("quiet", "");
    project.write("list.txt", "r1\nr2\n");
    for words in [
        &["-t", "r*"][..],
        &["-t", "@list.txt"],
        &["--targets", "r1,r2"],
    ] {
        let words = [words, &["--format", "jsonl"]].concat();
        let output = project.devgate(&run("m::quiet", &words));
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut targets: Vec<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a document a line"))
            .map(|item| item["target"].as_str().expect("a name").to_owned())
            .collect();
        targets.sort();
        assert_eq!(targets, ["r1", "r2"], "{words:?}");
    }
}

#[test]
fn a_task_takes_no_longer_than_it_may() {
    let project = Project::new();
    project.task("long", "sleep 300\n");
    let words = ["-t", "r1", "--timeout", "0.2s", "--format", "json"];
    let output = project.devgate(&run("m::long", &words));
    assert_eq!(output.status.code(), Some(1));
    let kind = &document(&output)["items"][0]["value"]["_error"]["kind"];
    assert_eq!(kind, "puppetlabs.tasks/timeout-error");
}

#[test]
fn what_cannot_be_is_refused_with_the_way_that_works() {
    let project = Project::new();
    project.task("quiet", "");
    for (words, text) in [
        (&["-t", "r1", "-p", "canary"][..], "--password-prompt"),
        (&["-t", "r1", "--password=canary"], "--password-prompt"),
        (
            &["-t", "r1", "--sudo-password", "canary"],
            "--sudo-password-prompt",
        ),
        (&["-q", "inventory[certname] { }"], "--targets"),
        (&["-t", "r1", "-c", "0"], "-c"),
        (&["-t", "r1", "--timeout", "soon"], "90, 5m, 1h"),
        (&[], "--targets"),
    ] {
        let output = project.devgate(&run("m::quiet", words));
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(output.stdout.is_empty());
        let message = messages_of(&output);
        assert!(
            message.contains(text) && !message.contains("canary"),
            "{message}"
        );
        for format in [&["--format", "json"][..], &["--format=jsonl"]] {
            let output = project.devgate(&run("m::quiet", &[words, format].concat()));
            assert_eq!(output.status.code(), Some(1), "{words:?}");
            let error = &document(&output)["_error"];
            assert_eq!(error["kind"], "devgate/usage");
            assert!(!error.to_string().contains("canary"));
        }
    }
}

#[test]
fn a_command_line_says_how_targets_are_reached() {
    let project = Project::new();
    project.task("tell", "#!/bin/sh\ngrep -o '\"_target\".*'\n");
    let words = [
        "-t",
        "r1",
        "-u",
        "operator",
        "--no-host-key-check",
        "--connect-timeout",
        "7",
        "--run-as",
        "root",
        "--format",
        "json",
    ];
    let output = project.devgate(&run("m::tell", &words));
    let document = document(&output);
    let message = document["items"][0]["value"]["_output"]
        .as_str()
        .expect("its input");
    assert!(message.contains(r#""user":"operator""#), "{message}");
    assert!(
        message.contains(r#""verify_hosts":false"#) && message.contains(r#""timeout":7"#),
        "{message}"
    );
    assert!(!message.contains("run-as"), "{message}");
}

#[test]
fn a_secret_is_prompted_for_on_the_terminal_only() {
    let project = Project::new();
    project.task("tell", "#!/bin/sh\ngrep -o '\"_target\".*'\n");
    let words = run("m::tell", &["-t", "r1", "--password-prompt"]);
    let alone = project
        .command_under(&["setsid", "--wait"], &words)
        .output()
        .expect("setsid starts");
    assert_eq!(alone.status.code(), Some(1));
    assert!(
        messages_of(&alone).contains("no terminal"),
        "{}",
        messages_of(&alone)
    );

    let binary = env!("CARGO_BIN_EXE_devgate");
    let line = format!("{binary} {}", words.join(" "));
    let mut request = project.command_under(&["script", "-qec", &line, "/dev/null"], &[]);
    let mut child = request
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let (mut stdin, mut stdout) = (child.stdin.take(), child.stdout.take());
    let (stdin, stdout) = (
        stdin.as_mut().expect("a pipe"),
        stdout.as_mut().expect("a pipe"),
    );
    let mut message = Vec::new();
    while !message.ends_with(b"Password: ") {
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("it asks");
        message.extend(byte);
    }
    stdin.write_all(b"canary-secret\n").expect("it reads");
    stdout
        .read_to_end(&mut message)
        .expect("a pipe can be read");
    child.wait().expect("a child");
    let text = String::from_utf8_lossy(&message).into_owned();
    assert!(
        text.contains("Finished on r1") && !text.contains("canary"),
        "{text}"
    );
    assert!(text.contains("\"password\":\"********\""), "{text}");
}

#[test]
fn tasks_are_listed_as_requested() {
    let project = Project::new();
    project.task("one", "");
    project.task("two", "");
    project.task("secret", "");
    project.write(
        "modules/m/tasks/secret.json",
        r#"{"private": true, "description": "Not for people."}"#,
    );
    let listed = |words: &[&str]| -> Vec<String> {
        let output = project.devgate(&[&["task", "show", "--format", "json"], words].concat());
        let tasks = document(&output)["tasks"]
            .as_array()
            .expect("tasks")
            .clone();
        tasks
            .iter()
            .map(|task| task[0].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(listed(&[]), ["m::one", "m::two"]);
    assert_eq!(listed(&["--filter", "tw"]), ["m::two"]);
    assert_eq!(listed(&["--all"]), ["m::one", "m::secret", "m::two"]);
    let private = project.devgate(&["task", "show", "m::secret"]);
    let text = String::from_utf8_lossy(&private.stdout).into_owned();
    assert!(text.contains("Not for people."), "{text}");
    project.write("bolt-project.yaml", "tasks: ['m::t*']\n");
    assert_eq!(listed(&[]), ["m::two"]);
    assert_eq!(listed(&["--all"]).len(), 3);
}

#[test]
fn children_find_the_limit_of_files_that_we_were_given() {
    let project = Project::new();
    // The task reads the limit late enough for its parent to have set it.
    project.task("limit", "#!/bin/sh\nsleep 1\nulimit -n\n");
    let limited = ["sh", "-c", "ulimit -Sn 64; exec \"$@\"", "sh"];
    let names: Vec<String> = (0..20).map(|number| format!("r{number}")).collect();
    let names = names.join(",");
    let words = run(
        "m::limit",
        &["-t", "r1", "-t", &names, "-c", "20", "--format", "json"],
    );
    let inventory = json!({
        "version": 2,
        "config": { "transport": "remote", "remote": { "remote-transport": "none" } },
        "targets": names.split(',').collect::<Vec<_>>(),
    });
    project.write("inventory.yaml", &inventory.to_string());
    let output = project
        .command_under(&limited, &words)
        .output()
        .expect("sh starts");
    assert!(output.status.success(), "{}", messages_of(&output));
    let document = document(&output);
    for item in document["items"].as_array().expect("items") {
        assert_eq!(item["value"]["_output"], "64\n");
    }
    assert!(
        !messages_of(&output).contains("running on only"),
        "{}",
        messages_of(&output)
    );
}
