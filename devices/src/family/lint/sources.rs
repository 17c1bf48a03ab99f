//! Values of sources that nothing uses, and templates that nothing reads.

use std::collections::BTreeMap;

use devgate_schemas::yaml::Node;

use super::{Lint, form, mentions, texts_in};
use crate::file_node::{FileNode, YamlFile};
use crate::{Location, Result};

/// A value of a source.
struct SourceValue {
    name: String,
    location: Location,
}

impl Lint<'_> {
    /// Finds values that nothing uses, and templates in files that nothing reads.
    pub(super) fn sources(&mut self, family: &YamlFile, types: &[YamlFile]) -> Result<()> {
        // A template in a file may serve several sources: what any of them uses counts.
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let facts = family.top().get("facts");
        let facts = facts.iter().flat_map(FileNode::items);
        let forms: Vec<FileNode<'_>> = types.iter().filter_map(|file| form(&file.top())).collect();
        let get: Vec<FileNode<'_>> = forms.iter().filter_map(|form| form.get("get")).collect();
        for source in facts.chain(get.iter().flat_map(FileNode::items)) {
            self.source(&source, &mut files);
        }
        for (path, used) in &files {
            let text = self.family.folder.read(path)?;
            let location = Location {
                file: self.family.folder.display_name(path).into(),
                line: 1,
                column: 1,
                key: String::new(),
            };
            self.unused(textfsm_values(&text, &location), used);
        }
        for folder in ["", "types", "templates"] {
            for name in self.family.folder.names(folder)? {
                let path = format!("{folder}/{name}");
                let path = path.trim_start_matches('/');
                let is_template = name.ends_with(".textfsm");
                if is_template && !files.contains_key(path) {
                    let location = Location {
                        file: self.family.folder.display_name(path).into(),
                        line: 1,
                        column: 1,
                        key: String::new(),
                    };
                    let message = "no `textfsm_file` names it: name it, or remove it";
                    self.found_at("unused-file", location, message);
                }
            }
        }
        Ok(())
    }

    fn source(&mut self, source: &FileNode<'_>, files: &mut BTreeMap<String, String>) {
        let used = texts_in(source.node(), &["textfsm", "textfsm_file", "values"]);
        let mut values = Vec::new();
        if let Some(textfsm) = source.get("textfsm") {
            let text = textfsm.node().as_str().unwrap_or_default();
            values.extend(textfsm_values(text, &textfsm.location()));
        }
        if let Some(path) = source.get("textfsm_file")
            && let Some(path) = path.node().as_str()
        {
            files.entry(path.to_owned()).or_default().push_str(&used);
        }
        query_values(source, &mut values);
        self.unused(values, &used);
    }

    fn unused(&mut self, values: Vec<SourceValue>, used: &str) {
        for SourceValue { name, location } in values {
            if !mentions(used, &name) {
                let message = format!("nothing uses the value `{name}`: use it, or leave it out");
                self.found_at("unused-value", location, message);
            }
        }
    }
}

/// The values of a template that must be used to have an effect: one that is required, or a key, selects rows.
fn textfsm_values(text: &str, location: &Location) -> Vec<SourceValue> {
    let mut values = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some(line) = line.trim_start().strip_prefix("Value ") else {
            continue;
        };
        let mut words = line.split_whitespace();
        let (first, second) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let (options, name) = if second.starts_with('(') {
            ("", first)
        } else {
            (first, second)
        };
        let selects = ["Required", "Key"];
        if !options.split(',').any(|option| selects.contains(&option)) {
            values.push(SourceValue {
                name: name.to_owned(),
                location: location.line_of_text(number),
            });
        }
    }
    values
}

/// The values of queries, with those of `each` and `join`.
fn query_values(source: &FileNode<'_>, values: &mut Vec<SourceValue>) {
    let given = source.get("values");
    let given = given.filter(|given| given.node().as_mapping().is_some());
    for (name, file_node) in given.iter().flat_map(|given| given.pairs(&mut Vec::new())) {
        values.push(SourceValue {
            name: name.to_owned(),
            location: file_node.location(),
        });
    }
    for key in ["each", "join"] {
        for inner in source.get(key).iter().flat_map(FileNode::items) {
            if is_mapping(inner.node()) {
                query_values(&inner, values);
            }
        }
    }
}

fn is_mapping(node: &Node) -> bool {
    node.as_mapping().is_some()
}
