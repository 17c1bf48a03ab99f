//! A link to devgate in a folder of modules, its project, and its calls.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use devgate_schemas::pxp::{Action, Metadata};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::programs::is_running;
use crate::support::project::Project;
use crate::support::run::{Run, Running};

pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_devgate");

/// A module and the project of its configuration.
pub(super) struct Module {
    pub(super) project: Project,
    file: PathBuf,
    /// The folder of the link.
    _modules: TempDir,
}

impl Module {
    /// Creates a module that is a link.
    pub(super) fn new() -> Self {
        let modules = tempfile::tempdir().expect("a temporary folder can be made");
        let file = modules.path().join("gateway");
        symlink(BINARY, &file).expect("a link can be made");
        Self {
            project: Project::new(),
            file,
            _modules: modules,
        }
    }

    /// Creates a module that is a one-line script with these options of devgate.
    pub(super) fn script(options: &str) -> Self {
        let module = Self::new();
        let text = format!("#!/bin/sh\nexec {BINARY} {options} pxp serve \"$@\"\n");
        let executable = fs::Permissions::from_mode(0o755);
        fs::remove_file(&module.file)
            .and_then(|()| fs::write(&module.file, text))
            .and_then(|()| fs::set_permissions(&module.file, executable))
            .expect("it is ours");
        module
    }

    pub(super) fn path(&self) -> &Path {
        self.project.path()
    }

    /// Adds a task that runs on the local node for any target, whatever its transport.
    pub(super) fn task(&mut self, name: &str, script: &str) {
        let metadata = r#"{"remote": true, "parameters": {
            "dir": {"type": "Optional[String]"}, "size": {"type": "Optional[Integer]"},
            "secret": {"type": "Optional[String]", "sensitive": true}}}"#;
        self.project
            .write(&format!("modules/m/tasks/{name}.json"), metadata);
        self.project
            .write(&format!("modules/m/tasks/{name}.sh"), script);
    }

    /// Adds remote targets to which nothing connects.
    pub(super) fn targets(&mut self, names: &[String]) {
        for name in names {
            let info = json!({ "remote-transport": "frr", "host": "127.0.0.1", "user": "u" });
            self.project.add_target(name, info);
        }
    }

    /// Returns a request with a configuration that names the project.
    pub(super) fn request(&self, input: Value) -> Value {
        json!({ "input": input, "configuration": { "project": self.path() } })
    }

    /// Returns the module's command, with the root as its folder, as in a service.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
        let mut command = Command::new(&self.file);
        command
            .args(words)
            .current_dir("/")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path().join("tmp"))
            .stdin(Stdio::null());
        command
    }

    /// Starts an action with this text on stdin.
    pub(super) fn start_with(&mut self, action: &str, text: &str) -> Running {
        let stdin = self.project.write("request", text);
        let stdin = File::open(stdin).expect("it was written");
        let mut command = self.command(&[action]);
        command.stdin(stdin);
        Running::start(command)
    }

    /// Starts an action with a request.
    pub(super) fn start(&mut self, action: &str, request: &Value) -> Running {
        self.start_with(action, &request.to_string())
    }

    /// Calls an action with a request, and checks that the answer matches the metadata.
    pub(super) fn call(&mut self, action: &str, request: &Value) -> Run {
        let run = self.start(action, request).finish();
        fits(action, &run);
        run
    }

    /// Waits until a file of the project exists and ends with a line end, and returns its text.
    pub(super) fn wait_for(&self, name: &str) -> String {
        let path = self.path().join(name);
        for _ in 0..6000 {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if text.ends_with('\n') {
                return text;
            }
            pause();
        }
        panic!("there is no {name}");
    }
}

/// The module's metadata.
static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let run = Running::start(Module::new().command(&["metadata"])).finish();
    Metadata::read(run.stdout.as_bytes()).expect("they are metadata")
});

/// Returns the metadata of an action.
pub(super) fn action(name: &str) -> &'static Action {
    METADATA.action(name).expect("there is such an action")
}

/// Asserts that a run's results match the metadata of the action.
#[track_caller]
pub(super) fn fits(name: &str, run: &Run) {
    let results = action(name).results.check(&run.json());
    assert_eq!(results, Ok(()), "{run}");
}

/// Asserts that all of these processes end.
#[track_caller]
pub(super) fn end(processes: &str) {
    for process in processes.split_whitespace() {
        for _ in 0..1000 {
            if !is_running(process) {
                break;
            }
            pause();
        }
        assert!(!is_running(process), "process {process} is still there");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no runtime to block, and the process is nobody's child"
)]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(10));
}
