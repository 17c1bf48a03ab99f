//! A recorded session with a device: its greeting, and the output of each command.
//!
//! It is a case of its family (`session` in its `case.yaml`), so that it can be copied into the
//! family's `cases/` as it is: beside `case.yaml` lie the outputs, one a command.

use std::path::Path;

use serde_json::json;

use super::folder::Folder;
use crate::file_node::Problems;
use crate::{Error, Result};

/// A recorded session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// What the recording shows, in one sentence.
    pub desc: String,
    /// The device's family.
    pub family: String,
    /// The text above the first prompt.
    pub greeting: String,
    /// The prompt, with trailing blanks.
    pub prompt: String,
    /// The version line of the SSH server, if known.
    pub ssh_version: String,
    /// A command that the device does not know.
    pub unknown_command: String,
    /// The device's output for it.
    pub unknown: String,
    /// The output of each command, by file name.
    pub outputs: Vec<(String, String)>,
}

/// The keys of `session` in a `case.yaml`.
pub(super) const KEYS: [&str; 6] = [
    "family",
    "greeting",
    "prompt",
    "ssh_version",
    "unknown_command",
    "unknown",
];

/// The file in which the output of a command is recorded.
pub(super) fn file_of(command: &str) -> String {
    let name = command.replace(['/', '\\', '|', '"', ':', '*', '?', '<', '>'], "_");
    format!("{name}.txt")
}

impl Recording {
    /// Reads a recorded session.
    ///
    /// # Errors
    /// Fails when a file cannot be read, or when `case.yaml` has no session.
    pub fn read(folder: &Path) -> Result<Self> {
        let (folder, path) = Folder::around(folder);
        let file = folder.yaml(&format!("{path}/case.yaml"))?;
        let mut problems = Problems::new();
        let top = file.top();
        let Some(session) = top.get("session") else {
            let message = "this case is no recorded session: `devgate record` makes one";
            return Err(Error::Family(vec![top.problem(message)]));
        };
        session.only(&KEYS, &mut problems);
        session.required("prompt", &mut problems);
        let mut text = |key| match session.get(key) {
            None => String::new(),
            Some(file_node) => file_node.node().as_str().map_or_else(
                || {
                    problems.push(file_node.problem("expected a text"));
                    String::new()
                },
                str::to_owned,
            ),
        };
        let mut recording = Self {
            desc: top
                .get("desc")
                .and_then(|file_node| file_node.node().as_str())
                .unwrap_or_default()
                .to_owned(),
            family: text("family"),
            greeting: text("greeting"),
            prompt: text("prompt"),
            ssh_version: text("ssh_version"),
            unknown_command: text("unknown_command"),
            unknown: text("unknown"),
            outputs: Vec::new(),
        };
        if !problems.is_empty() {
            return Err(Error::Family(problems));
        }
        for name in folder.names(&path)? {
            if name.ends_with(".txt") {
                let output = folder.read(&format!("{path}/{name}"))?;
                recording.outputs.push((name, output));
            }
        }
        Ok(recording)
    }

    /// Records the output of a command; only the first counts.
    pub fn note(&mut self, command: &str, output: String) {
        if self.answer(command).is_none() {
            self.outputs.push((file_of(command), output));
        }
    }

    /// The recorded output of a command.
    pub fn answer(&self, command: &str) -> Option<&str> {
        let file = file_of(command);
        let mut outputs = self.outputs.iter();
        let (_, output) = outputs.find(|(name, _)| *name == file)?;
        Some(output)
    }

    /// The device's output for an unknown command.
    pub fn refusal(&self, command: &str) -> String {
        if self.unknown_command.is_empty() {
            return self.unknown.clone();
        }
        self.unknown.replace(&self.unknown_command, command)
    }

    /// The recording with `mask` applied to each text.
    pub fn masked(mut self, mask: impl Fn(&str) -> String) -> Self {
        self.greeting = mask(&self.greeting);
        self.unknown = mask(&self.unknown);
        for (_, output) in &mut self.outputs {
            *output = mask(output);
        }
        self
    }

    /// Writes the recording into an existing empty folder.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let (folder, path) = Folder::around(folder);
        // JSON texts are valid YAML, and keep blanks, colours and bells as they were.
        let pairs = [
            ("family", &self.family),
            ("greeting", &self.greeting),
            ("prompt", &self.prompt),
            ("ssh_version", &self.ssh_version),
            ("unknown_command", &self.unknown_command),
            ("unknown", &self.unknown),
        ];
        let mut case = format!("desc: {}\nsession:\n", json!(self.desc));
        for (key, text) in pairs.iter().filter(|(_, text)| !text.is_empty()) {
            case.push_str(&format!("  {key}: {}\n", json!(text)));
        }
        folder.write(&format!("{path}/case.yaml"), &case)?;
        for (name, output) in &self.outputs {
            folder.write(&format!("{path}/{name}"), output)?;
        }
        Ok(())
    }
}
