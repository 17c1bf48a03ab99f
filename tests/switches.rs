//! Commands for practice switches as a person types them: for many targets at once, with typing errors, and
//! with some switches down.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::folder::{Project, document, messages_of};

/// A practice switch, which ends with the test.
pub(crate) struct Switch(Child);

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Switch {
    /// Starts a switch, and returns it with its port.
    pub(crate) fn start(project: &Project) -> (Self, u16) {
        let mut child = project
            .command(&["practice", "--port", "0", "--privileged"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let first = lines.next().expect("it says where it is").expect("a text");
        let address = first
            .split(' ')
            .find_map(|word| word.strip_prefix("127.0.0.1:"));
        let port = address.and_then(|port| port.parse().ok()).expect("a port");
        // The rest of its output must be read.
        std::thread::spawn(move || lines.for_each(drop));
        (Self(child), port)
    }
}

/// Creates two switches, s1 and s2, and the group `down` of two addresses where nothing listens, d1 and d2.
pub(crate) fn project() -> (Project, [Switch; 2]) {
    let project = Project::new();
    let (switches, ports) = {
        let ((s1, first), (s2, second)) = (Switch::start(&project), Switch::start(&project));
        ([s1, s2], [first, second])
    };
    let target =
        |name: &str, port: u16| json!({ "name": name, "uri": format!("ssh://127.0.0.1:{port}") });
    let info = json!({
        "remote-transport": "practice", "user": "admin", "password": "let-me-in",
        "known_hosts_file": project.0.path().join("known_hosts"), "trust_on_first_use": true,
    });
    let inventory = json!({
        "config": { "transport": "remote", "remote": info },
        "groups": [
            { "name": "up", "targets": [target("s1", ports[0]), target("s2", ports[1])] },
            { "name": "down", "targets": [target("d1", 1), target("d2", 2)] },
        ],
    });
    project.write("inventory.yaml", &inventory.to_string());
    (project, switches)
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the configuration of a switch.
fn configuration(project: &Project) -> String {
    printed(&project.devgate(&["session", "exec", "-t", "s1", "show", "running-config"]))
}

const EXEC: [&str; 2] = ["session", "exec"];

#[test]
fn an_option_behind_the_command_of_a_session_is_refused_and_nothing_is_sent() {
    let (project, _switches) = project();
    let lines = ["--config", "vlan 77", " name DANGER"];
    for behind in ["--noop", "--nooop"] {
        let output = project.devgate(&[&EXEC[..], &["-t", "s1"], &lines, &[behind]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(messages_of(&output).contains(&format!("`{behind}` is after the command")));
    }
    let output = project.devgate(&["session", "get", "-t", "s1", "--noop"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(messages_of(&output).contains("--noop"));
    assert!(!configuration(&project).contains("DANGER"));
    let output = project.devgate(&[&EXEC[..], &["-t", "s1", "--", "show", "--brief"]].concat());
    assert!(
        messages_of(&output).contains("`show --brief`"),
        "the device is sent it"
    );
}

#[test]
fn a_session_under_noop_shows_what_it_would_send_and_sends_nothing() {
    let (project, _switches) = project();
    let noop = [&EXEC[..], &["--noop", "-t", "s1"]].concat();
    let lines = ["--config", "--save", "vlan 77", " name let-me-in"];
    let output = project.devgate(&[&noop[..], &lines].concat());
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    assert_eq!(
        printed(&output),
        "would send, as configuration:\nvlan 77\n name ********\n\
         would save the running configuration\n"
    );
    let output = project.devgate(&[&noop[..], &["--format", "json", "reload"]].concat());
    assert_eq!(
        document(&output)["items"][0]["value"],
        json!({ "noop": true, "command": "reload" })
    );
    assert!(!configuration(&project).contains("vlan 77"));
}

#[test]
fn a_command_goes_to_many_targets_and_each_answers_under_its_name() {
    let (project, _switches) = project();
    let command = ["show", "clock"];
    let output = project.devgate(&[&EXEC[..], &["-t", "up"], &command].concat());
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    let text = printed(&output);
    for header in [
        "Finished on s1:\n  ",
        "Finished on s2:\n  ",
        "Successful on 2 targets\n",
    ] {
        assert!(text.contains(header), "{text}");
    }
    let json = ["--patience", "1", "--format", "json", "-t", "up,d1"];
    let output = project.devgate(&[&EXEC[..], &json, &command].concat());
    assert_eq!(output.status.code(), Some(1));
    let document = document(&output);
    let mut message: Vec<(&str, bool)> = document["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            let (name, value) = (item["target"].as_str().expect("a name"), &item["value"]);
            let answered = value["output"].is_string() && value["command"] == "show clock";
            assert_eq!(answered, value["_error"].is_null(), "{item}");
            (name, answered)
        })
        .collect();
    message.sort_unstable();
    assert_eq!(message, [("d1", false), ("s1", true), ("s2", true)]);

    let one = project.devgate(&[&EXEC[..], &["-t", "s1"], &command].concat());
    assert_eq!(
        printed(&one).lines().count(),
        1,
        "one target answers as it is"
    );
}

#[test]
fn one_target_has_the_form_of_many_in_json_and_what_has_failed_shows_no_empty_list() {
    let (project, _switches) = project();
    let exec = |words: &[&str]| project.devgate(&[&EXEC[..], &["--patience", "1"], words].concat());
    for (target, well) in [("s1", true), ("d1", false)] {
        let output = exec(&["-t", target, "--format", "json", "show", "clock"]);
        assert_eq!(output.status.success(), well, "{}", messages_of(&output));
        let document = document(&output);
        assert_eq!(document["target_count"], 1, "{document:#}");
        let value = &document["items"][0]["value"];
        assert_eq!(value["output"].is_string(), well, "{document:#}");
        assert_eq!(value["_error"].is_object(), !well, "{document:#}");
    }
    let lines = project.0.path().join("lines");
    fs::write(&lines, "show clock\n\nshow nonsense\nshow clock\n").expect("written");
    let output = project
        .command(&[&EXEC[..], &["-t", "s1", "--format", "jsonl", "-"]].concat())
        .stdin(fs::File::open(&lines).expect("it is there"))
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
    let item = document(&output);
    let commands = item["value"]["commands"]
        .as_array()
        .expect("those that were sent");
    assert_eq!(
        (commands.len(), &commands[0]["command"]),
        (1, &json!("show clock")),
        "{item:#}"
    );
    assert!(item["value"]["_error"].is_object(), "{item:#}");
    let failed = printed(&exec(&["-t", "down", "show", "clock"]));
    assert!(
        failed.contains("Failed on d1:") && !failed.contains("commands"),
        "{failed}"
    );
}

#[test]
fn a_tag_that_no_resource_has_is_reported_and_nothing_was_done() {
    let (project, _switches) = project();
    let manifest = "practice_vlan:\n  '77': {name: lab, tag: edge}\n";
    project.write("vlans.yaml", manifest);
    let apply = |more: &[&str]| {
        let words = [
            "device",
            "-t",
            "s1",
            "--noop",
            "--apply",
            "vlans.yaml",
            "--tags",
        ];
        project.devgate(&[&words[..], more].concat())
    };
    let output = apply(&["edgy"]);
    assert_eq!(output.status.code(), Some(1), "{}", messages_of(&output));
    let message = messages_of(&output);
    for expected in [
        "no resource has the tag `edgy`",
        "did you mean `edge`?",
        "nothing was done",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let output = apply(&["edgy", "--allow-empty"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    let output = apply(&["edgy,edge"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    assert!(
        messages_of(&output).contains("no resource has the tag `edgy`"),
        "{}",
        messages_of(&output)
    );
}

#[test]
fn the_steps_of_the_practice_switch_keep_its_password_from_others() {
    let project = Project::new();
    let mut child = project
        .command(&["practice", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let message = lines.map_while(Result::ok);
    let message = message.take_while(|line| !line.contains("devgate facts"));
    assert!(
        message
            .collect::<String>()
            .contains("chmod 600 inventory.yaml")
    );
    let _switch = Switch(child);
}

#[test]
fn a_program_with_a_session_that_is_ended_by_a_signal_ends_with_its_number() {
    let project = Project::new();
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGHUP, 129),
        (Signal::SIGTERM, 143),
    ] {
        let program = [
            "sh",
            "-c",
            "trap 'exit 0' TERM; echo ready; sleep 300 & wait",
        ];
        let mut child = project
            .command(&[&["session", "run", "-t", "r1", "--"], &program[..]].concat())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        lines.next().expect("it is ready").expect("a text");
        let pid = Pid::from_raw(child.id().try_into().expect("a process's number"));
        kill(pid, signal).expect("it is our child");
        let status = child.wait().expect("it is a child");
        assert_eq!(status.code(), Some(code), "{signal}");
    }
}

#[test]
fn drift_is_reported_by_the_exit_code_where_somebody_asks() {
    let (project, _switches) = project();
    project.write("vlan.yaml", "practice_vlan: {'77': {}}\n");
    let apply = ["device", "-t", "s1", "--apply", "vlan.yaml"];
    let code = |more: &[&str]| project.devgate(&[&apply[..], more].concat()).status.code();
    let drift = ["--noop", "--exit-code-on-drift"];
    assert_eq!(code(&["--noop", "--detailed-exitcodes"]), Some(0));
    assert_eq!(code(&drift), Some(2));
    assert_eq!(
        code(&[&drift[..], &["--detailed-exitcodes"]].concat()),
        Some(2)
    );
    assert_eq!(code(&["--exit-code-on-drift"]), Some(1), "it is for --noop");
    assert_eq!(code(&["--detailed-exitcodes"]), Some(2));
    assert_eq!(code(&drift), Some(0));
}

#[test]
fn an_error_is_reported_once() {
    let (project, _switches) = project();
    project.write(
        "port.yaml",
        "practice_interface: {swp9999: {description: x}}\n",
    );
    let why = "refuses `interface swp9999`";
    for (words, times) in [
        (&["--apply", "port.yaml"][..], (1, 0)),
        (&["--resource", "practice_vlan", "999"], (0, 1)),
    ] {
        let output = project.devgate(&[&["device", "-t", "s1"], words].concat());
        assert_eq!(output.status.code(), Some(1));
        let why = if times.0 == 1 {
            why
        } else {
            "there is no practice_vlan[999]"
        };
        let found = |text: String| text.matches(why).count();
        assert_eq!(
            (found(printed(&output)), found(messages_of(&output))),
            times,
            "{words:?}"
        );
    }
}

#[test]
fn a_target_that_is_down_has_one_line_at_a_terminal_and_lines_elsewhere() {
    let project = Project::new();
    let info = json!({ "remote-transport": "frr", "host": "127.0.0.1", "port": 1, "user": "u" });
    let config = json!({ "transport": "remote", "remote": info });
    let inventory = json!({ "config": config, "targets": [{ "name": "r1" }] });
    project.write("inventory.yaml", &inventory.to_string());
    let retry_budget = ["--patience", "3", "-t", "r1"];
    let verify = [&["verify"], &retry_budget[..]].concat();
    let lines = messages_of(&project.devgate(&verify));
    let retries = lines.lines().filter(|line| line.contains(" follows in "));
    assert!(retries.count() > 1, "{lines}");

    let line = format!(
        "{} device -t r1 --facts --patience 3 --logdest console,run.log",
        env!("CARGO_BIN_EXE_devgate")
    );
    let mut watched = project.command_under(&["script", "-qec", &line, "/dev/null"], &[]);
    let screen = watched
        .env("TERM", "xterm")
        .output()
        .expect("script starts");
    let screen = printed(&screen);
    assert!(screen.matches(" follows in ").count() > 1, "{screen}");
    let retries = screen.lines().filter(|line| line.contains(" follows in "));
    assert_eq!(retries.count(), 1, "{screen}");
    // The line that Ctrl-C prints replaces the last line, and does not follow it.
    assert!(
        screen.contains("…\r"),
        "the cursor stays at the end: {screen:?}"
    );
    let log = fs::read_to_string(project.0.path().join("run.log")).expect("it is written");
    assert!(log.matches(" follows in ").count() > 1, "{log}");
}

#[test]
fn nobody_is_waited_for_longer_than_thirty_seconds() {
    let project = Project::new();
    for wrong in ["31", "0", "soon"] {
        let output = project.devgate(&["verify", "-t", "r1", "--patience", wrong]);
        assert_eq!(output.status.code(), Some(1));
        assert!(messages_of(&output).contains("expected 1 to 30 seconds"));
    }
}

#[test]
fn the_start_of_a_task_is_reported_when_it_starts() {
    let project = Project::new();
    project.task(
        "waits",
        "until test -e \"$PT_dir/go\"; do sleep 0.1; done\n",
    );
    let dir = format!("dir={}", project.0.path().display());
    let mut child = project
        .command(&["task", "run", "m::waits", "-t", "r1", &dir])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first = lines.next().expect("it says something").expect("a text");
    project.write("go", "");
    assert_eq!(first, "Started on r1...");
    let rest: Vec<String> = lines.map(|line| line.expect("a text")).collect();
    assert_eq!(rest[0], "Finished on r1:");
    assert!(child.wait().expect("it is a child").success());
}
