//! Resolves names: entries that are only a text, and conflicts between groups, targets and aliases.

use std::collections::HashMap;

use devgate_schemas::yaml::Node;
use indexmap::IndexMap;

use super::InventoryProblem;
use super::data::TargetData;
use super::group::TargetEntry;
use super::read::{Alias, InventoryReader};
use super::target_name::target_name;
use super::uri::Uri;

/// The names of groups and aliases.
#[derive(Default)]
pub(super) struct Names {
    /// Groups by name.
    pub(super) groups: HashMap<String, usize>,
    /// The targets' names by alias, in the order of the file.
    pub(super) aliases: IndexMap<String, String>,
}

fn position(problem: &InventoryProblem) -> (u32, u32) {
    (problem.line, problem.column)
}

impl InventoryReader<'_> {
    /// Compares all names (Bolt: `resolve_string_targets` and `validate`).
    pub(super) fn names(&mut self) -> Names {
        let mut names = Names::default();
        self.name_aliases(&mut names);
        self.name_bare_targets(&names);
        self.name_groups(&mut names);
        let aliases = std::mem::take(&mut self.aliases);
        for Alias {
            group, alias, node, ..
        } in &aliases
        {
            if self.tree.entries.contains_key(alias) {
                let message = format!("the alias {alias} conflicts with a target of the same name");
                self.problem(node, Some(*group), message);
            }
        }
        self.problems.sort_by_key(position);
        self.warnings.sort_by_key(position);
        names
    }

    /// Turns problems of single targets into problems of the whole inventory.
    pub(super) fn take_faults(&mut self) {
        for entry in self.tree.entries.values_mut() {
            self.problems.append(&mut entry.faults);
        }
        self.problems.sort_by_key(position);
    }

    fn name_aliases(&mut self, names: &mut Names) {
        let aliases = std::mem::take(&mut self.aliases);
        for Alias {
            group,
            alias,
            target,
            node,
        } in &aliases
        {
            match names.aliases.get(alias) {
                Some(other) if other != target => {
                    let message = format!("the alias {alias} refers to both {other} and {target}");
                    self.problem(node, Some(*group), message);
                }
                Some(_) => {}
                None => {
                    names.aliases.insert(alias.clone(), target.clone());
                    let entry = self.tree.entries.entry(target.clone()).or_default();
                    entry.aliases.push(alias.clone());
                }
            }
        }
        self.aliases = aliases;
    }

    /// A text alone is the name or alias of a target that is defined elsewhere, or the URI of a new one.
    fn name_bare_targets(&mut self, names: &Names) {
        for (group, node) in std::mem::take(&mut self.bare) {
            let text = node.as_str().unwrap_or_default();
            let name = match target_name(text) {
                Ok(name) => name,
                Err(message) => {
                    self.bad_text(node, group, message);
                    continue;
                }
            };
            let existing = self.tree.entries.get(&name);
            let name = match names.aliases.get(&name) {
                Some(target) if existing.is_none() => target.clone(),
                _ => name,
            };
            let Some(definition) = self.definition(&name, text, group, node) else {
                continue;
            };
            let entry = self.tree.entries.entry(name.clone()).or_default();
            entry.define(group, definition);
            self.tree.groups[group].targets.push(name);
        }
    }

    fn definition(
        &mut self,
        name: &str,
        text: &str,
        group: usize,
        node: &Node,
    ) -> Option<TargetData> {
        let entry = self.tree.entries.get(name);
        if entry.is_some_and(|entry| entry.in_group(group).is_some()) {
            let message = format!("the target {name} is listed twice, the first entry counts");
            self.warning(node, Some(group), message);
            return None;
        }
        if entry.is_some() {
            return Some(TargetData::default());
        }
        match Uri::parse(text) {
            Ok(uri) => Some(TargetData {
                uri: Some(Box::new(uri)),
                ..TargetData::default()
            }),
            Err(message) => {
                self.bad_text(node, group, format!("invalid uri: {message}"));
                None
            }
        }
    }

    /// Records the problem of a target that is only a text. It has no usable name.
    fn bad_text(&mut self, node: &Node, group: usize, message: String) {
        let fault = self.problem_at((node.line, node.column), Some(group), message);
        self.fault(None, group, vec![fault]);
    }

    fn name_groups(&mut self, names: &mut Names) {
        for group in 0..self.tree.groups.len() {
            let name = self.tree.groups[group].name.clone();
            let node = self.group_nodes[group];
            if self.tree.entries.contains_key(&name) {
                let message = format!("the group {name} conflicts with a target of the same name");
                self.problem(node, Some(group), message);
            }
            if names.aliases.contains_key(&name) {
                let message = format!("the group {name} conflicts with an alias of the same name");
                self.problem(node, Some(group), message);
            }
            if let Some(first) = names.groups.get(&name) {
                let line = self.group_nodes[*first].line;
                let message = format!("the group {name} is defined twice, first at line {line}");
                self.problem(node, Some(group), message);
            } else {
                names.groups.insert(name, group);
            }
        }
    }
}

/// Maps the lower-case names of targets and aliases to the positions of the entries.
pub(super) fn folded(
    entries: &IndexMap<String, TargetEntry>,
    aliases: &IndexMap<String, String>,
) -> HashMap<String, Vec<usize>> {
    let mut folded: HashMap<String, Vec<usize>> = HashMap::with_capacity(entries.len());
    for (index, name) in entries.keys().enumerate() {
        folded.entry(name.to_lowercase()).or_default().push(index);
    }
    for (alias, name) in aliases {
        if let Some(index) = entries.get_index_of(name) {
            folded.entry(alias.to_lowercase()).or_default().push(index);
        }
    }
    folded
}
