//! A node of a document: what it holds and where it stands.

use std::fmt;

use crate::{Key, Value};

use super::Error;

/// A scalar, a sequence or a mapping, with the place where it was written.
///
/// A node that came through an alias or a merge keeps the place of its original. The `Debug` form
/// shows kinds and keys, never a scalar.
#[derive(Clone)]
pub struct Node {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What the node holds.
    pub kind: Kind,
}

/// A key of a [`Mapping`], with the place where it was written.
#[derive(Clone)]
pub struct KeyNode {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The key as it is in a [`Hash`](crate::Hash).
    pub key: Key,
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
///
/// Mappings are many and small: their keys are compared one by one.
pub struct Mapping(Vec<(KeyNode, Node)>);

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
                    .map(|(key, node)| (key.key.clone(), node.to_value()))
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
            Kind::Scalar(Value::Sensitive(_)) => "a secret",
            Kind::Scalar(_) => "a text",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        }
    }

    /// An error at this node, for what is found wrong with it later.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at(self)
    }

    /// A value as if it had been written at the place of another node: what a lookup has given.
    pub fn of(value: Value, line: u32, column: u32) -> Self {
        let kind = match value {
            Value::Array(items) => {
                let items = items.into_iter();
                Kind::Sequence(items.map(|item| Self::of(item, line, column)).collect())
            }
            Value::Hash(pairs) => {
                let pairs = pairs.into_iter().map(|(key, value)| {
                    let key = KeyNode { line, column, key };
                    (key, Self::of(value, line, column))
                });
                Kind::Mapping(Mapping(pairs.collect()))
            }
            scalar => Kind::Scalar(scalar),
        };
        Self { line, column, kind }
    }

    pub(super) fn new(line: usize, column: usize, kind: Kind) -> Self {
        Self {
            line: place(line),
            column: place(column),
            kind,
        }
    }
}

impl KeyNode {
    /// The text of a text key.
    pub fn as_str(&self) -> Option<&str> {
        self.key.as_str()
    }

    /// An error at this key.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at_key(self)
    }
}

/// Lines and columns as they are kept: documents that need more do not fit into memory.
fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Mapping {
    /// The value at a text key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let mut pairs = self.0.iter();
        let (_, value) = pairs.find(|(known, _)| known.as_str() == Some(key))?;
        Some(value)
    }

    /// The value at a text key, to be changed in its place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let mut pairs = self.0.iter_mut();
        let (_, value) = pairs.find(|(known, _)| known.as_str() == Some(key))?;
        Some(value)
    }

    /// The pairs in order, with the places of both.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&KeyNode, &Node)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The pairs in order, keys as they are in a [`Hash`](crate::Hash).
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        self.0.iter().map(|(key, value)| (&key.key, value))
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn new(pairs: Vec<(KeyNode, Node)>) -> Self {
        Self(pairs)
    }

    pub(super) fn pairs(&self) -> std::slice::Iter<'_, (KeyNode, Node)> {
        self.0.iter()
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
