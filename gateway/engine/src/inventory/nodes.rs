//! What a mapping of an inventory has at its keys.

use devgate_schemas::yaml::{Mapping, Node};

pub(super) const DATA_KEYS: [&str; 5] = ["config", "facts", "vars", "features", "plugin_hooks"];

/// The value at a key, unless nothing is said there.
pub(super) fn said<'n>(mapping: &'n Mapping, key: &str) -> Option<&'n Node> {
    mapping.get(key).filter(|node| !node.is_undef())
}

/// The value at a key that was written there: a reference says what it is when it is looked up.
pub(super) fn written<'n>(mapping: &'n Mapping, key: &str) -> Option<&'n Node> {
    said(mapping, key).filter(|node| !is_reference(node))
}

pub(super) fn is_reference(node: &Node) -> bool {
    node.get("_plugin").is_some()
}
