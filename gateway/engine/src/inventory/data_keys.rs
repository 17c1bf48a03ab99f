//! Reads the data keys that groups and entries share: config, vars, facts, features, hooks.

use std::collections::BTreeSet;

use devgate_schemas::yaml::{Mapping, Node};
use devgate_schemas::{Hash, Value};

use super::data::{TargetData, without_undef};
use super::nodes::{is_reference, literal_value_of};
use super::read::{InventoryReader, Owner};
use super::target_kind::{TRANSPORTS, suggest_transport};

/// Options of `remote` that determine how a target is reached, whatever its transport's schema says.
const REMOTE_TEXTS: [&str; 2] = ["remote-transport", "protocol"];

impl InventoryReader<'_> {
    pub(super) fn data(&mut self, mapping: &Mapping, owner: Owner<'_>) -> TargetData {
        for key in ["config", "vars", "facts", "features"] {
            if let Some(node) = mapping.given(key) {
                self.references(node, owner.group);
            }
        }
        if let Some(config) = literal_value_of(mapping, "config").and_then(Node::as_mapping) {
            self.config(config, owner);
        }
        let (features, more_features) = self.features(mapping, owner);
        TargetData {
            uri: None,
            config: without_undef(self.hash(mapping, "config", owner)),
            vars: self.hash(mapping, "vars", owner),
            facts: self.hash(mapping, "facts", owner),
            features,
            more_features,
            plugin_hooks: self.hash(mapping, "plugin_hooks", owner),
        }
    }

    fn hash(&mut self, mapping: &Mapping, key: &str, owner: Owner<'_>) -> Hash {
        let Some(node) = mapping.given(key) else {
            return Hash::new();
        };
        if let Value::Hash(hash) = node.to_value() {
            return hash;
        }
        self.type_problem(node, key, "a mapping", owner);
        Hash::new()
    }

    /// Reads the features, and the references to further ones.
    fn features(&mut self, mapping: &Mapping, owner: Owner<'_>) -> (BTreeSet<String>, Vec<Hash>) {
        let (mut features, mut references) = (BTreeSet::new(), Vec::new());
        let Some(node) = mapping.given("features") else {
            return (features, references);
        };
        let items = match node.as_sequence() {
            Some(items) => items,
            None if is_reference(node) => std::slice::from_ref(node),
            None => {
                self.type_problem(node, "features", "a list of texts", owner);
                &[]
            }
        };
        for item in items {
            match (item.as_str(), item.to_value()) {
                (Some(feature), _) => {
                    features.insert(feature.to_owned());
                }
                (None, Value::Hash(reference)) if is_reference(item) => references.push(reference),
                _ => self.type_problem(item, "features", "a list of texts", owner),
            }
        }
        (features, references)
    }

    pub(super) fn type_problem(
        &mut self,
        node: &Node,
        key: &str,
        expected: &str,
        owner: Owner<'_>,
    ) {
        let context = owner
            .target
            .map(|target| format!(" of the target {target}"))
            .unwrap_or_default();
        let message = node.mismatch(&format!("{key}{context} to be {expected}"));
        self.problem(node, Some(owner.group), message);
    }

    /// Reads the config. Transports check their own options, except those that determine how a target is reached.
    fn config(&mut self, mapping: &Mapping, owner: Owner<'_>) {
        let allowed = [&["transport"][..], &TRANSPORTS].concat();
        self.unknown_keys(mapping, &allowed, owner.group, "config");
        if let Some(node) = literal_value_of(mapping, "transport")
            && !node.as_str().is_some_and(|name| TRANSPORTS.contains(&name))
        {
            let expected = format!("one of {}", TRANSPORTS.join(", "));
            let found = match node.as_str() {
                Some(other) => format!("`{other}`"),
                None => node.kind_name().to_owned(),
            };
            let hint = node.as_str().map(suggest_transport).unwrap_or_default();
            let message = format!("expected transport to be {expected}, found {found}{hint}");
            self.problem(node, Some(owner.group), message);
        }
        for name in TRANSPORTS {
            let Some(node) = literal_value_of(mapping, name) else {
                continue;
            };
            let Some(options) = node.as_mapping() else {
                self.type_problem(node, &format!("config.{name}"), "a mapping", owner);
                continue;
            };
            let texts = if name == "remote" {
                &REMOTE_TEXTS[..]
            } else {
                &[]
            };
            if name == "remote"
                && let Some(node) = literal_value_of(options, "run-on")
                && node.as_str().is_none()
                && !node
                    .as_sequence()
                    .is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
            {
                let expected = "a text or a list of texts";
                self.type_problem(node, "config.remote.run-on", expected, owner);
            }
            for key in texts {
                if let Some(node) = literal_value_of(options, key)
                    && node.as_str().is_none()
                {
                    self.type_problem(node, &format!("config.remote.{key}"), "a text", owner);
                }
            }
        }
    }
}
