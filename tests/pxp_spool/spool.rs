//! A module, its transactions, and the processes that belong to them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::folder::{Project, document, messages_of, pause, wait_for_end};

/// The functions of every script: `$request` is its input, the file `runs` lists the transactions for which
/// it was started, `$dir` is the transaction's folder, `await FILE` waits for a file, and `finish RESULTS
/// WORDS CODE` writes the output files.
const PRELUDE: &str = r#"
request=$(cat)
dir=$(printf '%s' "$request" | sed 's|.*"stdout":"\([^"]*\)/stdout".*|\1|')
echo "$dir" >>runs
await() { until test -e "$1"; do sleep 0.02; done; }
finish() {
  printf '%s' "$1" >"$dir/stdout"
  printf '%s' "$2" >"$dir/stderr"
  echo "$3" >"$dir/new"
  mv "$dir/new" "$dir/exitcode"
}
echo $$ >begun.new; mv begun.new begun
"#;

const METADATA: &str = r#"{"description": "d", "actions": [
  {"name": "act", "description": "a", "input": {"type": "object"},
   "results": {"type": "object", "required": ["done"]}},
  {"name": "other", "description": "o", "input": {}, "results": {}}]}"#;

/// A project with a module `m` and a spool.
pub(super) struct Spool(pub(super) Project);

impl Spool {
    /// Creates a spool whose module's action `act` runs this script.
    pub(super) fn with(script: &str) -> Self {
        let project = Project::new();
        project.write(
            "modules.pxp/m",
            &format!("#!/bin/sh\nif [ \"$1\" = metadata ]; then\necho '{METADATA}'\nexit\nfi\n{PRELUDE}{script}\n"),
        );
        Self(project)
    }

    /// Returns the arguments that start a transaction.
    pub(super) fn words<'a>(id: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let run = ["pxp", "run", "m", "act", "--modules-dir", "modules.pxp"];
        let spool = ["--nonblocking", "--transaction", id, "--spool-dir", "spool"];
        [&run[..], &spool, &["--format", "json"], more].concat()
    }

    /// Starts a transaction, or queries it again.
    pub(super) fn run(&self, id: &str) -> Value {
        self.run_with(id, &[])
    }

    #[track_caller]
    pub(super) fn run_with(&self, id: &str, more: &[&str]) -> Value {
        let output = self.0.devgate(&Self::words(id, more));
        assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
        document(&output)
    }

    /// Returns the status of a transaction, and checks that it agrees with the exit code.
    #[track_caller]
    pub(super) fn status(&self, id: &str) -> Value {
        let output = self.run_command("status", id);
        let report = document(&output);
        let well = ["running", "success"]
            .map(Value::from)
            .contains(&report["status"]);
        assert_eq!(output.status.code(), Some(i32::from(!well)), "{report}");
        report
    }

    pub(super) fn run_command(&self, command: &str, id: &str) -> Output {
        let words = [
            "pxp",
            command,
            id,
            "--spool-dir",
            "spool",
            "--format",
            "json",
        ];
        self.0.devgate(&words)
    }

    /// Waits until a transaction has ended, and returns its status.
    #[track_caller]
    pub(super) fn end(&self, id: &str) -> Value {
        for _ in 0..1000 {
            let report = self.status(id);
            if report["status"] != "running" {
                return report;
            }
            pause();
        }
        panic!("{id} still runs");
    }

    /// Waits until the action has started, and returns its process ID.
    #[track_caller]
    pub(super) fn wait_for_start(&self) -> String {
        self.wait_for("begun").trim().to_owned()
    }

    /// Waits for a file of the action, and returns its content.
    #[track_caller]
    pub(super) fn wait_for(&self, name: &str) -> String {
        for _ in 0..3000 {
            if let Ok(text) = fs::read_to_string(self.0.0.path().join(name))
                && text.ends_with('\n')
            {
                return text;
            }
            pause();
        }
        panic!("there is no {name}");
    }

    /// Returns how often the action was run.
    pub(super) fn runs(&self) -> usize {
        self.runs_of("")
    }

    /// Returns how often the action was run for a transaction.
    pub(super) fn runs_of(&self, id: &str) -> usize {
        let runs = fs::read_to_string(self.0.0.path().join("runs")).unwrap_or_default();
        runs.lines().filter(|dir| dir.ends_with(id)).count()
    }

    /// Lets the action continue.
    pub(super) fn go(&self) {
        self.0.write("go", "");
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.0.path().join("spool")
    }

    pub(super) fn folder(&self, id: &str) -> PathBuf {
        self.path().join(id)
    }

    pub(super) fn metadata(&self, id: &str) -> Value {
        let text = fs::read(self.folder(id).join("metadata")).expect("there are metadata");
        serde_json::from_slice(&text).expect("they are JSON")
    }

    /// Returns the process that attends a transaction.
    pub(super) fn supervisor(&self, id: &str) -> String {
        self.metadata(id)["attended_by"]["pid"].to_string()
    }

    /// Kills the process that attends a transaction.
    pub(super) fn kill_supervisor(&self, id: &str) {
        end(&self.supervisor(id));
    }

    /// Sets the age of a transaction to this number of days without a change.
    pub(super) fn age(&self, id: &str, days: u64) {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        let folder = File::open(self.folder(id)).expect("it is there");
        folder.set_modified(then).expect("it is ours");
    }
}

/// Kills a process that a test has started.
#[track_caller]
pub(super) fn end(process: &str) {
    let pid = Pid::from_raw(process.parse().expect("a process's number"));
    kill(pid, Signal::SIGKILL).expect("it runs");
    wait_for_end(process);
}

impl Drop for Spool {
    /// Processes that a test has started do not outlive it.
    fn drop(&mut self) {
        let folders = fs::read_dir(self.path());
        for folder in folders.into_iter().flatten().flatten() {
            self.run_command("cancel", &folder.file_name().to_string_lossy());
        }
    }
}
