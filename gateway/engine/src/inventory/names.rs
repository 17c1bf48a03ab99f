//! Resolves names: entries that are only a text, and conflicts between groups, targets and aliases.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::InventoryProblem;
use super::group::{Definition, Tree};
use super::read::{Alias, InventoryReader};
use super::target_name::target_name;
use super::uri::Uri;

/// The names of groups and aliases.
#[derive(Default)]
pub(super) struct Names {
    /// Groups by name.
    pub(super) groups: HashMap<String, usize>,
    /// The numbers of the targets' entries by alias, in the order of the file.
    pub(super) aliases: IndexMap<String, usize>,
}

fn position(problem: &InventoryProblem) -> (u32, u32) {
    (problem.line, problem.column)
}

impl InventoryReader {
    /// Compares all names (Bolt: `resolve_string_targets` and `validate`).
    pub(super) fn names(&mut self) -> Names {
        let mut names = Names::default();
        self.name_aliases(&mut names);
        self.name_bare_targets(&names);
        self.name_groups(&mut names);
        for Alias {
            group,
            alias,
            place,
            ..
        } in std::mem::take(&mut self.aliases)
        {
            if self.tree.entries.contains_key(&alias) {
                let message = format!("the alias {alias} conflicts with a target of the same name");
                self.problem(place, Some(group), message);
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
            entry,
            place,
        } in &aliases
        {
            match names.aliases.get(alias) {
                Some(other) if other != entry => {
                    let [other, target] = [*other, *entry].map(|entry| self.tree.name(entry));
                    let message = format!("the alias {alias} refers to both {other} and {target}");
                    self.problem(*place, Some(*group), message);
                }
                Some(_) => {}
                None => {
                    let (number, _) = names.aliases.insert_full(alias.clone(), *entry);
                    self.tree.entries[*entry].aliases.push(number);
                }
            }
        }
        self.aliases = aliases;
    }

    /// A text alone is the name or alias of a target that is defined elsewhere, or the URI of a new one.
    fn name_bare_targets(&mut self, names: &Names) {
        for (group, node) in std::mem::take(&mut self.bare) {
            let text = node.as_str().unwrap_or_default();
            let place = node.place();
            let name = match target_name(text) {
                Ok(name) => name,
                Err(message) => {
                    self.bad_text(place, group, message);
                    continue;
                }
            };
            let entry = match self.tree.entries.get_index_of(&name) {
                None => names.aliases.get(&name).copied(),
                entry => entry,
            };
            let Some(entry) = entry else {
                match Uri::parse(text) {
                    Ok(_) => {
                        let definition = Definition {
                            uri: Some(text.into()),
                            ..Definition::default()
                        };
                        let entry = self.tree.entry(name);
                        self.tree.define(entry, group, definition);
                    }
                    Err(message) => {
                        self.bad_text(place, group, format!("invalid uri: {message}"));
                    }
                }
                continue;
            };
            if self.tree.entries[entry].in_group(group).is_some() {
                let name = self.tree.name(entry);
                let message = format!("the target {name} is listed twice, the first entry counts");
                self.warning(place, Some(group), message);
            } else {
                self.tree.define(entry, group, Definition::default());
            }
        }
    }

    /// Records the problem of a target that is only a text. It has no usable name.
    fn bad_text(&mut self, place: (u32, u32), group: usize, message: String) {
        let fault = self.problem_at(place, Some(group), message);
        self.fault(None, group, vec![fault]);
    }

    fn name_groups(&mut self, names: &mut Names) {
        for group in 0..self.tree.groups.len() {
            let name = self.tree.groups[group].name.clone();
            let place = self.group_places[group];
            if self.tree.entries.contains_key(&name) {
                let message = format!("the group {name} conflicts with a target of the same name");
                self.problem(place, Some(group), message);
            }
            if names.aliases.contains_key(&name) {
                let message = format!("the group {name} conflicts with an alias of the same name");
                self.problem(place, Some(group), message);
            }
            if let Some(first) = names.groups.get(&name) {
                let (line, _) = self.group_places[*first];
                let message = format!("the group {name} is defined twice, first at line {line}");
                self.problem(place, Some(group), message);
            } else {
                names.groups.insert(name, group);
            }
        }
    }
}

/// Finds targets by names and aliases in another case. Only those that are not in lower case are in here: a large inventory
/// has few of them.
pub(super) struct Folded {
    /// The numbers of entries by their lower-case names.
    entries: HashMap<String, Vec<usize>>,
    /// The numbers of aliases by their lower case.
    aliases: HashMap<String, Vec<usize>>,
}

impl Folded {
    pub(super) fn new(tree: &Tree, names: &Names) -> Self {
        Self {
            entries: fold(tree.entries.keys()),
            aliases: fold(names.aliases.keys()),
        }
    }

    /// Returns the numbers of the entries whose name or alias is `name` in any case, in the order of the file.
    pub(super) fn find(&self, name: &str, tree: &Tree, names: &Names) -> Vec<usize> {
        let name = name.to_lowercase();
        let all = |same: Option<usize>, folded: &HashMap<String, Vec<usize>>| {
            let folded = folded.get(&name).into_iter().flatten();
            let mut all: Vec<usize> = folded.copied().chain(same).collect();
            all.sort_unstable();
            all
        };
        let mut entries = all(tree.entries.get_index_of(&name), &self.entries);
        let aliases = all(names.aliases.get_index_of(&name), &self.aliases);
        entries.extend(aliases.into_iter().map(|alias| names.aliases[alias]));
        entries
    }
}

fn fold<'n>(names: impl Iterator<Item = &'n String>) -> HashMap<String, Vec<usize>> {
    let mut folded: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, name) in names.enumerate() {
        let is_lower_case = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
        if !name.bytes().all(is_lower_case) {
            let lower_case = name.to_lowercase();
            // A text that has no upper case is found without this.
            if lower_case != *name {
                folded.entry(lower_case).or_default().push(number);
            }
        }
    }
    folded
}
