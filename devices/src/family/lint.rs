//! Lint: what a family's files say without effect, and what they leave open. A family with findings works.
//!
//! A finding is left out where its line, or the line above, has the comment `# lint: RULE`. The rules:
//!
//! - `dead-key`: a key without effect.
//! - `unused-value`, `unused-file`: a value of a source that nothing uses, a file that nothing reads.
//! - `not-read`, `not-written`: an attribute that no `get` reads, or no change writes.
//! - `not-idempotent`: a canonical form whose own canonical form is another one.
//! - `clears-nothing`: an empty value that changes nothing.
//! - `no-case`: facts, or a type's reading or writing, without a test case.
//! - `no-example`: a type without `example`, or an attribute without `desc`.

mod cases;
mod keys;
mod samples;
mod sources;
mod types;

use std::collections::HashMap;

use devgate_schemas::Value;
use devgate_schemas::yaml::Node;

use super::definition::Family;
use super::folder::FILE;
use super::like::add_like;
use crate::error::Problem;
use crate::file_node::{FileNode, YamlFile};
use crate::{Location, Result};

/// Something in a family's files that has no effect, or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, which a comment `# lint: RULE` names.
    pub rule: &'static str,
    /// Where it is, and what to do.
    pub problem: Problem,
}

/// The findings so far, and the texts of the files, which may permit some.
struct Lint<'f> {
    family: &'f Family,
    findings: Vec<Finding>,
    texts: HashMap<String, String>,
}

impl Family {
    /// Finds what the family's files say without effect, and what they leave open, in the order of files and lines.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub fn lint(&self) -> Result<Vec<Finding>> {
        let mut lint = Lint {
            family: self,
            findings: Vec::new(),
            texts: HashMap::new(),
        };
        let family = lint.yaml(FILE)?;
        let mut types = Vec::new();
        for name in self.folder.names("types")? {
            if name.ends_with(".yaml") {
                let mut file = lint.yaml(&format!("types/{name}"))?;
                add_like(&mut file, &self.folder, &mut Vec::new())?;
                types.push(file);
            }
        }
        let cases = lint.cases()?;
        lint.keys(&family, &types);
        lint.sources(&family, &types)?;
        lint.family_cases(&family, &cases)?;
        for file in &types {
            lint.read_and_written(&file.top());
            lint.described(&file.top());
            let named = file.top().get("name");
            let named = named.and_then(|name| name.node().as_str());
            let kind = self.types.iter();
            let kind = kind
                .into_iter()
                .find(|kind| Some(crate::ResourceType::schema(*kind).name()) == named);
            if let Some(kind) = kind {
                lint.type_cases(&file.top(), kind, &cases)?;
                lint.values(&file.top(), kind, &cases);
            }
        }
        let texts = lint.texts;
        let mut findings = lint.findings;
        findings.retain(|finding| !is_permitted(&texts, finding));
        let place = |finding: &Finding| {
            let Location {
                file, line, column, ..
            } = &finding.problem.location;
            (file.clone(), *line, *column, finding.rule)
        };
        findings.sort_by_key(place);
        findings.dedup();
        Ok(findings)
    }
}

impl Lint<'_> {
    fn found(&mut self, rule: &'static str, at: &FileNode<'_>, message: impl Into<String>) {
        self.found_at(rule, at.location(), message);
    }

    fn found_at(&mut self, rule: &'static str, at: Location, message: impl Into<String>) {
        let problem = at.problem(message);
        self.findings.push(Finding { rule, problem });
    }

    /// A YAML file of the family, whose text is kept for its comments.
    fn yaml(&mut self, path: &str) -> Result<YamlFile> {
        let text = self.family.folder.read(path)?;
        let name = self.family.folder.display_name(path);
        let file = self.family.folder.yaml(path)?;
        self.texts.insert(name, text);
        Ok(file)
    }
}

/// Whether a comment permits a finding.
fn is_permitted(texts: &HashMap<String, String>, finding: &Finding) -> bool {
    let Location { file, line, .. } = &finding.problem.location;
    let Some(text) = texts.get(&**file) else {
        return false;
    };
    let lines = text.lines().skip(line.saturating_sub(2));
    let mut lines = lines.take(if *line > 1 { 2 } else { 1 });
    lines.any(|line| {
        let comment = line.split_once("# lint:").map(|(_, rules)| rules);
        comment.is_some_and(|rules| {
            let mut words = rules.split(|c: char| c.is_whitespace() || c == ',');
            words.any(|word| word == finding.rule)
        })
    })
}

/// All texts in a node, with its keys, except below these keys.
fn texts_in(node: &Node, except: &[&str]) -> String {
    let mut all = String::new();
    add_texts(node, except, &mut all);
    all
}

fn add_texts(node: &Node, except: &[&str], all: &mut String) {
    if let Some(mapping) = node.as_mapping() {
        for (key, node) in mapping.entries() {
            let key = key.to_string();
            if !except.contains(&key.as_str()) {
                all.push_str(&key);
                all.push('\n');
                add_texts(node, except, all);
            }
        }
    } else if let Some(items) = node.as_sequence() {
        items.iter().for_each(|item| add_texts(item, except, all));
    } else if let Some(value) = node.as_scalar() {
        all.push_str(&match value {
            Value::String(text) => text.clone(),
            other => other.to_json().to_string(),
        });
        all.push('\n');
    }
}

/// Whether a text mentions a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !is_part(before) && !is_part(after)
    })
}

/// The form of a type, below the key that its protocol has.
fn form<'a>(top: &FileNode<'a>) -> Option<FileNode<'a>> {
    let mut forms = ["cli", "rest", "netconf", "ovsdb", "panos"].into_iter();
    forms.find_map(|key| top.get(key))
}
