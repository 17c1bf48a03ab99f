//! Reads the keys of mappings in an inventory.

use devgate_schemas::yaml::{Mapping, Node};

pub(super) const DATA_KEYS: [&str; 5] = ["config", "facts", "vars", "features", "plugin_hooks"];

/// Returns the value at a key, unless it is a reference. References are resolved later.
pub(super) fn literal_value_of<'n>(mapping: &'n Mapping, key: &str) -> Option<&'n Node> {
    mapping.given(key).filter(|node| !is_reference(node))
}

/// Returns the features. Each may be a reference, and so may all of them together.
pub(super) fn features(mapping: &Mapping) -> &[Node] {
    match mapping.given("features") {
        Some(node) if is_reference(node) => std::slice::from_ref(node),
        node => node.and_then(Node::as_sequence).unwrap_or_default(),
    }
}

pub(super) fn is_reference(node: &Node) -> bool {
    node.get("_plugin").is_some()
}
