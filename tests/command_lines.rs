//! What a command line does when something is wrong around it: with its input, its output, or its time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with an inventory of two remote targets, at an address where nothing listens.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        let info = json!({ "remote-transport": "frr", "user": "u", "port": 1 });
        project.write(
            "inventory.yaml",
            &json!({
                "version": 2,
                "config": { "transport": "remote", "remote": info },
                "groups": [{ "name": "nobody" }],
                "targets": ["r1", "r2"],
            })
            .to_string(),
        );
        project.write("tmp/.keep", "");
        project
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(&path, text).expect("a file can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// A remote task, as a shell script.
    fn task(&self, name: &str, script: &str) {
        self.write(
            &format!("modules/m/tasks/{name}.json"),
            r#"{"remote": true}"#,
        );
        self.write(&format!("modules/m/tasks/{name}.sh"), script);
    }

    fn command(&self, words: &[&str]) -> Command {
        self.started_by(&[], words)
    }

    /// The same, started by another program.
    fn started_by(&self, starter: &[&str], words: &[&str]) -> Command {
        let all = [starter, &[env!("CARGO_BIN_EXE_devgate")], words].concat();
        #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
        let mut command = Command::new(all[0]);
        command
            .args(&all[1..])
            .current_dir(self.0.path())
            .env("TMPDIR", self.0.path().join("tmp"))
            .env_remove("BOLT_PROJECT")
            .env_remove("BOLT_INVENTORY")
            .stdin(Stdio::null());
        command
    }

    fn devgate(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary starts")
    }
}

#[track_caller]
fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&output.stdout);
        panic!("expected one JSON document, {error}: {text}")
    })
}

fn words_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_interrupt_ends_what_is_under_way_and_accounts_for_every_target() {
    for signal in ["INT", "TERM", "HUP"] {
        let project = Project::new();
        let script =
            format!("sleep 300 & echo $! > \"$PT_file\"; kill -{signal} $PPID; sleep 300\n");
        project.task("interrupt", &script);
        let file = project.0.path().join("child");
        let parameter = format!("file={}", file.display());
        let output = project.devgate(&[
            "task",
            "run",
            "m::interrupt",
            "-t",
            "all",
            "-c",
            "1",
            "--format",
            "json",
            &parameter,
        ]);
        assert_eq!(output.status.code(), Some(1), "{signal}");
        let document = document(&output);
        assert_eq!(document["target_count"], 2);
        let kinds = document["items"].as_array().expect("items").iter();
        let kinds: Vec<&Value> = kinds.map(|item| &item["value"]["_error"]["kind"]).collect();
        assert_eq!(kinds, ["devgate/interrupted", "devgate/interrupted"]);
        let child = fs::read_to_string(&file).expect("the task has started a child");
        wait_for_the_end_of(child.trim());
        let left: Vec<_> = fs::read_dir(project.0.path().join("tmp"))
            .expect("the folder is there")
            .map(|entry| entry.expect("an entry").file_name())
            .filter(|name| name != OsStr::new(".keep"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Waits until a process runs no more; one that nobody has waited for has no command line.
#[track_caller]
fn wait_for_the_end_of(process: &str) {
    for _ in 0..500 {
        match fs::read(format!("/proc/{process}/cmdline")) {
            Ok(words) if !words.is_empty() => pause(),
            _ => return,
        }
    }
    panic!("process {process} is still running");
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no runtime to block, and the process is nobody's child"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

#[test]
fn results_that_cannot_be_printed_are_no_success() {
    let project = Project::new();
    let full = File::options().write(true).open("/dev/full");
    let output = project
        .command(&["inventory", "show"])
        .stdout(full.expect("Linux has it"))
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(words_of(&output).contains("results could not be printed"));
}

#[test]
fn the_projects_format_is_that_of_refusals_too() {
    let project = Project::new();
    project.write("bolt-project.yaml", "format: json\n");
    let output = project.devgate(&["task", "run", "nothing", "-t", "r1"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(document(&output)["_error"]["kind"], "bolt/unknown-task");
}

#[test]
fn a_manifest_that_says_one_resource_twice_is_refused_before_a_device_is_asked() {
    let project = Project::new();
    project.write(
        "twice.yaml",
        "frr_static_route:\n  10.9.0.0/16 via Null0: {}\n  10.9.0.0/16 via Null0 vrf default: {}\n",
    );
    let output = project.devgate(&[
        "device",
        "-t",
        "r1",
        "--apply",
        "twice.yaml",
        "--format",
        "json",
    ]);
    let error = &document(&output)["_error"];
    assert_eq!(error["kind"], "devgate/invalid-manifest");
    let problems = error["details"]["problems"].as_array().expect("problems");
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    let problem = problem.as_str().expect("a text");
    assert!(problem.starts_with("twice.yaml:3:3: "), "{problem}");
    assert!(problem.contains("twice.yaml:2:3"), "{problem}");
}

#[test]
fn a_name_that_is_no_targets_is_told_as_such() {
    let project = Project::new();
    let inventory = r#"{"version": 2, "targets": ["r1"]}"#;
    project.write("inventory.yaml", inventory);
    project.task("quiet", "");
    for words in [
        &["verify"][..],
        &["facts"],
        &["task", "run", "m::quiet"],
        &["device", "--resource", "frr_interface"],
    ] {
        let targets = ["-t", "r11", "--format", "json"];
        let output = project.devgate(&[words, &targets].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let error = &document(&output)["items"][0]["value"]["_error"];
        assert_eq!(error["kind"], "devgate/unknown-target", "{words:?}");
    }
}

#[test]
fn nothing_chosen_and_no_inventory_are_told() {
    let project = Project::new();
    let output = project.devgate(&["verify", "-t", "nobody", "--format", "json"]);
    assert_eq!(document(&output)["target_count"], 0);
    assert!(words_of(&output).contains("no target was chosen"));
    fs::remove_file(project.0.path().join("inventory.yaml")).expect("it is there");
    for command in [&["inventory", "show"][..], &["verify", "-t", "r1"]] {
        let output = project.devgate(command);
        assert!(words_of(&output).contains("/inventory.yaml is not there"));
    }
}

#[test]
fn what_changes_nothing_takes_no_noop() {
    let project = Project::new();
    for look in [&["--facts"][..], &["--resource", "frr_interface"]] {
        let output = project.devgate(&[&["device", "-t", "r1", "--noop"], look].concat());
        assert_eq!(output.status.code(), Some(2), "{look:?}");
    }
}

#[test]
fn no_more_targets_are_worked_on_than_files_can_be_open_for() {
    let project = Project::new();
    project.task("quiet", "");
    let names: Vec<String> = (0..60).map(|number| format!("r{number}")).collect();
    let limited = ["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"];
    let words = ["task", "run", "m::quiet", "-c", "60", "--format", "json"];
    let info = json!({ "remote-transport": "frr", "host": "192.0.2.1", "user": "u" });
    let inventory = json!({
        "version": 2,
        "config": { "transport": "remote", "remote": info },
        "targets": names,
    });
    project.write("inventory.yaml", &inventory.to_string());
    let output = project
        .started_by(&limited, &[&words[..], &["-t", "all"]].concat())
        .output()
        .expect("sh starts");
    assert_eq!(output.status.code(), Some(0), "{}", words_of(&output));
    assert_eq!(document(&output)["target_count"], 60);
    assert!(words_of(&output).contains("`ulimit -n`"));
}

#[test]
fn a_family_that_is_wrong_stops_only_those_who_ask_for_it() {
    let project = Project::new();
    project.task("hello", "#!/bin/sh\necho hello\n");
    let family = "modules/m/devices/mine/family.yaml";
    project.write(family, "name: mine\nprotocoll: ssh_cli\n");
    let place = "mine/family.yaml:2:1";

    let tasks = project.devgate(&["task", "show"]);
    assert!(tasks.status.success() && words_of(&tasks).contains(place));
    for asking in [
        &["transport", "show", "mine"][..],
        &["family", "test"],
        &["family", "test", "mine"],
    ] {
        let refused = project.devgate(asking);
        assert_eq!(refused.status.code(), Some(1), "{asking:?}");
        let words = words_of(&refused);
        assert!(
            words.contains("family `mine` cannot be used"),
            "{asking:?}: {words}"
        );
    }
}
