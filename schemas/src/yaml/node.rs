//! A node of a document: its content and its place.

use std::fmt;

use super::Error;
use crate::{Key, Value};

/// A scalar, a sequence or a mapping, with its place in the document.
///
/// A node from an alias or a merge keeps the place of its original. The `Debug` form shows kinds and keys,
/// but never a scalar.
#[derive(Clone)]
pub struct Node {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The content of the node.
    pub kind: NodeKind,
}

/// A key of a [`Mapping`], with its place in the document.
#[derive(Clone)]
pub struct KeyNode {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The key, as in a [`Hash`](crate::Hash).
    pub key: Key,
}

/// The content of a [`Node`].
#[derive(Clone)]
pub enum NodeKind {
    /// A single value: neither an array nor a hash.
    Scalar(Value),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values.
    Mapping(Mapping),
}

/// The keys and values of a mapping, in the order in which they were written.
#[derive(Clone, Default)]
///
/// Mappings are numerous and small, so their keys are searched linearly.
pub struct Mapping(Vec<(KeyNode, Node)>);

impl Node {
    /// Adds what another node says and this one does not: pairs of mappings, at every depth. A pair that is `null` here
    /// is left out. Calls `added` with the path of each added node, below `path`.
    pub fn add_missing(&mut self, other: &Self, path: &str, added: &mut dyn FnMut(String)) {
        let (NodeKind::Mapping(own), NodeKind::Mapping(other)) = (&mut self.kind, &other.kind)
        else {
            return;
        };
        let mut pairs = Vec::with_capacity(own.0.len() + other.0.len());
        for (key, node) in &other.0 {
            let separator = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{separator}{}", key.key);
            let Some(at) = own.0.iter().position(|(known, _)| known.key == key.key) else {
                pairs.push((key.clone(), node.clone()));
                added(path);
                continue;
            };
            let (key, mut own) = own.0.remove(at);
            if !own.is_undef() {
                own.add_missing(node, &path, added);
                pairs.push((key, own));
            }
        }
        pairs.append(&mut own.0);
        own.0 = pairs;
    }

    /// Converts the node to a value without places.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::Sequence(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            NodeKind::Mapping(mapping) => Value::Hash(
                mapping
                    .0
                    .iter()
                    .map(|(key, node)| (key.key.clone(), node.to_value()))
                    .collect(),
            ),
        }
    }

    /// Returns the mapping, if the node is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.kind {
            NodeKind::Mapping(mapping) => Some(mapping),
            NodeKind::Scalar(_) | NodeKind::Sequence(_) => None,
        }
    }

    /// Returns the items, if the node is a sequence.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::Sequence(items) => Some(items),
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Returns the value, if the node is a scalar.
    pub fn as_scalar(&self) -> Option<&Value> {
        match &self.kind {
            NodeKind::Scalar(value) => Some(value),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Returns the mapping, or the node itself if it is none.
    ///
    /// # Errors
    /// Fails with the node.
    pub fn into_mapping(self) -> Result<Mapping, Self> {
        match self.kind {
            NodeKind::Mapping(mapping) => Ok(mapping),
            _ => Err(self),
        }
    }

    /// Returns the items, or the node itself if it is no sequence.
    ///
    /// # Errors
    /// Fails with the node.
    pub fn into_sequence(self) -> Result<Vec<Self>, Self> {
        match self.kind {
            NodeKind::Sequence(items) => Ok(items),
            _ => Err(self),
        }
    }

    /// Returns the line and the column.
    pub fn place(&self) -> (u32, u32) {
        (self.line, self.column)
    }

    /// Returns the text, if the node is a text.
    pub fn as_str(&self) -> Option<&str> {
        self.as_scalar().and_then(Value::as_str)
    }

    /// Whether the node is empty or `null`.
    pub fn is_undef(&self) -> bool {
        self.as_scalar().is_some_and(Value::is_undef)
    }

    /// Returns the value of a text key, if the node is a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_mapping().and_then(|mapping| mapping.get(key))
    }

    /// Returns the value of a text key, if the node is a mapping; `null` counts as missing.
    pub fn given(&self, key: &str) -> Option<&Self> {
        self.as_mapping().and_then(|mapping| mapping.given(key))
    }

    /// Returns the name of the node's kind for messages: "a text", "an integer", "a mapping".
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(Value::Undef) => "nothing",
            NodeKind::Scalar(Value::Boolean(_)) => "a boolean",
            NodeKind::Scalar(Value::Integer(_)) => "an integer",
            NodeKind::Scalar(Value::Float(_)) => "a float",
            NodeKind::Scalar(Value::Sensitive(_)) => "a secret",
            NodeKind::Scalar(_) => "a text",
            NodeKind::Sequence(_) => "a list",
            NodeKind::Mapping(_) => "a mapping",
        }
    }

    /// Returns the message that the node is of another kind than expected.
    pub fn mismatch(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.kind_name())
    }

    /// Creates an error at this node, for problems that are found later.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at(self)
    }

    /// Creates a node from a value, such as the result of a lookup, at the place of another node.
    pub fn of(value: Value, line: u32, column: u32) -> Self {
        let kind = match value {
            Value::Array(items) => {
                let items = items.into_iter();
                NodeKind::Sequence(items.map(|item| Self::of(item, line, column)).collect())
            }
            Value::Hash(pairs) => {
                let pairs = pairs.into_iter().map(|(key, value)| {
                    let key = KeyNode { line, column, key };
                    (key, Self::of(value, line, column))
                });
                NodeKind::Mapping(Mapping(pairs.collect()))
            }
            scalar => NodeKind::Scalar(scalar),
        };
        Self { line, column, kind }
    }

    pub(super) fn new(line: usize, column: usize, kind: NodeKind) -> Self {
        Self {
            line: place(line),
            column: place(column),
            kind,
        }
    }
}

impl KeyNode {
    pub(super) fn new(line: usize, column: usize, key: Key) -> Self {
        Self {
            line: place(line),
            column: place(column),
            key,
        }
    }

    /// Returns the text of a text key.
    pub fn as_str(&self) -> Option<&str> {
        self.key.as_str()
    }

    /// Creates an error at this key.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at_key(self)
    }
}

/// Converts a line or column number. Documents with larger numbers do not fit into memory.
fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Mapping {
    /// Returns the value of a text key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let mut pairs = self.0.iter();
        let (_, value) = pairs.find(|(known, _)| known.as_str() == Some(key))?;
        Some(value)
    }

    /// Returns the value of a text key; `null` counts as missing.
    pub fn given(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|node| !node.is_undef())
    }

    /// Returns the keys that are not known.
    pub fn unknown_keys(&self, known: &[&str]) -> impl Iterator<Item = &KeyNode> {
        let keys = self.0.iter().map(|(key, _)| key);
        keys.filter(move |key| !key.as_str().is_some_and(|name| known.contains(&name)))
    }

    /// Returns the mutable value of a text key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let mut pairs = self.0.iter_mut();
        let (_, value) = pairs.find(|(known, _)| known.as_str() == Some(key))?;
        Some(value)
    }

    /// Removes the pair of a text key and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let mut pairs = self.0.iter();
        let index = pairs.position(|(known, _)| known.as_str() == Some(key))?;
        Some(self.0.remove(index).1)
    }

    /// Keeps only the pairs of some text keys, and no memory for others.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| key.as_str().is_some_and(&keep));
        self.0.shrink_to_fit();
    }

    /// Iterates over the pairs in order, with the places of keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&KeyNode, &Node)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Iterates over the pairs in order, with keys as in a [`Hash`](crate::Hash).
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        self.0.iter().map(|(key, value)| (&key.key, value))
    }

    /// Returns the number of pairs.
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
            NodeKind::Scalar(_) => f.write_str(self.kind_name()),
            NodeKind::Sequence(items) => f.debug_list().entries(items).finish(),
            NodeKind::Mapping(mapping) => mapping.fmt(f),
        }
    }
}

impl fmt::Debug for NodeKind {
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
