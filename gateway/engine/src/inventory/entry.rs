//! Reads the entries of `targets`: name, URI and aliases.

use devgate_schemas::yaml::{Mapping, Node};

use super::error::InventoryProblem;
use super::group::Definition;
use super::nodes::DATA_KEYS;
use super::read::{Alias, InventoryReader, Owner};
use super::target_name::{checked_name, illegal, target_name};
use super::uri::Uri;

const TARGET_KEYS: [&str; 3] = ["name", "alias", "uri"];

impl InventoryReader {
    /// Reads an entry. A problem concerns only this entry: the target exists and cannot be used.
    pub(super) fn target(&mut self, node: Node, group: usize) {
        if node.as_str().is_some() {
            return self.bare.push((group, node));
        }
        let before = self.problems.len();
        let name = match identity(&node) {
            Ok(identity) => Some(self.add_definition(node, group, identity)),
            Err((place, message)) => {
                self.problem(place, Some(group), message);
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
        let entry = self.tree.entry(name);
        self.tree.entries[entry].faults.extend(faults);
        if self.tree.entries[entry].in_group(group).is_none() {
            self.tree.define(entry, group, Definition::default());
        }
    }

    /// Returns the name.
    fn add_definition(&mut self, node: Node, group: usize, identity: Identity) -> String {
        let Identity { name, place, uri } = identity;
        let Ok(mut mapping) = node.into_mapping() else {
            return name;
        };
        let entry = self.tree.entries.get(&name);
        if entry.is_some_and(|entry| entry.in_group(group).is_some()) {
            let message = format!("the target {name} is listed twice, the first entry counts");
            self.warning(place, Some(group), message);
            return name;
        }
        let differs = |other: &Definition| other.uri.is_some() && uri.is_some() && other.uri != uri;
        if entry.is_some_and(|entry| entry.definitions().any(differs)) {
            let message = format!(
                "entries of the target {name} give different uris: the innermost group wins, among siblings the \
                 first"
            );
            self.warning(place, Some(group), message);
        }
        let context = format_args!("the target {name}");
        self.unknown_keys(&mapping, &[&DATA_KEYS, &TARGET_KEYS], group, context);
        let owner = Owner {
            group,
            target: Some(&name),
        };
        self.check_data(&mapping, owner);
        let entry = self.tree.entry(name.clone());
        self.aliases(&mapping, &name, entry, group);
        mapping.retain(|key| DATA_KEYS.contains(&key));
        self.tree.define(entry, group, Definition { uri, mapping });
        name
    }

    fn aliases(&mut self, mapping: &Mapping, target: &str, entry: usize, group: usize) {
        let Some(node) = mapping.given("alias") else {
            return;
        };
        let items = node
            .as_sequence()
            .unwrap_or_else(|| std::slice::from_ref(node));
        for item in items {
            let place = item.place();
            match item.as_str().map(|alias| (alias, illegal(alias))) {
                Some(("", _)) => {
                    self.problem(place, Some(group), format!("expected an alias of {target}"));
                }
                Some((alias, None)) => self.aliases.push(Alias {
                    group,
                    alias: alias.to_owned(),
                    entry,
                    place,
                }),
                Some((_, Some(character))) => {
                    let message =
                        format!("illegal character {character:?} in an alias of {target}");
                    self.problem(place, Some(group), message);
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

/// The name of an entry with keys, its line and column, and its URI.
struct Identity {
    name: String,
    place: (u32, u32),
    uri: Option<Box<str>>,
}

fn identity(node: &Node) -> Result<Identity, ((u32, u32), String)> {
    let Some(mapping) = node.as_mapping() else {
        let message = node.mismatch("a target to be a text or a mapping");
        return Err((node.place(), message));
    };
    let (name, uri) = (mapping.given("name"), mapping.given("uri"));
    let parsed = match uri {
        Some(node) => {
            let text = text(node, "uri")?;
            let target = name.and_then(Node::as_str);
            let uri = Uri::parse(text).map_err(|message| {
                let target =
                    target.map_or_else(String::new, |name| format!(" of the target {name}"));
                (node.place(), format!("invalid uri{target}: {message}"))
            })?;
            Some((text, uri))
        }
        None => None,
    };
    let (node, name) = match (name, uri, &parsed) {
        (Some(node), _, _) => (node, target_name(text(node, "name")?)),
        (None, Some(node), Some((_, uri))) => (node, checked_name(uri.to_string())),
        _ => {
            let message = "expected a target to have a name or a uri";
            return Err((node.place(), message.to_owned()));
        }
    };
    Ok(Identity {
        name: name.map_err(|message| (node.place(), message))?,
        place: node.place(),
        uri: parsed.map(|(text, _)| text.into()),
    })
}

fn text<'n>(node: &'n Node, key: &str) -> Result<&'n str, ((u32, u32), String)> {
    let message = match node.as_str() {
        Some("") => format!("expected a target's {key} that is not empty"),
        Some(text) => return Ok(text),
        None => node.mismatch(&format!("a target's {key} to be a text")),
    };
    Err((node.place(), message))
}
