//! A recorded session with a device: its greeting, and the output of each command.
//!
//! It is a case of its family (`session` in its `case.yaml`), so that it can be copied into the
//! family's `cases/` as it is: beside `case.yaml` lie the outputs, one a command.

use std::fs;
use std::io;
use std::path::Path;

use devgate_schemas::yaml;
use devgate_transports::reading;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::definition::Family;
use super::folder::Folder;
use crate::error::Problem;
use crate::file_node::FileNode;
use crate::source::Unanswered;
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

/// The length in bytes of the longest command whose file has the command as its name.
const LONGEST_NAME: usize = 240;

/// The file in which the output of a command is recorded.
pub(super) fn file_of(command: &str) -> String {
    let name = command.replace(['/', '\\', '|', '"', ':', '*', '?', '<', '>'], "_");
    if name.len() <= LONGEST_NAME {
        return format!("{name}.txt");
    }
    // The hash of the whole distinguishes names that begin alike (FNV-1a, of 64 bits).
    let hash = command
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let end = (0..=LONGEST_NAME - 20)
        .rev()
        .find(|&end| name.is_char_boundary(end));
    format!("{} {hash:016x}.txt", &name[..end.unwrap_or(0)])
}

/// The texts of the files in a folder, with the files' names.
pub(super) fn outputs_in(folder: &Path) -> Result<Vec<(String, String)>> {
    let failed = |cause| Error::File {
        what: "read",
        file: folder.to_owned(),
        cause,
    };
    let mut outputs = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match reading::text(&path) {
            Ok(text) => outputs.push((name.into_owned(), text)),
            // No text, or no file: not an output.
            Err(error) if error.kind() == io::ErrorKind::InvalidData || path.is_dir() => {}
            Err(error) => return Err(failed(error)),
        }
    }
    outputs.sort();
    Ok(outputs)
}

/// The output of a command, in the file that its name is similar to: with `_` for blanks and for what a file name cannot
/// contain, and with any extension or none.
pub(super) fn similar<'o>(outputs: &'o [(String, String)], command: &str) -> Option<&'o str> {
    let plain = |name: &str| name.replace([' ', '\t', '\n'], "_");
    let command = plain(&file_of(command));
    let command = command.trim_end_matches(".txt");
    let mut outputs = outputs.iter();
    let (_, output) = outputs.find(|(name, _)| {
        let name = plain(name);
        name == command
            || name
                .rsplit_once('.')
                .is_some_and(|(stem, _)| stem == command)
    })?;
    Some(output)
}

impl Family {
    /// The read-only commands or queries that a recording still lacks, without duplicates: those that the dialect runs
    /// when a session opens, and those of facts and resources. What a command is asked about may be in the answers to
    /// others, so there may be more when these are known.
    pub fn unanswered<'o>(
        &self,
        known: impl Fn(&str) -> Option<&'o str> + Copy,
    ) -> Vec<Unanswered> {
        let on_open = self.dialect.iter().flat_map(|dialect| &dialect.on_open);
        let on_open = on_open.filter(|command| known(command).is_none());
        let on_open = on_open.map(|command| Unanswered {
            query: command.clone(),
            is_optional: false,
        });
        let types = self.types.iter().flat_map(|kind| kind.unanswered(known));
        let mut unanswered: Vec<Unanswered> = Vec::new();
        for one in on_open.chain(self.facts.unanswered(known)).chain(types) {
            match unanswered.iter_mut().find(|other| other.query == one.query) {
                Some(other) => other.is_optional &= one.is_optional,
                None => unanswered.push(one),
            }
        }
        unanswered
    }
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

    /// Its `case.yaml`, as a case of this family.
    pub(super) fn case_yaml(&self, family: &str) -> String {
        // JSON texts are valid YAML, and keep blanks, colours and bells as they were.
        let mut case = format!("desc: {}\nsession:\n", json!(self.desc));
        let mut session = json!(self);
        session["family"] = family.into();
        for (key, text) in session.as_object().into_iter().flatten() {
            if text != "" {
                case.push_str(&format!("  {key}: {text}\n"));
            }
        }
        case
    }

    /// Writes the recording into an existing empty folder.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let (folder, path) = Folder::parent_of(folder);
        folder.write(&format!("{path}/case.yaml"), &self.case_yaml(&self.family))?;
        for (name, output) in &self.outputs {
            folder.write(&format!("{path}/{name}"), output)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_names_that_are_similar_to_commands() {
        let all = [
            ("show ip route 10.0.0.0", "1"),
            ("show_version.log", "2"),
            ("show interface.txt", "3"),
            ("a__b=1.json", "4"),
        ];
        let all = all.map(|(name, text)| (name.to_owned(), text.to_owned()));
        for (command, text) in [
            ("show ip route 10.0.0.0", Some("1")),
            ("show version", Some("2")),
            ("show interface", Some("3")),
            ("a/?b=1", Some("4")),
            ("show", None),
            ("show interfaces", None),
        ] {
            assert_eq!(similar(&all, command), text, "{command}");
        }
    }
}
