//! The size of a node, to limit what aliases add to a document.

use super::node::{Mapping, Node, NodeKind};
use crate::Value;

/// The size of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) nodes: usize,
    /// The number of bytes of its texts and keys.
    pub(super) text: usize,
    /// The number of levels below the node.
    pub(super) height: usize,
}

impl Extent {
    /// Returns the size of a node.
    pub(super) fn of(node: &Node) -> Self {
        let own = Self {
            nodes: 1,
            ..Self::default()
        };
        match &node.kind {
            NodeKind::Scalar(Value::String(text)) => Self {
                text: text.len(),
                ..own
            },
            NodeKind::Scalar(_) => own,
            NodeKind::Sequence(items) => items
                .iter()
                .fold(own, |all, inner| all.with(Self::of(inner))),
            NodeKind::Mapping(mapping) => own.with_pairs(mapping),
        }
    }

    /// Adds the pairs of a mapping, one level below.
    pub(super) fn with_pairs(self, mapping: &Mapping) -> Self {
        mapping.iter().fold(self, |mut all, (key, value)| {
            all.text += key.as_str().map_or(0, str::len);
            all.with(Self::of(value))
        })
    }

    fn with(self, inner: Self) -> Self {
        Self {
            nodes: self.nodes + inner.nodes,
            text: self.text + inner.text,
            height: self.height.max(inner.height + 1),
        }
    }
}
