//! What the command line teaches: suggestions, help, completions, sample manifests, and how little it
//! prints when it must be quiet.

use std::process::Output;

use serde_json::Value;

use crate::folder::{Project, document, messages_of};

fn stdout_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn mistyped_words_are_answered_with_what_was_meant() {
    let project = Project::new();
    project.write("bolt-project.yaml", "name: net\n");
    project.write("modules/net/tasks/ports.sh", "");
    project.write(
        "wrong.yaml",
        "targets: [{name: x, config: {transport: rmote}}]\n",
    );
    project.write("title.yaml", "frr_static_route: {10.9.0.0: {}}\n");
    project.write(
        "port.yaml",
        "config: {transport: remote, remote: {remote-transport: frr, user: u, port: 99999}}\ntargets: [x]\n",
    );
    for (line, expected) in [
        ("transport show fr", "did you mean `frr`?"),
        ("family show fr", "did you mean `frr`?"),
        ("type show frr_iface", "did you mean `frr_interface`?"),
        ("transport show cisco", "did you mean `cisco_ios`?"),
        ("verify -t nobdy", "did you mean `nobody`?"),
        ("verify r1", "`devgate verify -t r1`"),
        ("device r1 --apply x.yaml", "`devgate device -t r1`"),
        (
            "exec -t r1 show",
            "devgate command run 'show version' -t r1",
        ),
        ("command run x", "--targets <TARGETS>"),
        ("plan run x", "devgate has no plans"),
        ("verify -i wrong.yaml -t x", "did you mean `remote`?"),
        (
            "device -t r1 --apply title.yaml --noop",
            "a title looks like `10.9.0.0/16 via 192.0.2.1`",
        ),
        ("verify -i port.yaml -t x", "got 99999)"),
        ("task run net::ports -t r1", "the project is named 'net'"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = project.devgate(&words);
        let message = messages_of(&output) + &stdout_of(&output);
        assert!(message.contains(expected), "{line}: {message}");
        assert_ne!(output.status.code(), Some(0), "{line}");
        for internal in [
            "Transport Schema",
            "[99999, 99999]",
            "(?<",
            "title patterns",
        ] {
            assert!(!message.contains(internal), "{line}: {message}");
        }
    }
}

#[test]
fn every_type_shows_a_manifest_that_can_be_applied() {
    let project = Project::new();
    let types = document(&project.devgate(&["type", "list", "--format", "json"]));
    let types = types["types"].as_array().expect("a list").clone();
    assert!(types.len() > 10, "{types:?}");
    for name in types.iter().filter_map(|row| row[0].as_str()) {
        let (family, _) = name.split_once('/').expect("FAMILY/NAME");
        let text = stdout_of(&project.devgate(&["type", "show", name]));
        let (_, manifest) = text.split_once("--noop):\n\n").expect("a manifest");
        assert!(!manifest.contains("fill in:"), "{name}: {manifest}");
        project.write("begun.yaml", manifest);
        project.write(
            "inventory.yaml",
            &format!(
                "config: {{transport: remote, remote: {{remote-transport: {family}, port: 99999}}}}\ntargets: [r1]\n"
            ),
        );
        // Nothing listens there; an invalid manifest is refused before that is noticed.
        let words = [
            "device",
            "-t",
            "r1",
            "--apply",
            "begun.yaml",
            "--noop",
            "--format",
            "json",
        ];
        let answer = document(&project.devgate(&words));
        let kind = answer["items"][0]["value"]["_error"]["kind"].clone();
        assert_eq!(
            kind, "devgate/invalid-connection-info",
            "{name}: {answer}\n{manifest}"
        );
    }
}

#[test]
fn help_shows_the_options_of_every_command_once() {
    let project = Project::new();
    let help = |words: &[&str]| {
        let output = project.devgate(words);
        assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
        stdout_of(&output)
    };
    let options = help(&["help", "options"]);
    for option in [
        "--project",
        "--quiet",
        "--private-key",
        "--connect-timeout",
        "--run-as",
    ] {
        assert!(options.contains(option), "{option}: {options}");
        assert!(
            !help(&["task", "run", "--help"]).contains(option),
            "{option}"
        );
    }
    assert!(help(&["--help"]).lines().count() < 50);
    assert_eq!(
        help(&["help", "task", "run"]),
        help(&["task", "run", "--help"])
    );
    let output = project.devgate(&["help", "tsk"]);
    assert_eq!(output.status.code(), Some(1));
}

/// Returns what a shell offers as completions for the last word of a line.
fn offered(project: &Project, line: &str) -> (Vec<String>, String) {
    let words: Vec<&str> = ["--"].into_iter().chain(line.split(' ')).collect();
    let mut command = project.command(&words);
    command.env("DEVGATE_COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 2).to_string());
    let output = command.output().expect("the binary starts");
    let offered = stdout_of(&output);
    (
        offered.lines().map(str::to_owned).collect(),
        messages_of(&output),
    )
}

#[test]
fn completions_know_what_the_project_has_and_ask_nobody() {
    let project = Project::new();
    let ran = project.0.path().join("ran");
    let program = format!("#!/bin/sh\ntouch {}\n", ran.display());
    project.write("modules/m/tasks/ports.sh", &program);
    project.write("modules/m/devices/lamp/transport", &program);
    project.write("modules/m/devices/lamp/types/lamp_bulb", &program);
    project.write(
        "inventory.yaml",
        "groups:\n- {name: routers, targets: [{name: r1, config: {remote: {password: canary}}}]}\n\
         - {name: rest, targets: [{_plugin: task, task: 'm::ports'}]}\n\
         targets: ['ssh://u:canary@192.0.2.9']\n",
    );
    for (line, expected) in [
        ("devgate verify -t r", &["r1", "rest", "routers"][..]),
        ("devgate verify -t r1,ro", &["r1,routers"]),
        ("devgate session exec -t rou", &["routers"]),
        ("devgate task run m::", &["m::ports"]),
        ("devgate task show m", &["m::ports"]),
        ("devgate transport show f", &["f5", "frr"]),
        ("devgate family test l", &["lamp"]),
        ("devgate type show frr_s", &["frr_static_route"]),
        ("devgate type show lamp", &["lamp_bulb"]),
        ("devgate device -t r1 -r frr_i", &["frr_interface"]),
        ("devgate help opt", &["options"]),
        ("devgate fac", &["facts"]),
        ("devgate verify --quie", &["--quiet"]),
    ] {
        let (names, text) = offered(&project, line);
        assert_eq!(
            (names.as_slice(), text.as_str()),
            (
                expected
                    .iter()
                    .map(|s| (*s).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
                ""
            ),
            "{line}"
        );
    }
    assert!(!ran.exists(), "a program of a module was started");
    for broken in ["{", "targets: 1", "groups: [[]]"] {
        project.write("inventory.yaml", broken);
        project.write("bolt-project.yaml", "name: 1\n");
        assert_eq!(
            offered(&project, "devgate verify -t x"),
            (vec![], String::new())
        );
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = project.devgate(&["completions", shell]);
        assert!(stdout_of(&output).contains("DEVGATE_COMPLETE"), "{shell}");
    }
}

#[test]
fn quiet_prints_results_and_errors_alone() {
    let project = Project::new();
    project.task("works", "#!/bin/sh\necho '{\"a\": 1}'\n");
    let words = ["task", "run", "m::works", "-t", "r1,rr2"];
    let loud = project.devgate(&words);
    assert!(stdout_of(&loud).contains("Ran on 2 targets"));
    assert!(messages_of(&loud).contains("warning"));
    let quiet = project.devgate(&[&words[..], &["--quiet"]].concat());
    let message = stdout_of(&quiet);
    assert!(message.contains("\"a\": 1"), "{message}");
    for noise in ["Started on", "Ran on", "Successful on"] {
        assert!(!message.contains(noise), "{message}");
    }
    assert_eq!(messages_of(&quiet), "");
    let wrong = project.devgate(&["task", "run", "m::none", "-t", "r1", "--quiet"]);
    assert!(messages_of(&wrong).contains("error:"));
}

#[test]
fn a_diff_is_coloured_where_colour_is_wanted_and_says_the_same_without() {
    let project = Project::new();
    let demo = |variable: &str| {
        let mut command = project.command(&["demo"]);
        let command = command.env_remove("NO_COLOR").env(variable, "1");
        stdout_of(&command.output().expect("the binary starts"))
    };
    let (green, end) = ("\u{1b}[32m", "\u{1b}[0m");
    let plain = demo("NO_COLOR");
    let line = plain
        .lines()
        .find(|line| line.starts_with("      + "))
        .unwrap_or_else(|| panic!("{plain}"))
        .trim_start();
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = demo("CLICOLOR_FORCE");
    assert!(
        coloured.contains(&format!("{green}    {line}{end}")),
        "{coloured}"
    );
}

#[test]
fn a_type_s_example_is_data_for_programs() {
    let project = Project::new();
    let output =
        document(&project.devgate(&["type", "show", "frr_static_route", "--format", "json"]));
    let route: &Value = &output["example"]["frr_static_route"]["10.9.0.0/16 via 192.0.2.1"];
    assert_eq!(route["distance"], 20);
}
