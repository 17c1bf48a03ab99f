//! The test cases of a family: recorded outputs and changes, and the expected results.
//!
//! A case is a folder `cases/<case>/` with a `case.yaml` that describes the test:
//!
//! - `desc`: what the case shows.
//! - `type`: the resource type; without it, the case tests the family's facts.
//! - `changes`: a list of `{title, is, should}`. Without `is` the resource is absent, and without `should`
//!   it is removed. Both are brought into canonical form, as in a run. Without `changes`, the case tests the result of `get`.
//! - `facts`: the facts of the device. Without them, the device has all that the type knows.
//! - `session`: the subject of a recorded session; the case tests the facts and the resources of every type
//!   in it.
//!
//! The folder also contains the recorded outputs, one per command or query, such as `show version.txt`, and
//! the expected result: `facts.json`, `resources.json`, `session.json`, or `lines.txt` with the lines of
//! the changes in order. For an expected error, `error.txt` contains its text instead.

use std::path::Path;

use devgate_schemas::yaml::Node;
use devgate_schemas::{Facts, Hash, InvalidResource, Value, suggest};
use serde_json::json;

use super::folder::Folder;
use super::recording::file_of;
use super::{Family, Recording};
use crate::declared::DeclaredType;
use crate::file_node::{FileNode, Problems};
use crate::{Error, ResourceType, Result, SecretVisibility};

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// The case's name.
    pub name: String,
    /// `Ok`, or the difference between the expected and the actual result.
    pub outcome: std::result::Result<(), String>,
}

/// Whether the files with expected results are compared or overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateExpected {
    /// Compare.
    No,
    /// Overwrite the expected results.
    Yes,
}

/// The actual result of a case: a file name and its text.
struct CaseOutput {
    file: &'static str,
    text: String,
}

/// The files with expected results.
const EXPECTED: [&str; 5] = [
    "facts.json",
    "resources.json",
    "session.json",
    "lines.txt",
    "error.txt",
];

impl Family {
    /// Runs the family's cases, in the order of their names.
    ///
    /// # Errors
    /// Fails when a file cannot be read or written, when a `case.yaml` is invalid, or when a TextFSM
    /// template does not compile.
    pub fn test(&self, refresh: UpdateExpected) -> Result<Vec<CaseResult>> {
        self.facts.check()?;
        self.types.iter().try_for_each(DeclaredType::check)?;
        let names = self.folder.names("cases")?;
        names
            .into_iter()
            .map(|name| {
                let path = format!("cases/{name}");
                self.test_case(&self.folder, &path, name, refresh)
            })
            .collect()
    }

    /// Runs a case in a separate folder, such as a recorded session.
    ///
    /// # Errors
    /// Fails as [`test`](Self::test) does.
    pub fn test_folder(&self, folder: &Path, refresh: UpdateExpected) -> Result<CaseResult> {
        let (folder, path) = Folder::parent_of(folder);
        self.test_case(&folder, &path, path.clone(), refresh)
    }

    fn test_case(
        &self,
        folder: &Folder,
        path: &str,
        name: String,
        refresh: UpdateExpected,
    ) -> Result<CaseResult> {
        let actual = self.try_case(folder, path)?;
        let files = folder.names(path)?;
        let expected = EXPECTED
            .into_iter()
            .find(|file| files.iter().any(|name| name == file));
        let (case, path) = (path, format!("{path}/{}", actual.file));
        if refresh == UpdateExpected::Yes {
            if let Some(other) = expected.filter(|file| *file != actual.file) {
                folder.remove(&format!("{case}/{other}"))?;
            }
            folder.write(&path, &actual.text)?;
            return Ok(CaseResult {
                name,
                outcome: Ok(()),
            });
        }
        let outcome = match expected {
            None => Err(format!(
                "there is no {path} to compare with; run again with UPDATE=1"
            )),
            Some(file) if file != actual.file => Err(format!(
                "expected {file}, found {}:\n{}",
                actual.file, actual.text
            )),
            Some(_) => difference(&folder.read(&path)?, &actual.text),
        };
        Ok(CaseResult { name, outcome })
    }

    fn try_case(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let file = folder.yaml(&format!("{case}/case.yaml"))?;
        let mut problems = Problems::new();
        let top = file.top();
        top.only(
            &["desc", "type", "facts", "changes", "session"],
            &mut problems,
        );
        top.required("desc", &mut problems);
        let session = top.get("session");
        if let Some(session) = &session {
            problems.extend(Recording::session(session).err());
            for other in ["type", "facts", "changes"] {
                if let Some(other) = top.get(other) {
                    problems.push(other.problem("a recorded session is about every type"));
                }
            }
        }
        let kind = match top.get("type") {
            None => None,
            Some(file_node) => {
                let name = file_node.text(&mut problems).unwrap_or_default();
                let kind = self.types.iter().find(|kind| kind.schema().name() == name);
                if kind.is_none() {
                    let hint = suggest(name, self.types().map(|t| t.schema().name()));
                    problems.push(file_node.problem(format!("there is no type `{name}`{hint}")));
                }
                kind
            }
        };
        if !problems.is_empty() {
            return Err(Error::Family(problems));
        }
        if session.is_some() {
            return self.try_session(folder, case);
        }
        let facts = top
            .get("facts")
            .map(|facts| Facts::from(hash(facts.node())));
        match (kind, top.get("changes")) {
            (None, _) => self.try_facts(folder, case),
            (Some(kind), Some(changes)) => {
                let lines = lines(kind, &changes, facts.as_ref())?;
                Ok(case_output(
                    "lines.txt",
                    lines.map(|lines| lines.join("\n") + "\n"),
                ))
            }
            (Some(kind), None) => {
                let outputs = outputs(folder, case)?;
                let output = |command: &str| output_of(&outputs, command);
                let resources = kind.resources(output, facts.as_ref());
                Ok(case_output(
                    "resources.json",
                    resources.map(|resources| pretty(&json!(resources))),
                ))
            }
        }
    }

    fn try_facts(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let outputs = outputs(folder, case)?;
        Ok(CaseOutput {
            file: "facts.json",
            text: pretty(&self.facts_json(&outputs)),
        })
    }

    /// Returns the facts and the resources of every type, or the error of a type that cannot read its
    /// output.
    fn try_session(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let outputs = outputs(folder, case)?;
        let mut json = self.facts_json(&outputs);
        let output = |command: &str| output_of(&outputs, command);
        let facts = self.facts_of(output, |_| {});
        for kind in &self.types {
            let resources = kind.resources(output, Some(&facts));
            let name = kind.schema().name();
            json["resources"][name] = match resources {
                Ok(resources) => json!(resources),
                Err(error) => json!({ "error": error.to_string() }),
            };
        }
        Ok(CaseOutput {
            file: "session.json",
            text: pretty(&json),
        })
    }

    /// Returns the facts in these outputs, and the messages about facts that could not be read.
    fn facts_json(&self, outputs: &[(String, String)]) -> serde_json::Value {
        let mut messages = Vec::new();
        let output = |command: &str| output_of(outputs, command);
        let facts = self.facts_of(output, |message| messages.push(message));
        let mut json = json!({ "facts": facts });
        if !messages.is_empty() {
            json["told"] = json!(messages);
        }
        json
    }
}

/// Returns the recorded answers, each with the name of its file.
fn outputs(folder: &Folder, case: &str) -> Result<Vec<(String, String)>> {
    let mut outputs = Vec::new();
    for file in folder.names(case)? {
        if !EXPECTED.contains(&file.as_str()) && file != "case.yaml" {
            let output = folder.read(&format!("{case}/{file}"))?;
            outputs.push((file, output));
        }
    }
    Ok(outputs)
}

/// Returns the lines of a case's changes. The outer error is a problem of the case itself.
fn lines(
    kind: &dyn ResourceType,
    changes: &FileNode<'_>,
    facts: Option<&Facts>,
) -> Result<Result<Vec<String>>> {
    let schema = kind.schema();
    let mut lines = Vec::new();
    for file_node in changes.items() {
        let invalid =
            |error: InvalidResource| Error::Family(vec![file_node.problem(error.to_string())]);
        let hash = |key| file_node.get(key).map(|file_node| hash(file_node.node()));
        let title = file_node
            .get("title")
            .and_then(|file_node| file_node.node().as_str())
            .unwrap_or_default();
        let should = hash("should");
        let is_removal = should.is_none();
        let should = should.unwrap_or_else(|| {
            let absent = schema
                .is_ensurable()
                .then(|| ("ensure", Value::from("absent")));
            absent.into_iter().collect()
        });
        let (name, should) = schema.desire(Some(title), should).map_err(invalid)?;
        let rendered =
            kind.canonical_change(&name, hash("is"), should)
                .and_then(|(name, mut change)| {
                    if is_removal {
                        change.should = None;
                    }
                    kind.render(&name, &change, facts, SecretVisibility::Redacted)
                });
        match rendered {
            Ok(rendered) => lines.extend(rendered),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(lines))
}

fn hash(node: &Node) -> Hash {
    match node.to_value() {
        Value::Hash(hash) => hash,
        _ => Hash::new(),
    }
}

fn case_output(file: &'static str, text: Result<String>) -> CaseOutput {
    match text {
        Ok(text) => CaseOutput { file, text },
        Err(error) => CaseOutput {
            file: "error.txt",
            text: format!("{error}\n"),
        },
    }
}

fn output_of<'o>(outputs: &'o [(String, String)], command: &str) -> Option<&'o str> {
    let file = file_of(command);
    let mut outputs = outputs.iter();
    let (_, output) = outputs.find(|(name, _)| *name == file)?;
    Some(output)
}

fn pretty(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}

/// Compares two texts, and returns the first line that differs.
fn difference(expected: &str, actual: &str) -> std::result::Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let mut actual_lines = actual.lines();
    for (number, line) in (1..).zip(expected.lines()) {
        match actual_lines.next() {
            Some(other) if other == line => {}
            other => {
                let other = other.unwrap_or("(nothing)");
                return Err(format!("line {number}: expected `{line}`, found `{other}`"));
            }
        }
    }
    Err(match actual_lines.next() {
        Some(line) => format!("found a line more than expected: `{line}`"),
        None => "they differ in their line ends".to_owned(),
    })
}
