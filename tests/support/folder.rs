//! A folder to run devgate in, with an inventory of targets where nothing answers, and the output of runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with an inventory of two remote targets, at an address where nothing listens.
pub(crate) struct Project(pub(crate) TempDir);

impl Project {
    pub(crate) fn new() -> Self {
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

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(&path, text).expect("a file can be written");
        // An inventory holds passwords; any other file may be a program.
        let mode = if name == "inventory.yaml" {
            0o600
        } else {
            0o755
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// Creates a remote task from a shell script.
    pub(crate) fn task(&self, name: &str, script: &str) {
        self.write(
            &format!("modules/m/tasks/{name}.json"),
            r#"{"remote": true}"#,
        );
        self.write(&format!("modules/m/tasks/{name}.sh"), script);
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.command_under(&[], words)
    }

    /// Returns the command started by another program, which contains the arguments itself if `words` is
    /// empty.
    pub(crate) fn command_under(&self, wrapper: &[&str], words: &[&str]) -> Command {
        let all = if words.is_empty() {
            wrapper.to_vec()
        } else {
            [wrapper, &[env!("CARGO_BIN_EXE_devgate")], words].concat()
        };
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

    pub(crate) fn devgate(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary starts")
    }
}

#[track_caller]
pub(crate) fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&output.stdout);
        panic!("expected one JSON document, {error}: {text}")
    })
}

pub(crate) fn messages_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until a process has ended. A zombie process has no command line.
#[track_caller]
pub(crate) fn wait_for_end(process: &str) {
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
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}
