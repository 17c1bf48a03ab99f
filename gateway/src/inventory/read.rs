//! From a document to groups and entries: the shape of Bolt's inventory version 2, all problems at once.

use devgate_schemas::yaml::{Mapping, Node};
use devgate_schemas::{Value, did_you_mean};

use super::data::Data;
use super::entry::illegal;
use super::error::Problem;
use super::group::{Group, Tree};
use super::settings::Owner;

pub(super) const DATA_KEYS: [&str; 5] = ["config", "facts", "vars", "features", "plugin_hooks"];
const GROUP_KEYS: [&str; 3] = ["name", "groups", "targets"];

/// What a document says, before the names in it are compared with each other.
#[derive(Default)]
pub(super) struct Reading<'n> {
    pub(super) file: String,
    pub(super) tree: Tree,
    /// Where each group is named.
    pub(super) group_places: Vec<&'n Node>,
    /// Entries that are a text alone: a new target, or the name or alias of one defined elsewhere.
    pub(super) bare: Vec<(usize, &'n Node)>,
    pub(super) aliases: Vec<Alias<'n>>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// One more name of a target.
pub(super) struct Alias<'n> {
    pub(super) group: usize,
    pub(super) alias: String,
    pub(super) target: String,
    pub(super) place: &'n Node,
}

impl<'n> Reading<'n> {
    pub(super) fn new(file: &str, root: &'n Node) -> Self {
        let mut reading = Self {
            file: file.to_owned(),
            ..Self::default()
        };
        reading.references(root);
        if root.is_undef() {
            reading.tree.groups.push(group("all".to_owned(), None));
            reading.group_places.push(root);
        } else {
            reading.group(root, None);
        }
        reading
    }

    pub(super) fn problem(
        &mut self,
        node: &Node,
        group: Option<usize>,
        message: impl Into<String>,
    ) {
        let problem = self.place(node, group, message.into());
        self.problems.push(problem);
    }

    pub(super) fn warning(
        &mut self,
        node: &Node,
        group: Option<usize>,
        message: impl Into<String>,
    ) {
        let warning = self.place(node, group, message.into());
        self.warnings.push(warning);
    }

    fn place(&self, node: &Node, group: Option<usize>, message: String) -> Problem {
        Problem {
            file: self.file.clone(),
            line: node.line,
            column: node.column,
            path: group.map_or_else(Vec::new, |group| self.tree.path(group)),
            message,
        }
    }

    /// Plugins would fill these in; without them nothing may pass for a value.
    fn references(&mut self, node: &Node) {
        if let Some(mapping) = node.as_mapping() {
            if let Some(plugin) = mapping.get("_plugin") {
                let name = plugin.as_str().unwrap_or("without a name");
                self.problem(
                    plugin,
                    None,
                    format!(
                        "expected a value, found a reference to the plugin {name}: plugins are not \
                         supported, write the value itself"
                    ),
                );
            }
            mapping.iter().for_each(|(_, value)| self.references(value));
        }
        node.as_sequence()
            .into_iter()
            .flatten()
            .for_each(|item| self.references(item));
    }

    fn group(&mut self, node: &'n Node, parent: Option<usize>) {
        if is_reference(node) {
            return;
        }
        let Some(mapping) = node.as_mapping() else {
            let found = node.kind_name();
            return self.problem(
                node,
                parent,
                format!("expected a group to be a mapping, found {found}"),
            );
        };
        let (name, place) = match (parent, mapping.get("name")) {
            (None, _) => ("all".to_owned(), node),
            (Some(_), None) => {
                return self.problem(node, parent, "expected a group to have a name");
            }
            (Some(_), Some(name)) => match name.as_str() {
                Some(text) if !text.is_empty() => (text.to_owned(), name),
                Some(_) => return self.problem(name, parent, "expected a group to have a name"),
                None => {
                    let found = name.kind_name();
                    let message = format!("expected a group's name to be a text, found {found}");
                    return self.problem(name, parent, message);
                }
            },
        };
        let this = self.tree.groups.len();
        self.tree.groups.push(group(name.clone(), parent));
        self.group_places.push(place);
        if let Some(parent) = parent {
            self.tree.groups[parent].children.push(this);
        }
        if let Some(character) = illegal(&name) {
            self.problem(
                place,
                Some(this),
                format!("illegal character {character:?} in the group's name"),
            );
        }
        self.version(mapping, this);
        let extra = if parent.is_none() { "version" } else { "name" };
        self.unknown_keys(
            mapping,
            &[&DATA_KEYS[..], &GROUP_KEYS, &[extra]].concat(),
            this,
            "the group",
        );
        self.tree.groups[this].data = self.data(mapping, Owner::group(this));
        for entry in self.list(mapping, "targets", this) {
            self.target(entry, this);
        }
        for inner in self.list(mapping, "groups", this) {
            self.group(inner, Some(this));
        }
    }

    fn version(&mut self, mapping: &Mapping, group: usize) {
        if let Some(nodes) = mapping.get("nodes") {
            self.problem(
                nodes,
                Some(group),
                "expected `targets`, found `nodes`: this looks like an inventory of version 1, \
                 expected version 2",
            );
        }
        match mapping.get("version") {
            Some(version) if group == 0 && version.as_scalar() != Some(&Value::Integer(2)) => {
                self.problem(
                    version,
                    None,
                    "expected version 2 of the inventory, found another",
                );
            }
            _ => {}
        }
    }

    fn list(&mut self, mapping: &'n Mapping, key: &str, group: usize) -> &'n [Node] {
        let Some(node) = said(mapping, key) else {
            return &[];
        };
        node.as_sequence().unwrap_or_else(|| {
            self.wrong(node, key, "a list", Owner::group(group));
            &[]
        })
    }

    pub(super) fn unknown_keys(
        &mut self,
        mapping: &Mapping,
        known: &[&str],
        group: usize,
        of: &str,
    ) {
        for (node, _) in mapping.iter() {
            let key = match node.as_scalar() {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Integer(number)) => number.to_string(),
                _ => continue,
            };
            if known.contains(&key.as_str()) || key == "_plugin" || key == "nodes" {
                continue;
            }
            let hint = did_you_mean(&key, known.iter().copied());
            self.warning(
                node,
                Some(group),
                format!("unknown key `{key}` in {of}{hint}"),
            );
        }
    }
}

/// The value at a key, unless nothing is said there, or a plugin would have to say it.
pub(super) fn said<'n>(mapping: &'n Mapping, key: &str) -> Option<&'n Node> {
    mapping
        .get(key)
        .filter(|node| !node.is_undef() && !is_reference(node))
}

pub(super) fn is_reference(node: &Node) -> bool {
    node.get("_plugin").is_some()
}

fn group(name: String, parent: Option<usize>) -> Group {
    Group {
        name,
        parent,
        children: Vec::new(),
        data: Data::default(),
        targets: Vec::new(),
    }
}
