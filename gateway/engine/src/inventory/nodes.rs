//! Reads the keys of mappings in an inventory.

use devgate_schemas::yaml::{Mapping, Node};

pub(super) const DATA_KEYS: [&str; 5] = ["config", "facts", "vars", "features", "plugin_hooks"];

/// Returns the value at a key, unless it is a reference. References are resolved later.
pub(super) fn literal_value_of<'n>(mapping: &'n Mapping, key: &str) -> Option<&'n Node> {
    mapping.given(key).filter(|node| !is_reference(node))
}

pub(super) fn is_reference(node: &Node) -> bool {
    node.get("_plugin").is_some()
}
