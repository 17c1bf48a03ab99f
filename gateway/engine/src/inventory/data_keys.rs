//! Checks the data keys that groups and entries share: config, vars, facts, features, hooks.

use devgate_schemas::yaml::{Mapping, Node};

use super::nodes::{features, is_reference, literal_value_of};
use super::read::{InventoryReader, Owner};
use super::target_kind::{TRANSPORTS, suggest_transport};

/// Options of `remote` that determine how a target is reached, whatever its transport's schema says.
const REMOTE_TEXTS: [&str; 2] = ["remote-transport", "protocol"];

impl InventoryReader {
    /// Checks the data of a group or an entry.
    pub(super) fn check_data(&mut self, mapping: &Mapping, owner: Owner<'_>) {
        for key in ["config", "vars", "facts", "features"] {
            if let Some(node) = mapping.given(key) {
                self.references(node, owner.group);
            }
        }
        if let Some(config) = literal_value_of(mapping, "config").and_then(Node::as_mapping) {
            self.config(config, owner);
        }
        for key in ["config", "vars", "facts", "plugin_hooks"] {
            if let Some(node) = mapping.given(key)
                && node.as_mapping().is_none()
            {
                self.type_problem(node, key, "a mapping", owner);
            }
        }
        if let Some(node) = mapping.given("features")
            && node.as_sequence().is_none()
            && !is_reference(node)
        {
            self.type_problem(node, "features", "a list of texts", owner);
        }
        for feature in features(mapping) {
            if feature.as_str().is_none() && !is_reference(feature) {
                self.type_problem(feature, "features", "a list of texts", owner);
            }
        }
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
        self.problem(node.place(), Some(owner.group), message);
    }

    /// Checks the config. Transports check their own options, except those that determine how a target is reached.
    fn config(&mut self, mapping: &Mapping, owner: Owner<'_>) {
        let known: [&[&str]; 2] = [&["transport"], &TRANSPORTS];
        self.unknown_keys(mapping, &known, owner.group, format_args!("config"));
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
            self.problem(node.place(), Some(owner.group), message);
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
