//! `devgate command run`: harmless commands on many switches; outputs that are saved, compared and checked.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::folder::{Project, document, messages_of};
use crate::switches::project;

const RUN: [&str; 2] = ["command", "run"];

/// The exit code and the output of a run.
fn run(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = project.devgate(&[&RUN[..], words].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text + &messages_of(&output))
}

/// The value of each target, by its name.
fn values(project: &Project, words: &[&str]) -> Value {
    let output = project.devgate(&[&RUN[..], &["--format", "json"], words].concat());
    let mut values = json!({});
    for item in document(&output)["items"].as_array().expect("items") {
        values[item["target"].as_str().expect("a name")] = item["value"].clone();
    }
    values
}

#[test]
fn commands_run_on_all_targets_and_each_output_has_a_heading() {
    let (project, _switches) = project();
    project.write(
        "checks",
        "# what is checked\n\nshow privilege\nsh ver | i uptime\n",
    );
    let words = ["show clock", "-t", "up", "--file", "checks"];
    let (code, text) = run(&project, &words);
    assert_eq!(code, Some(0), "{text}");
    for expected in [
        "Finished on s1:\n  > show clock\n  ",
        "\n  > show privilege\n  Current privilege level is 15\n  > sh ver | i uptime\n  practice uptime is",
        "Finished on s2:",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let privilege =
        json!([{ "command": "show privilege", "output": "Current privilege level is 15\n" }]);
    let for_practice = ["-t", "up", "--for", "practice=show privilege"];
    let found = values(&project, &for_practice);
    for target in ["s1", "s2"] {
        assert_eq!(found[target]["commands"], privilege, "{found:#}");
    }
    let for_others = ["-t", "up", "--for", "frr=show version"];
    let found = values(&project, &for_others);
    assert_eq!(found["s1"], json!({ "commands": [] }));
    let (code, text) = run(&project, &["-t", "up", "--for", "frrr=show version"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("did you mean `frr`?"), "{text}");
}

#[test]
fn what_is_not_declared_harmless_is_refused_and_nothing_is_sent() {
    let (project, _switches) = project();
    let refused =
        "was refused, and nothing was sent: family `practice` does not declare it harmless";
    for command in [
        "erase startup-config",
        "show running-config | redirect flash:x",
        "show clock ; write memory",
        "show clock\nwrite memory",
        "show",
    ] {
        let found = values(&project, &["show clock", command, "-t", "s1"]);
        assert_eq!(found["s1"]["commands"], Value::Null, "{found:#}");
        let error = &found["s1"]["_error"];
        assert_eq!(error["kind"], "devgate/not-harmless", "{found:#}");
        let message = error["msg"].as_str().expect("a text");
        for expected in [
            refused,
            "built-in practice/family.yaml",
            "`harmless`",
            "--any",
        ] {
            assert!(message.contains(expected), "{message}");
        }
    }
    let (_, text) = run(&project, &["show", "version", "-t", "s1"]);
    assert!(text.contains("one argument: 'show version'"), "{text}");
    let (code, text) = run(&project, &["write memory", "-t", "s1", "--any"]);
    assert!(code == Some(0) && text.contains("[OK]"), "{text}");
}

#[test]
fn a_target_without_a_command_line_says_so_and_the_others_answer() {
    let (project, _switches) = project();
    let inventory = fs::read_to_string(project.0.path().join("inventory.yaml"));
    let mut inventory: Value =
        serde_json::from_str(&inventory.expect("it was written")).expect("JSON");
    inventory["targets"] = json!([
        { "name": "dns", "uri": "http://127.0.0.1:1", "config": { "remote": { "remote-transport": "powerdns" } } },
        { "name": "bare", "uri": "ssh://127.0.0.1:1", "config": { "remote": { "remote-transport": "ssh_cli" } } },
    ]);
    project.write("inventory.yaml", &inventory.to_string());
    let found = values(&project, &["show clock", "-t", "s1,dns,bare"]);
    assert!(
        found["s1"]["commands"][0]["output"].is_string(),
        "{found:#}"
    );
    for (target, kind, message) in [
        (
            "dns",
            "devgate/not-a-command-line",
            "transport `powerdns` has no command line",
        ),
        (
            "bare",
            "devgate/not-harmless",
            "no family declares it harmless, because transport `ssh_cli` is none",
        ),
    ] {
        let error = &found[target]["_error"];
        assert_eq!(error["kind"], kind, "{found:#}");
        let found = error["msg"].as_str().expect("a text");
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn outputs_are_saved_without_secrets_and_compared() {
    let (project, _switches) = project();
    let command = ["show running-config", "-t", "up"];
    let with = |options: &[&'static str]| [&command[..], options].concat();
    let configure = |line: &str| {
        let words = ["session", "exec", "-t", "s1", "--config"];
        let lines = ["interface GigabitEthernet0/3", line];
        let output = project.devgate(&[&words[..], &lines].concat());
        assert!(output.status.success(), "{}", messages_of(&output));
    };
    let (code, text) = run(&project, &with(&["--diff", "saved"]));
    assert_eq!(code, Some(1));
    assert!(
        text.contains("cannot read the saved outputs in saved"),
        "{text}"
    );
    configure(" description let-me-in");
    let (code, text) = run(&project, &with(&["--save", "saved"]));
    assert_eq!(code, Some(0), "{text}");
    let file = "saved/s1/show_running-config.txt";
    assert!(text.contains(&format!("saved in {file}")), "{text}");
    let path = project.0.path().join(file);
    let saved = fs::read_to_string(&path).expect("it was saved");
    assert!(
        saved.contains(" description ********\n") && !saved.contains("let-me-in"),
        "{saved}"
    );
    let mode = fs::metadata(&path).expect("it exists").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (code, text) = run(&project, &with(&["--diff", "saved"]));
    assert!(code == Some(0) && text.contains("no difference"), "{text}");
    configure(" description moved");
    let (code, text) = run(&project, &with(&["--diff", "saved"]));
    assert_eq!(code, Some(1), "{text}");
    for expected in [
        "the output of `show running-config` has changed",
        "  - description ********\n  + description moved\n",
        "Failed on 1 target: s1",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let found = values(&project, &with(&["--diff", "saved", "--save", "saved"]));
    let (s1, s2) = (&found["s1"], &found["s2"]);
    let diff = s1["commands"][0]["diff"].as_str().expect("a diff");
    assert!(diff.contains("\n+ description moved\n"), "{diff}");
    assert_eq!(s1["_error"]["kind"], "devgate/output-changed");
    assert_eq!(s1["commands"][0]["saved"], file);
    assert_eq!(
        (&s2["commands"][0]["diff"], &s2["_error"]),
        (&json!(""), &Value::Null)
    );
    let (code, text) = run(&project, &with(&["--diff", "saved"]));
    assert_eq!(code, Some(0), "it was saved after it was compared: {text}");
    let (_, text) = run(&project, &["show clock", "-t", "s1", "--diff", "saved"]);
    assert!(
        text.contains("no output of `show clock` was saved as saved/s1/show_clock.txt"),
        "{text}"
    );
}

#[test]
fn an_output_that_does_not_match_fails_its_target() {
    let (project, _switches) = project();
    let commands = ["show privilege", "show version", "-t", "s1"];
    let expect = ["--expect", "level is 15$", "--expect", "(?i)practice|level"];
    let (code, text) = run(&project, &[&commands[..], &expect].concat());
    assert_eq!(code, Some(1), "{text}");
    let message = "the output of `show version` does not match `level is 15$`";
    assert!(
        text.contains(message) && !text.contains("`show privilege` does"),
        "{text}"
    );
    let found = values(&project, &[&commands[..], &expect].concat());
    let entries = &found["s1"]["commands"];
    assert_eq!(entries[0]["unmatched"], json!([]));
    assert_eq!(entries[1]["unmatched"], json!(["level is 15$"]));
    assert_eq!(found["s1"]["_error"]["kind"], "devgate/output-unexpected");
    let (code, _) = run(
        &project,
        &[&commands[..], &["--expect", "practice|level"]].concat(),
    );
    assert_eq!(code, Some(0));
}

#[test]
fn configurations_are_backed_up_and_only_what_counts_is_compared() {
    let (project, _switches) = project();
    let (code, text) = run(&project, &["--config", "-t", "up", "--save", "backups"]);
    assert_eq!(code, Some(0), "{text}");
    let file = "backups/s1/running-config.txt";
    assert!(
        text.contains(&format!("> show running-config\n  saved in {file}")),
        "{text}"
    );
    let diff = ["--config", "-t", "s1", "--diff", "backups"];
    let (code, text) = run(&project, &diff);
    assert!(code == Some(0) && text.contains("no difference"), "{text}");
    let path = project.0.path().join(file);
    let saved = fs::read_to_string(&path).expect("it was saved");
    // A family in a module of the project that ignores comments, and one that declares no command.
    let family = |dialect: &str| {
        let file = format!(
            "name: practice\ndesc: x\nprotocol: ssh_cli\ndialect:\n  prompt: {{ exec: '[\\w.-]+[>#]' }}\n  \
             on_open: [terminal length 0]\n{dialect}"
        );
        project.write("modules/own/devices/practice/family.yaml", &file);
    };
    family(
        "  config_text: show running-config\ncheckpoint: { ignore: ['^!'], undo: \"'no ' ~ LINE\" }\n",
    );
    fs::write(&path, format!("! Saved at noon\n{saved}")).expect("written");
    let (code, text) = run(&project, &diff);
    assert!(code == Some(0) && text.contains("no difference"), "{text}");
    fs::write(&path, format!("{saved}ntp server 192.0.2.1\n")).expect("written");
    let (code, text) = run(&project, &diff);
    assert!(
        code == Some(1) && text.contains("\n  -ntp server 192.0.2.1\n"),
        "{text}"
    );
    family("");
    let found = values(&project, &diff);
    let error = &found["s1"]["_error"];
    assert_eq!(error["kind"], "devgate/no-config-text", "{found:#}");
    let message = error["msg"].as_str().expect("a text");
    assert!(
        message.contains("add `config_text` to the dialect in "),
        "{message}"
    );
}

#[test]
fn outputs_are_parsed_with_templates_or_by_the_family() {
    let (project, _switches) = project();
    let interfaces = ["show ip interface brief", "-t", "up", "--parse"];
    let found = values(&project, &interfaces);
    let entry = &found["s1"]["commands"][0];
    assert_eq!(entry["template"], "built-in practice/family.yaml");
    assert_eq!(entry["rows"][0]["NAME"], "Vlan1", "{found:#}");
    let (_, text) = run(&project, &interfaces);
    assert!(
        text.contains("> show ip interface brief\n  NAME  "),
        "{text}"
    );
    let none = ["show privilege", "-t", "s1", "--parse"];
    let (code, text) = run(&project, &none);
    assert_eq!(code, Some(1));
    for expected in [
        "no template parses `show privilege`",
        "the family does not read this command",
        "/.venv/lib/python3*",
        "NTC_TEMPLATES_DIR",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let index = "Template, Hostname, Platform, Command\n\nlevel.textfsm, .*, cisco_ios, sh[[ow]] pri[[vilege]]\n\
                 strict.textfsm, .*, cisco_ios, show clock\n";
    project.write("ntc/ntc_templates/templates/index", index);
    let level = "Value WORD (\\S+)\nValue List LEVEL (\\d+)\n\nStart\n  ^${WORD} privilege level is ${LEVEL} -> Record\n";
    project.write("ntc/ntc_templates/templates/level.textfsm", level);
    let strict = "Value A (a)\n\nStart\n  ^. -> Error \"no time\"\n";
    project.write("ntc/ntc_templates/templates/strict.textfsm", strict);
    let (code, text) = run(&project, &[&none[..], &["--templates", "nowhere"]].concat());
    assert!(
        code == Some(1) && text.contains("cannot read nowhere/index"),
        "{text}"
    );
    project.write("bolt-project.yaml", "textfsm-templates: ntc\n");
    let found = values(&project, &[&none[..], &["--expect", "15"]].concat());
    let expected = json!([{ "WORD": "Current", "LEVEL": ["15"] }]);
    assert_eq!(found["s1"]["commands"][0]["rows"], expected, "{found:#}");
    assert_eq!(found["s1"]["commands"][0]["template"], "level.textfsm");
    let csv = [
        "sh pri",
        "show version",
        "-t",
        "up",
        "--parse",
        "--format",
        "csv",
    ];
    let output = project.devgate(&[&RUN[..], &csv].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("target,command,WORD,LEVEL,VERSION,"),
        "{text}"
    );
    assert!(text.contains("\r\ns2,sh pri,Current,15,,"), "{text}");
    assert_eq!(
        (text.lines().count(), output.status.code()),
        (5, Some(0)),
        "{text}"
    );
    let strict = ["show clock", "-t", "s1", "--parse", "--format", "table"];
    let (code, text) = run(&project, &strict);
    assert!(code == Some(1) && text.starts_with("target\n"), "{text}");
    assert!(
        text.contains("s1: strict.textfsm: output of `show clock`, line 1"),
        "{text}"
    );
    let other = [
        "show vlan",
        "-t",
        "s1",
        "--parse",
        "--platform",
        "cisco_nxos",
    ];
    let (_, text) = run(&project, &other);
    assert!(
        text.contains("index has no templates for platform `cisco_nxos`"),
        "{text}"
    );
}

#[test]
fn rows_are_printed_only_where_there_are_some() {
    let (project, _switches) = project();
    for (words, message) in [
        (
            &["command", "run", "show clock", "-t", "s1"][..],
            "that --parse makes of them",
        ),
        (&["facts", "-t", "s1"], "this command prints no rows"),
    ] {
        let output = project.devgate(&[words, &["--format", "csv"]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty() && messages_of(&output).contains(message));
    }
}
