//! Reads the entries of `targets`: name, URI and aliases.

use devgate_schemas::yaml::{Mapping, Node};

use super::data::TargetData;
use super::error::InventoryProblem;
use super::nodes::DATA_KEYS;
use super::read::{Alias, InventoryReader, Owner};
use super::target_name::{checked_name, illegal, target_name};
use super::uri::Uri;

const TARGET_KEYS: [&str; 3] = ["name", "alias", "uri"];

impl<'n> InventoryReader<'n> {
    /// Reads an entry. A problem concerns only this entry: the target exists and cannot be used.
    pub(super) fn target(&mut self, node: &'n Node, group: usize) {
        if node.as_str().is_some() {
            return self.bare.push((group, node));
        }
        let before = self.problems.len();
        let name = match identity(node) {
            Ok(Identity {
                name,
                node: name_node,
                uri,
            }) => {
                self.add_definition(node, group, &name, name_node, uri);
                Some(name)
            }
            Err((name_node, message)) => {
                self.problem(name_node, Some(group), message);
                let name = node.get("name").and_then(Node::as_str);
                name.and_then(|name| target_name(name).ok())
            }
        };
        let faults = self.problems.split_off(before);
        self.fault(name, group, faults);
    }

    /// Records the problems of an entry under its name, or else under its position.
    pub(super) fn fault(
        &mut self,
        name: Option<String>,
        group: usize,
        faults: Vec<InventoryProblem>,
    ) {
        let Some(first) = faults.first() else {
            return;
        };
        let name = name.unwrap_or_else(|| first.position());
        let entry = self.tree.entries.entry(name.clone()).or_default();
        entry.faults.extend(faults);
        if entry.in_group(group).is_none() {
            entry.define(group, TargetData::default());
            self.tree.groups[group].targets.push(name);
        }
    }

    fn add_definition(
        &mut self,
        node: &'n Node,
        group: usize,
        name: &str,
        name_node: &'n Node,
        uri: Option<Uri>,
    ) {
        let Some(mapping) = node.as_mapping() else {
            return;
        };
        let entry = self.tree.entries.get(name);
        if entry.is_some_and(|entry| entry.in_group(group).is_some()) {
            let message = format!("the target {name} is listed twice, the first entry counts");
            return self.warning(name_node, Some(group), message);
        }
        let uri = uri.map(Box::new);
        let differs = |other: &TargetData| other.uri.is_some() && uri.is_some() && other.uri != uri;
        if entry.is_some_and(|entry| entry.definitions().any(differs)) {
            let message = format!(
                "entries of the target {name} give different uris: the innermost group wins, among siblings the \
                 first"
            );
            self.warning(name_node, Some(group), message);
        }
        let known = [&DATA_KEYS[..], &TARGET_KEYS].concat();
        self.unknown_keys(mapping, &known, group, &format!("the target {name}"));
        let owner = Owner {
            group,
            target: Some(name),
        };
        let data = TargetData {
            uri,
            ..self.data(mapping, owner)
        };
        self.aliases(mapping, name, group);
        let entry = self.tree.entries.entry(name.to_owned()).or_default();
        entry.define(group, data);
        self.tree.groups[group].targets.push(name.to_owned());
    }

    fn aliases(&mut self, mapping: &'n Mapping, target: &str, group: usize) {
        let Some(node) = mapping.given("alias") else {
            return;
        };
        let items = node
            .as_sequence()
            .unwrap_or_else(|| std::slice::from_ref(node));
        for item in items {
            match item.as_str().map(|alias| (alias, illegal(alias))) {
                Some(("", _)) => {
                    self.problem(item, Some(group), format!("expected an alias of {target}"));
                }
                Some((alias, None)) => {
                    let (alias, target) = (alias.to_owned(), target.to_owned());
                    self.aliases.push(Alias {
                        group,
                        alias,
                        target,
                        node: item,
                    });
                }
                Some((_, Some(character))) => {
                    let message =
                        format!("illegal character {character:?} in an alias of {target}");
                    self.problem(item, Some(group), message);
                }
                None => self.type_problem(
                    item,
                    "alias",
                    "a text or a list of texts",
                    Owner {
                        group,
                        target: Some(target),
                    },
                ),
            }
        }
    }
}

/// The name of an entry with keys, its position, and its URI.
struct Identity<'n> {
    name: String,
    node: &'n Node,
    uri: Option<Uri>,
}

fn identity(node: &Node) -> Result<Identity<'_>, (&Node, String)> {
    let Some(mapping) = node.as_mapping() else {
        return Err((node, node.mismatch("a target to be a text or a mapping")));
    };
    let part = |key: &str| mapping.get(key).filter(|node| !node.is_undef());
    let (name, uri) = (part("name"), part("uri"));
    let parsed = match uri {
        Some(node) => {
            let uri = Uri::parse(text(node, "uri")?);
            let target = name.and_then(Node::as_str);
            let target = target.map_or_else(String::new, |name| format!(" of the target {name}"));
            Some(uri.map_err(|message| (node, format!("invalid uri{target}: {message}")))?)
        }
        None => None,
    };
    let (node, name_result) = match (name, uri, &parsed) {
        (Some(node), _, _) => (node, target_name(text(node, "name")?)),
        (None, Some(node), Some(uri)) => (node, checked_name(uri.to_string())),
        _ => return Err((node, "expected a target to have a name or a uri".to_owned())),
    };
    let name = name_result.map_err(|message| (node, message))?;
    Ok(Identity {
        name,
        node,
        uri: parsed,
    })
}

fn text<'n>(node: &'n Node, key: &str) -> Result<&'n str, (&'n Node, String)> {
    match node.as_str() {
        Some("") => Err((node, format!("expected a target's {key} that is not empty"))),
        Some(text) => Ok(text),
        None => {
            let expected = format!("a target's {key} to be a text");
            Err((node, node.mismatch(&expected)))
        }
    }
}
