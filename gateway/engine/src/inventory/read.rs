//! Reads a document into groups and entries (Bolt's inventory version 2), and collects all problems. The document is
//! consumed, so that a large one is not in memory twice.

use std::collections::HashMap;
use std::fmt;

use devgate_schemas::yaml::{Mapping, Node};
use devgate_schemas::{Value, did_you_mean};

use super::data::TargetData;
use super::error::InventoryProblem;
use super::group::{Group, Tree};
use super::loaded::NOT_BOLT;
use super::nodes::DATA_KEYS;
use super::reference_key;
use super::target_name::illegal;
const GROUP_KEYS: [&str; 3] = ["name", "groups", "targets"];

/// The contents of a document, before the names in it are compared.
#[derive(Default)]
pub(super) struct InventoryReader {
    pub(super) file: String,
    pub(super) tree: Tree,
    /// The line and column of each group's name.
    pub(super) group_places: Vec<(u32, u32)>,
    /// Entries that are only a text: a new target, or the name or alias of one that is defined elsewhere.
    pub(super) bare: Vec<(usize, Node)>,
    pub(super) aliases: Vec<Alias>,
    /// The first position of each reference to a plugin.
    pub(super) references: HashMap<String, InventoryProblem>,
    pub(super) problems: Vec<InventoryProblem>,
    pub(super) warnings: Vec<InventoryProblem>,
}

/// A further name of a target.
pub(super) struct Alias {
    pub(super) group: usize,
    pub(super) alias: String,
    /// The number of the target's entry.
    pub(super) entry: usize,
    /// The line and column.
    pub(super) place: (u32, u32),
}

impl InventoryReader {
    pub(super) fn new(file: &str, root: Node) -> Self {
        let mut reader = Self {
            file: file.to_owned(),
            ..Self::default()
        };
        if root.is_undef() {
            reader.tree.groups.push(group("all".to_owned(), None));
            reader.group_places.push(root.place());
        } else {
            reader.group(root, None);
        }
        reader
    }

    pub(super) fn problem(
        &mut self,
        place: (u32, u32),
        group: Option<usize>,
        message: impl Into<String>,
    ) {
        let problem = self.problem_at(place, group, message.into());
        self.problems.push(problem);
    }

    pub(super) fn warning(
        &mut self,
        place: (u32, u32),
        group: Option<usize>,
        message: impl Into<String>,
    ) {
        let warning = self.problem_at(place, group, message.into());
        self.warnings.push(warning);
    }

    pub(super) fn problem_at(
        &self,
        (line, column): (u32, u32),
        group: Option<usize>,
        message: String,
    ) -> InventoryProblem {
        InventoryProblem {
            file: self.file.clone(),
            line,
            column,
            path: group.map_or_else(Vec::new, |group| self.tree.path(group)),
            message,
        }
    }

    /// Records the positions of references to plugins, for later messages.
    pub(super) fn references(&mut self, node: &Node, group: usize) {
        if let Some(mapping) = node.as_mapping() {
            match mapping.get("_plugin") {
                Some(plugin) if plugin.as_str().is_none() => {
                    let message = plugin.mismatch("`_plugin` to name a plugin");
                    self.problem(plugin.place(), Some(group), message);
                }
                Some(_) => {
                    let location = self.problem_at(node.place(), Some(group), String::new());
                    let reference = reference_key(&node.to_value());
                    self.references.entry(reference).or_insert(location);
                }
                None => {}
            }
            mapping
                .iter()
                .for_each(|(_, value)| self.references(value, group));
        }
        node.as_sequence()
            .into_iter()
            .flatten()
            .for_each(|item| self.references(item, group));
    }

    fn group(&mut self, node: Node, parent: Option<usize>) {
        let place = node.place();
        let mut mapping = match node.into_mapping() {
            Ok(mapping) => mapping,
            Err(node) => {
                let message = node.mismatch("a group to be a mapping");
                return self.problem(place, parent, message);
            }
        };
        let (name, name_place) = match (parent, mapping.get("name")) {
            (None, _) => ("all".to_owned(), place),
            (Some(_), None) => {
                return self.problem(place, parent, "expected a group to have a name");
            }
            (Some(_), Some(name)) => match name.as_str() {
                Some(text) if !text.is_empty() => (text.to_owned(), name.place()),
                Some(_) => {
                    return self.problem(name.place(), parent, "expected a group to have a name");
                }
                None => {
                    let message = name.mismatch("a group's name to be a text");
                    return self.problem(name.place(), parent, message);
                }
            },
        };
        let this = self.tree.groups.len();
        let illegal = illegal(&name);
        self.tree.groups.push(group(name, parent));
        self.group_places.push(name_place);
        if let Some(parent) = parent {
            self.tree.groups[parent].children.push(this);
        }
        if let Some(character) = illegal {
            let message = format!("illegal character {character:?} in the group's name");
            self.problem(name_place, Some(this), message);
        }
        self.version(&mapping, this);
        if parent.is_none() {
            self.check_origin(&mapping);
        }
        let extra = if parent.is_none() { "version" } else { "name" };
        self.unknown_keys(
            &mapping,
            &[&DATA_KEYS, &GROUP_KEYS, &[extra]],
            this,
            format_args!("the group"),
        );
        self.check_data(&mapping, Owner::group(this));
        self.tree.groups[this].data = TargetData::of(&mapping);
        let [targets, groups] = ["targets", "groups"].map(|key| self.list(&mut mapping, key, this));
        drop(mapping);
        for entry in targets {
            self.target(entry, this);
        }
        for inner in groups {
            self.group(inner, Some(this));
        }
    }

    /// Warns about an inventory of Ansible: groups by name, with `hosts` or `children`.
    fn check_origin(&mut self, mapping: &Mapping) {
        let is_ansible = mapping.iter().find_map(|(_, group)| {
            let keys = group.as_mapping()?;
            let found = ["hosts", "children"]
                .into_iter()
                .find_map(|key| keys.get(key));
            found.filter(|node| node.as_mapping().is_some())
        });
        if let Some(node) = is_ansible {
            let message = format!("found a group of Ansible{NOT_BOLT}");
            self.warning(node.place(), None, message);
        }
    }

    fn version(&mut self, mapping: &Mapping, group: usize) {
        if let Some(nodes) = mapping.get("nodes") {
            self.problem(
                nodes.place(),
                Some(group),
                "expected `targets`, found `nodes`: this looks like an inventory of version 1, \
                 expected version 2",
            );
        }
        match mapping.get("version") {
            Some(version) if group == 0 && version.as_scalar() != Some(&Value::Integer(2)) => {
                let found = match version.as_scalar() {
                    Some(other) => other.to_json().to_string(),
                    None => version.kind_name().to_owned(),
                };
                let message = format!("expected version 2 of the inventory, found {found}");
                self.problem(version.place(), None, message);
            }
            _ => {}
        }
    }

    /// Takes a list out of a mapping.
    fn list(&mut self, mapping: &mut Mapping, key: &str, group: usize) -> Vec<Node> {
        match mapping.remove(key).map(Node::into_sequence) {
            None => Vec::new(),
            Some(Ok(items)) => items,
            Some(Err(node)) => {
                if !node.is_undef() {
                    self.type_problem(&node, key, "a list", Owner::group(group));
                }
                Vec::new()
            }
        }
    }

    /// Warns about the keys of a mapping that are in none of these lists.
    pub(super) fn unknown_keys(
        &mut self,
        mapping: &Mapping,
        known: &[&[&str]],
        group: usize,
        context: fmt::Arguments<'_>,
    ) {
        let is_known = |name: &str| {
            name == "_plugin" || name == "nodes" || known.iter().any(|keys| keys.contains(&name))
        };
        for (node, _) in mapping.iter() {
            if node.as_str().is_some_and(is_known) {
                continue;
            }
            let key = node.key.to_string();
            let hint = did_you_mean(&key, known.concat());
            let message = format!("unknown key `{key}` in {context}{hint}");
            self.warning((node.line, node.column), Some(group), message);
        }
    }
}

fn group(name: String, parent: Option<usize>) -> Group {
    Group {
        name,
        parent,
        children: Vec::new(),
        data: TargetData::default(),
        targets: Vec::new(),
    }
}

/// The owner of data: a group, or an entry in it.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) group: usize,
    pub(super) target: Option<&'a str>,
}

impl Owner<'_> {
    pub(super) fn group(group: usize) -> Self {
        Self {
            group,
            target: None,
        }
    }
}
