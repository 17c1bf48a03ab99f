//! A project in its own temporary folder, with an inventory, in which devgate runs as a user would run it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::lab::Device;
use super::run::{Run, Running};

pub(crate) struct Project {
    dir: TempDir,
    targets: Vec<Value>,
    /// The files that the test wrote: only these may contain secrets.
    written: BTreeMap<PathBuf, String>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        for folder in ["home", "tmp"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder can be made");
        }
        let mut project = Self {
            dir,
            targets: Vec::new(),
            written: BTreeMap::new(),
        };
        project.write_inventory();
        project
    }

    /// Creates a project whose only target, `router`, is `device`, with a known password.
    pub(crate) fn with(device: &Device) -> Self {
        Self::with_settings(device, json!({}))
    }

    /// Like [`with`](Self::with), with additional connection settings; a null removes a setting.
    pub(crate) fn with_settings(device: &Device, settings: Value) -> Self {
        let mut project = Self::new();
        project.add("router", device, settings);
        project
    }

    /// Adds a lab device as a target, with additional connection settings.
    pub(crate) fn add(&mut self, name: &str, device: &Device, settings: Value) {
        let mut info = device.connection_info();
        for (key, value) in settings.as_object().expect("settings are an object") {
            info[key] = value.clone();
        }
        self.add_target(name, info);
    }

    /// Adds a remote target. Null values of its connection info are left out.
    pub(crate) fn add_target(&mut self, name: &str, mut info: Value) {
        info.as_object_mut()
            .expect("connection info is an object")
            .retain(|_, value| !value.is_null());
        let config = json!({ "transport": "remote", "remote": info });
        self.targets.push(json!({ "name": name, "config": config }));
        self.write_inventory();
    }

    /// Adds any target, in the form of an inventory entry.
    pub(crate) fn add_entry(&mut self, entry: Value) {
        self.targets.push(entry);
        self.write_inventory();
    }

    fn write_inventory(&mut self) {
        let inventory = json!({ "version": 2, "targets": self.targets });
        self.write("inventory.yaml", &format!("{inventory:#}\n"));
    }

    /// Writes a file of the project and returns its path.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("a folder can be made");
        fs::write(&path, text).expect("a file can be written");
        if name == "inventory.yaml" {
            // The file holds passwords.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        }
        self.written.insert(path.clone(), text.to_owned());
        path
    }

    /// Writes a manifest and returns its path.
    pub(crate) fn manifest(&mut self, resources: Value) -> String {
        let path = self.write("manifest.yaml", &format!("{resources:#}\n"));
        path.to_str().expect("the path is text").to_owned()
    }

    /// Runs devgate to its end, with arguments as typed.
    pub(crate) fn devgate(&self, arguments: &str) -> Run {
        self.start(arguments).finish()
    }

    /// Starts devgate with only the path of this environment, on which devgate itself is found.
    pub(crate) fn start(&self, arguments: &str) -> Running {
        self.start_under(&[], arguments)
    }

    /// Starts devgate through another program, whose arguments precede devgate's.
    pub(crate) fn start_under(&self, wrapper: &[&str], arguments: &str) -> Running {
        let words = wrapper
            .iter()
            .copied()
            .chain([env!("CARGO_BIN_EXE_devgate")]);
        let words: Vec<&str> = words.chain(arguments.split_whitespace()).collect();
        self.start_words(&words)
    }

    /// Runs another program to its end in devgate's environment; empty arguments are left out.
    pub(crate) fn run_program(&self, words: &[&str]) -> Run {
        let words = words.iter().copied().filter(|word| !word.is_empty());
        self.start_words(&words.collect::<Vec<_>>()).finish()
    }

    fn start_words(&self, words: &[&str]) -> Running {
        #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(self.path())
            .env_clear()
            .env("PATH", path())
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path().join("tmp"))
            .stdin(Stdio::null());
        Running::start(command)
    }

    /// Returns what the runs have left in the project, the home and the temporary folder: files that no
    /// test wrote, or that have changed since.
    pub(crate) fn remaining_files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder)
                .expect("the folder is there")
                .flatten()
            {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let text =
                    String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
                if self.written.get(&path) != Some(&text) {
                    found.insert(path, text);
                }
            }
        }
        found
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Returns the folder of the binary, because tasks call `devgate`, followed by the path of this
/// environment.
fn path() -> std::ffi::OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_devgate")).parent();
    let own = own.expect("a file is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(own).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("they stood in a path")
}
