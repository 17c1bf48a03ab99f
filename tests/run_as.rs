//! Tasks of the local node as other users: with the real sudo, from root and from a user who must enter a
//! password.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lab_hosts::has_ended;
use crate::support::project::Project;

/// A project on the local node, with a directory for tasks that every user may enter.
struct Node {
    project: Project,
    tmp: TempDir,
}

const PASSWORD: &str = "sudo-canary";

/// The user who runs devgate in tests without root: it exists on every Debian.
const WHO: &str = "daemon";

impl Node {
    fn new() -> Self {
        let tmp = tempfile::tempdir().expect("a directory");
        fs::set_permissions(tmp.path(), Permissions::from_mode(0o1777)).expect("it is ours");
        let project = Project::new();
        Self { project, tmp }
    }

    /// Adds the local node as a target of this name, with these options of `config.local`.
    fn host(&mut self, name: &str, options: Value) {
        let mut local = json!({"tmpdir": self.tmp.path()});
        for (key, value) in options.as_object().expect("options are an object") {
            local[key] = value.clone();
        }
        let config = json!({"transport": "local", "local": local});
        self.project
            .add_entry(json!({"name": name, "config": config}));
    }

    fn task(&mut self, name: &str, metadata: &Value, script: &str) {
        let path = format!("modules/t/tasks/{name}");
        self.project
            .write(&format!("{path}.json"), &metadata.to_string());
        self.project
            .write(&format!("{path}.sh"), &format!("#!/bin/sh\n{script}\n"));
    }

    fn run(&self, arguments: &str) -> Value {
        self.project
            .devgate(&format!("task run {arguments} --format json"))
            .item()
    }

    /// Runs devgate as a user who may become `nobody`, with or without a password for sudo. It runs in a
    /// mount namespace, because it replaces files of the whole machine.
    fn run_unprivileged(&mut self, asks: bool, arguments: &str) -> Value {
        let asks = if asks { "PASSWD" } else { "NOPASSWD" };
        let rule = format!("Defaults timestamp_timeout=0\n{WHO} ALL=(nobody) {asks}: ALL\n");
        self.root_file("sudoers", &rule);
        let prepare = format!(
            "mount --make-rprivate / && mount --bind sudoers /etc/sudoers && \
             awk -F: -v OFS=: -v hash=\"$(echo {PASSWORD} | openssl passwd -6 -stdin)\" \
             '$1 == \"{WHO}\" {{ $2 = hash }} 1' /etc/shadow >shadow && chmod 600 shadow && \
             mount --bind shadow /etc/shadow && exec setpriv --reuid {WHO} --regid {WHO} --clear-groups \
             --inh-caps +dac_override --ambient-caps +dac_override \"$@\""
        );
        let wrapper = ["unshare", "-m", "sh", "-c", &prepare, "sh"];
        let arguments = format!("task run {arguments} --format json");
        self.project
            .start_under(&wrapper, &arguments)
            .finish()
            .item()
    }

    fn root_file(&mut self, name: &str, text: &str) -> PathBuf {
        let path = self.project.write(name, text);
        fs::set_permissions(&path, Permissions::from_mode(0o440)).expect("it is ours");
        chown(&path, Some(0), Some(0)).expect("the tests run as root");
        path
    }

    /// Creates a stand-in for sudo that records its arguments and calls sudo.
    fn witness(&mut self) -> PathBuf {
        let seen = self.tmp.path().join("seen");
        let script = format!(
            "#!/bin/sh\n{{ echo \"$@\"; env; }} >>{}\nexec sudo \"$@\"\n",
            seen.display()
        );
        let path = self.tmp.path().join("witness");
        fs::write(&path, script).expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    /// Asserts that no file of devgate is left.
    #[track_caller]
    fn is_clean(&self) {
        let remaining = fs::read_dir(self.tmp.path())
            .expect("a directory")
            .flatten();
        let remaining: Vec<_> = remaining
            .map(|entry| entry.file_name().into_string().expect("text"))
            .filter(|name| name.starts_with("devgate"))
            .collect();
        assert!(remaining.is_empty(), "{remaining:?}");
    }
}

#[test]
fn a_task_is_another_users_with_all_that_it_is_given() {
    let mut node = Node::new();
    let witness = node.witness();
    node.host(
        "here",
        json!({"run-as": "nobody", "sudo-executable": witness}),
    );
    node.project.write("modules/t/lib/words", "brought along\n");
    node.task(
        "all",
        &json!({"files": ["t/lib/words"], "parameters": {
            "word": {"type": "String"}, "secret": {"type": "String", "sensitive": true}}}),
        "id -un; echo \"$PT_word\"; echo \"${#PT_secret}\"; cat \"$PT__installdir/t/lib/words\"\n\
         test -O \"$0\" && stat -c %a \"$0\"; wc -c; echo heard >&2; exit 3",
    );
    node.project.write(
        "params.json",
        &json!({"word": "two\nlines", "secret": "canary-7"}).to_string(),
    );
    let item = node.run("t::all -t here --params @params.json");
    let output = item["value"]["_output"].as_str().expect("an output");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        lines[..6],
        ["nobody", "two", "lines", "8", "brought along", "700"]
    );
    assert!(
        lines[6].parse::<usize>().is_ok_and(|bytes| bytes > 50),
        "{output}"
    );
    assert_eq!(item["value"]["_error"]["details"]["exitcode"], 3);
    let seen = fs::read_to_string(node.tmp.path().join("seen")).expect("sudo was called");
    assert!(seen.contains("-u nobody"), "{seen}");
    for secret in ["canary", "PT_", "lines"] {
        assert!(!seen.contains(secret), "{seen}");
    }
    node.is_clean();
}

#[test]
fn who_we_are_already_needs_no_sudo() {
    let mut node = Node::new();
    node.host(
        "here",
        json!({"run-as": "root", "sudo-executable": "/no/sudo"}),
    );
    node.task("who", &json!({}), "id -un");
    let item = node.run("t::who -t here");
    assert_eq!(item["value"], json!({"_output": "root\n"}));
}

#[test]
fn sudo_gets_the_password_and_reports_why_it_refuses() {
    let mut node = Node::new();
    let witness = node.witness();
    let with = |more: Value| {
        let mut options = json!({"run-as": "nobody", "sudo-executable": witness});
        for (key, value) in more.as_object().expect("options are an object") {
            options[key] = value.clone();
        }
        options
    };
    node.host("right", with(json!({"sudo-password": PASSWORD})));
    node.host("wrong", with(json!({"sudo-password": "wrong-canary"})));
    node.host("none", with(json!({})));
    node.host(
        "refused",
        with(json!({"run-as": "bin", "sudo-password": PASSWORD})),
    );
    node.host(
        "missing",
        json!({"run-as": "nobody", "sudo-executable": "/no/sudo"}),
    );
    node.task("who", &json!({}), "id -un");
    for (host, asks) in [("right", true), ("right", false), ("none", false)] {
        let item = node.run_unprivileged(asks, &format!("t::who -t {host}"));
        assert_eq!(item["value"], json!({"_output": "nobody\n"}), "{host}");
    }
    for (host, code, word) in [
        ("wrong", "BAD_PASSWORD", "sudo-password"),
        ("none", "NO_PASSWORD", "sudo-password"),
        ("refused", "SUDO_DENIED", "bin"),
        ("missing", "SUDO_DENIED", "/no/sudo"),
    ] {
        let item = node.run_unprivileged(true, &format!("t::who -t {host}"));
        let error = &item["value"]["_error"];
        assert_eq!(error["kind"], "puppetlabs.tasks/escalate-error", "{error}");
        assert_eq!(error["details"]["issue_code"], code, "{error}");
        assert!(
            error["msg"].as_str().is_some_and(|msg| msg.contains(word)),
            "{error}"
        );
    }
    let seen = fs::read_to_string(node.tmp.path().join("seen")).expect("sudo was called");
    assert!(!seen.contains("canary"), "{seen}");
    node.is_clean();
}

#[test]
fn what_another_user_runs_is_ended_with_all_that_it_has_started() {
    let mut node = Node::new();
    node.host("here", json!({"run-as": "nobody"}));
    for (name, script) in [
        ("stubborn", "trap '' TERM; while :; do sleep 78001; done"),
        (
            "daemon",
            "setsid sh -c 'trap : TERM; while :; do sleep 78001; done' >/dev/null 2>&1 & wait",
        ),
        ("chatty", "yes 78001"),
        ("mute", "exec >&- 2>&-; sleep 78001"),
    ] {
        node.task(name, &json!({}), script);
        let words = format!("t::{name} -t here --timeout 1");
        // A user other than root may not send signals to those processes.
        for item in [node.run(&words), node.run_unprivileged(false, &words)] {
            let error = &item["value"]["_error"];
            assert_eq!(
                error["kind"], "puppetlabs.tasks/timeout-error",
                "{name}: {error}"
            );
            assert!(error["details"]["left"].is_null(), "{name}: {error}");
            assert!(has_ended("78001"), "{name}: a process lives");
        }
    }
    node.is_clean();
}

#[test]
fn another_user_is_not_offered_our_session() {
    let mut node = Node::new();
    node.host("ours", json!({}));
    node.host("theirs", json!({"run-as": "nobody"}));
    node.task(
        "session",
        &json!({"remote": true}),
        "echo ${DEVGATE_SESSION:+offered}",
    );
    for (proxy, output) in [("ours", "offered\n"), ("theirs", "\n")] {
        let info = json!({"remote-transport": "ssh_cli", "host": "192.0.2.1", "run-on": proxy});
        node.project.add_target(&format!("behind_{proxy}"), info);
        let item = node.run(&format!("t::session -t behind_{proxy}"));
        assert_eq!(item["value"], json!({"_output": output}), "{proxy}");
    }
}
