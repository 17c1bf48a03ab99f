//! A node of a document: what it holds and where it stands.

use std::fmt;

use indexmap::IndexMap;

use crate::{Key, Value};

use super::Error;

/// A scalar, a sequence or a mapping, with the place where it was written.
///
/// A node that came through an alias or a merge keeps the place of its original. The `Debug` form
/// shows kinds and keys, never a scalar.
#[derive(Clone)]
pub struct Node {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What the node holds.
    pub kind: Kind,
}

/// What a [`Node`] holds.
#[derive(Clone)]
pub enum Kind {
    /// A single value: neither an array nor a hash.
    Scalar(Value),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values.
    Mapping(Mapping),
}

/// The keys and values of a mapping in the order in which they were written.
#[derive(Clone, Default)]
pub struct Mapping(IndexMap<Key, (Node, Node)>);

impl Node {
    /// The node as a value, without its places.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Sequence(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Mapping(mapping) => Value::Hash(
                mapping
                    .0
                    .iter()
                    .map(|(key, (_, node))| (key.clone(), node.to_value()))
                    .collect(),
            ),
        }
    }

    /// The keys and values of a mapping.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.kind {
            Kind::Mapping(mapping) => Some(mapping),
            Kind::Scalar(_) | Kind::Sequence(_) => None,
        }
    }

    /// The items of a sequence.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            Kind::Scalar(_) | Kind::Mapping(_) => None,
        }
    }

    /// The value of a scalar.
    pub fn as_scalar(&self) -> Option<&Value> {
        match &self.kind {
            Kind::Scalar(value) => Some(value),
            Kind::Sequence(_) | Kind::Mapping(_) => None,
        }
    }

    /// The text of a text.
    pub fn as_str(&self) -> Option<&str> {
        self.as_scalar().and_then(Value::as_str)
    }

    /// Whether nothing stands here, or `null`.
    pub fn is_undef(&self) -> bool {
        self.as_scalar().is_some_and(Value::is_undef)
    }

    /// The value at a text key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_mapping().and_then(|mapping| mapping.get(key))
    }

    /// The name of the node's kind, for messages: "a text", "an integer", "a mapping".
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar(Value::Undef) => "nothing",
            Kind::Scalar(Value::Boolean(_)) => "a boolean",
            Kind::Scalar(Value::Integer(_)) => "an integer",
            Kind::Scalar(Value::Float(_)) => "a float",
            Kind::Scalar(_) => "a text",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        }
    }

    /// An error at this node, for what is found wrong with it later.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at(self)
    }

    pub(super) fn new(line: usize, column: usize, kind: Kind) -> Self {
        Self { line, column, kind }
    }
}

impl Mapping {
    /// The value at a text key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(&Key::from(key)).map(|(_, value)| value)
    }

    /// The pairs in order, keys and values as nodes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Node, &Node)> {
        self.0.values().map(|(key, value)| (key, value))
    }

    /// The pairs in order, keys as they are in a [`Hash`](crate::Hash).
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        self.0.iter().map(|(key, (_, value))| (key, value))
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pairs(&self) -> indexmap::map::Iter<'_, Key, (Node, Node)> {
        self.0.iter()
    }

    pub(super) fn entry(&mut self, key: Key) -> indexmap::map::Entry<'_, Key, (Node, Node)> {
        self.0.entry(key)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Scalar(_) => f.write_str(self.kind_name()),
            Kind::Sequence(items) => f.debug_list().entries(items).finish(),
            Kind::Mapping(mapping) => mapping.fmt(f),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(_) => f.write_str("a scalar"),
            Self::Sequence(items) => f.debug_list().entries(items).finish(),
            Self::Mapping(mapping) => mapping.fmt(f),
        }
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.entries().map(|(key, value)| (key.to_string(), value)))
            .finish()
    }
}
