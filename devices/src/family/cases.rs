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
//! - `partial`: whether the expected result is only a part ([`Comparison::Part`]).
//!
//! The folder also contains the recorded outputs, one per command or query, such as `show version.txt`, and
//! the expected result: `facts.json`, `resources.json`, `session.json`, or `lines.txt` with the lines of
//! the changes in order. For an expected error, `error.txt` contains its text instead.

use std::path::Path;

use devgate_schemas::yaml::Node;
use devgate_schemas::{Facts, Hash, InvalidResource, Value, suggest};
use serde_json::json;

use super::definition::Family;
use super::expected::{Comparison, EXPECTED, difference, pretty};
use super::folder::Folder;
use super::recorded_answers::RecordedAnswers;
use super::recording::Recording;
use super::recording::file_of;
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
    /// The file with the expected result, if it was overwritten with another one, and what to look at in it.
    pub written: Option<String>,
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
    /// What distinguishes the resources in it.
    namevars: Vec<String>,
    /// Whether the case compares only a part.
    is_partial: bool,
    /// The requests for which the case has no file.
    missing: Vec<String>,
}

/// The keys of a `case.yaml`.
pub(super) const CASE_KEYS: [&str; 6] = ["desc", "type", "facts", "changes", "session", "partial"];

/// The name of a case's own file.
pub(super) const FILE: &str = "case.yaml";

/// How deep cases may be below their folder.
const MAX_DEPTH: usize = 4;

impl Family {
    /// Runs the family's cases, in the order of their names. A case that is wrong in itself fails alone.
    ///
    /// # Errors
    /// Fails when a folder cannot be read, or when a TextFSM template does not compile.
    pub fn test(&self, refresh: UpdateExpected, comparison: Comparison) -> Result<Vec<CaseResult>> {
        self.facts.check()?;
        self.types.iter().try_for_each(DeclaredType::check)?;
        let cases = case_folders(&self.folder, "cases", 0)?.into_iter();
        let cases = cases.map(|path| {
            let name = path.strip_prefix("cases/").unwrap_or(&path).to_owned();
            self.test_case(&self.folder, &path, name, refresh, comparison)
        });
        Ok(cases.collect())
    }

    /// Runs a case in a separate folder, such as a recorded session, or the cases in a folder and the folders in it.
    ///
    /// # Errors
    /// Fails as [`test`](Self::test) does, and when there is no case.
    pub fn test_folder(
        &self,
        folder: &Path,
        refresh: UpdateExpected,
        comparison: Comparison,
    ) -> Result<Vec<CaseResult>> {
        let named = folder.display();
        let (folder, path) = Folder::parent_of(folder);
        let cases = case_folders(&folder, &path, 0)?;
        if cases.is_empty() {
            if !folder.is_folder(&path) {
                folder.read(&format!("{path}/{FILE}"))?;
            }
            return Err(Error::Unsupported(format!(
                "there is no {FILE} in {named} or in the folders in it, so there is no case: `devgate record` makes \
                     one of a device"
            )));
        }
        let cases = cases.into_iter();
        let cases =
            cases.map(|path| self.test_case(&folder, &path, path.clone(), refresh, comparison));
        Ok(cases.collect())
    }

    fn test_case(
        &self,
        folder: &Folder,
        path: &str,
        name: String,
        refresh: UpdateExpected,
        comparison: Comparison,
    ) -> CaseResult {
        let outcome = self.compare_case(folder, path, refresh, comparison);
        let outcome = outcome.unwrap_or_else(|error| Err(error.to_string()));
        let (outcome, written) = match outcome {
            Ok(written) => (Ok(()), written),
            Err(difference) => (Err(difference), None),
        };
        CaseResult {
            name,
            outcome,
            written,
        }
    }

    /// Returns what was written, if anything was. The outer error is a problem of the case itself.
    fn compare_case(
        &self,
        folder: &Folder,
        case: &str,
        refresh: UpdateExpected,
        comparison: Comparison,
    ) -> Result<std::result::Result<Option<String>, String>> {
        let CaseOutput {
            file: actual_file,
            text: actual,
            namevars,
            is_partial,
            missing,
        } = self.try_case(folder, case)?;
        let comparison = if is_partial {
            Comparison::Part
        } else {
            comparison
        };
        let files = folder.names(case)?;
        let mut known = EXPECTED.into_iter();
        let expected_file = known.find(|file| files.iter().any(|name| name == file));
        let path = format!("{case}/{actual_file}");
        let expected = match expected_file {
            Some(file) if file == actual_file => Some(folder.read(&path)?),
            _ => None,
        };
        let lacks: String = missing
            .iter()
            .map(|request| {
                let file = file_of(request);
                format!("\nthere is no {case}/{file} with the answer to `{request}`")
            })
            .collect();
        let error = match actual_file {
            "error.txt" => format!(":\n{}", actual.trim_end()),
            _ => String::new(),
        };
        let part = expected.as_ref();
        let part = part.map(|expected| comparison.part(expected, &actual, &namevars));
        if refresh == UpdateExpected::Yes {
            if let Some(other) = expected_file.filter(|file| *file != actual_file) {
                folder.remove(&format!("{case}/{other}"))?;
            }
            let text = part.as_deref().unwrap_or(&actual);
            if expected.as_deref() == Some(text) {
                return Ok(Ok(None));
            }
            folder.write(&path, text)?;
            return Ok(Ok(Some(format!("{path}{error}{lacks}"))));
        }
        let outcome = match (expected_file, expected, part) {
            (None, ..) => Err(format!(
                "there is no {path} to compare with; run again with UPDATE=1{error}"
            )),
            (Some(_), Some(expected), Some(part)) => {
                difference(&comparison.expected(&expected), &part)
            }
            (Some(file), ..) => Err(format!("expected {file}, found {actual_file}:\n{actual}")),
        };
        Ok(outcome
            .map(|()| None)
            .map_err(|difference| difference + &lacks))
    }

    fn try_case(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let file = folder.yaml(&format!("{case}/{FILE}"))?;
        let mut problems = Problems::new();
        let top = file.top();
        top.only(&CASE_KEYS, &mut problems);
        top.required("desc", &mut problems);
        let is_partial = top
            .get("partial")
            .and_then(|file_node| file_node.boolean(&mut problems));
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
        let facts = top
            .get("facts")
            .map(|facts| Facts::from(hash(facts.node())));
        let mut output = match (kind, top.get("changes")) {
            _ if session.is_some() => self.try_session(folder, case)?,
            (None, _) => self.try_facts(folder, case)?,
            (Some(kind), Some(changes)) => {
                let lines = lines(kind, &changes, facts.as_ref());
                CaseOutput::new("lines.txt", lines.map(|lines| lines.join("\n") + "\n"))
            }
            (Some(kind), None) => {
                let recorded = RecordedAnswers::read(folder, case)?;
                let output = |request: &str| recorded.answer(request);
                let resources = kind.resources(output, facts.as_ref());
                let resources = resources.map(|resources| pretty(&json!(resources)));
                CaseOutput::new("resources.json", resources).without(&recorded)
            }
        };
        if output.file == "error.txt" {
            // The folders of the family and the case may be anywhere.
            for folder in [folder, &self.folder] {
                output.text = output.text.replace(&folder.display_name(""), "");
            }
        }
        let kinds = self.types.iter();
        let kinds =
            kinds.filter(|one| kind.is_none_or(|kind| one.schema().name() == kind.schema().name()));
        output.namevars = kinds
            .flat_map(|kind| kind.schema().namevars().to_vec())
            .collect();
        output.is_partial = is_partial.unwrap_or(false);
        Ok(output)
    }

    fn try_facts(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let recorded = RecordedAnswers::read(folder, case)?;
        let facts = pretty(&self.facts_json(&recorded));
        Ok(CaseOutput::new("facts.json", Ok(facts)).without(&recorded))
    }

    /// Returns the facts and the resources of every type, or the error of a type that cannot read its
    /// output.
    fn try_session(&self, folder: &Folder, case: &str) -> Result<CaseOutput> {
        let recorded = RecordedAnswers::read(folder, case)?;
        let mut json = self.facts_json(&recorded);
        let output = |request: &str| recorded.answer(request);
        let facts = self.facts_of(output, |_| {});
        for kind in self.types.iter() {
            let resources = kind.resources(output, Some(&facts));
            let name = kind.schema().name();
            json["resources"][name] = match resources {
                Ok(resources) => json!(resources),
                Err(error) => json!({ "error": error.to_string() }),
            };
        }
        Ok(CaseOutput::new("session.json", Ok(pretty(&json))).without(&recorded))
    }

    /// Returns the facts in these outputs, and the messages about facts that could not be read.
    fn facts_json(&self, recorded: &RecordedAnswers) -> serde_json::Value {
        let mut messages = Vec::new();
        let output = |request: &str| recorded.answer(request);
        let facts = self.facts_of(output, |message| messages.push(message));
        let mut json = json!({ "facts": facts });
        if !messages.is_empty() {
            json["told"] = json!(messages);
        }
        json
    }
}

impl CaseOutput {
    /// The text of a file, or of the error in its place.
    fn new(file: &'static str, text: Result<String>) -> Self {
        let (file, text) = match text {
            Ok(text) => (file, text),
            Err(error) => ("error.txt", format!("{error}\n")),
        };
        Self {
            file,
            text,
            namevars: Vec::new(),
            is_partial: false,
            missing: Vec::new(),
        }
    }

    /// Notes which answers the case does not have.
    fn without(self, recorded: &RecordedAnswers) -> Self {
        Self {
            missing: recorded.take_missing(),
            ..self
        }
    }
}

/// Returns the folders with a `case.yaml` below a folder, or itself, sorted. A folder in `cases/` with nothing of the
/// kind counts, too, so that the missing file is reported.
pub(super) fn case_folders(folder: &Folder, path: &str, depth: usize) -> Result<Vec<String>> {
    let names = folder.names(path)?;
    if names.iter().any(|name| name == FILE) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for name in names {
        let path = format!("{path}/{name}");
        if depth < MAX_DEPTH && folder.is_folder(&path) {
            found.extend(case_folders(folder, &path, depth + 1)?);
        }
    }
    if found.is_empty() && depth == 1 && path.starts_with("cases/") {
        found.push(path.to_owned());
    }
    Ok(found)
}

/// Returns the lines of a case's changes.
fn lines(
    kind: &dyn ResourceType,
    changes: &FileNode<'_>,
    facts: Option<&Facts>,
) -> Result<Vec<String>> {
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
        let (name, mut change) = kind.canonical_change(&name, hash("is"), should)?;
        if is_removal {
            change.should = None;
        }
        lines.extend(kind.render(&name, &change, facts, SecretVisibility::Redacted)?);
    }
    Ok(lines)
}

fn hash(node: &Node) -> Hash {
    match node.to_value() {
        Value::Hash(hash) => hash,
        _ => Hash::new(),
    }
}
