//! A recorded session with a device: its greeting, and the output of each command.
//!
//! It is a case of its family (`session` in its `case.yaml`), so that it can be copied into the
//! family's `cases/` as it is: beside `case.yaml` lie the outputs, one a command.

use std::path::Path;

use devgate_schemas::yaml;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::folder::Folder;
use crate::error::Problem;
use crate::file_node::FileNode;
use crate::{Error, Result};

/// A recorded session. Its fields are the keys of `session` in a `case.yaml`, except for `desc`, which is beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// What the recording shows, in one sentence.
    #[serde(skip)]
    pub desc: String,
    /// The device's family.
    #[serde(default)]
    pub family: String,
    /// The text above the first prompt.
    #[serde(default)]
    pub greeting: String,
    /// The prompt, with trailing blanks.
    pub prompt: String,
    /// The version line of the SSH server, if known.
    #[serde(default)]
    pub ssh_version: String,
    /// A command that the device does not know.
    #[serde(default)]
    pub unknown_command: String,
    /// The device's output for it.
    #[serde(default)]
    pub unknown: String,
    /// The output of each command, by file name.
    #[serde(skip)]
    pub outputs: Vec<(String, String)>,
}

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
        let (folder, path) = Folder::parent_of(folder);
        let file = folder.yaml(&format!("{path}/case.yaml"))?;
        let top = file.top();
        let Some(session) = top.get("session") else {
            let message = "this case is no recorded session: `devgate record` makes one";
            return Err(Error::Family(vec![top.problem(message)]));
        };
        let mut recording =
            Self::session(&session).map_err(|problem| Error::Family(vec![problem]))?;
        let desc = top.get("desc");
        let desc = desc.and_then(|file_node| file_node.node().as_str());
        recording.desc = desc.unwrap_or_default().to_owned();
        for name in folder.names(&path)? {
            if name.ends_with(".txt") {
                let output = folder.read(&format!("{path}/{name}"))?;
                recording.outputs.push((name, output));
            }
        }
        Ok(recording)
    }

    /// Reads the `session` of a `case.yaml`.
    pub(super) fn session(session: &FileNode<'_>) -> std::result::Result<Self, Problem> {
        yaml::from_node(session.node()).map_err(|error| session.yaml_problem(error))
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
        let (folder, path) = Folder::parent_of(folder);
        // JSON texts are valid YAML, and keep blanks, colours and bells as they were.
        let mut case = format!("desc: {}\nsession:\n", json!(self.desc));
        let session = json!(self);
        for (key, text) in session.as_object().into_iter().flatten() {
            if text != "" {
                case.push_str(&format!("  {key}: {text}\n"));
            }
        }
        folder.write(&format!("{path}/case.yaml"), &case)?;
        for (name, output) in &self.outputs {
            folder.write(&format!("{path}/{name}"), output)?;
        }
        Ok(())
    }
}
