//! The values that schemas describe: JSON's, and Puppet's additional ones.

mod deserialize;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};
use std::{fmt, hash};

use indexmap::{Equivalent, IndexMap};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use zeroize::Zeroize;

use crate::Sensitive;

/// A value of Puppet's type system. Keys keep the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Puppet's `undef`, JSON's `null`.
    Undef,
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// Keys and values.
    Hash(Hash),
    /// A Ruby symbol. Only a Ruby peer can produce one: no text format of devgate has symbols.
    Symbol(String),
    /// A secret value.
    Sensitive(Sensitive<Self>),
}

/// The keys and values of a [`Value::Hash`], in the order in which they were written.
///
/// The pairs are boxed, and an empty hash allocates nothing: every [`Value`] is as large as its largest
/// variant, and a large inventory has hundreds of thousands of values.
#[derive(Clone, Default)]
pub struct Hash(Option<Box<IndexMap<Key, Value>>>);

static EMPTY: LazyLock<IndexMap<Key, Value>> = LazyLock::new(IndexMap::new);

/// A key of a hash: a text, except where YAML or Ruby had a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A text, the usual case. It is shared, because copies of a hash have the same keys.
    String(Arc<str>),
    /// An integer.
    Integer(i64),
}

impl Value {
    /// Returns the text of a string value; `None` for other values, including sensitive ones.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number of an integer value.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the truth value of a Boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns the pairs of a hash value.
    pub fn as_hash(&self) -> Option<&Hash> {
        match self {
            Self::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// Whether this value is `undef`.
    pub fn is_undef(&self) -> bool {
        matches!(self, Self::Undef)
    }

    /// Wraps this value as a secret, unless it already is one.
    pub fn into_sensitive(self) -> Self {
        match self {
            Self::Sensitive(_) => self,
            other => Self::Sensitive(Sensitive::new(other)),
        }
    }

    /// Whether this value contains a secret at any depth.
    pub fn has_secret(&self) -> bool {
        let mut found = Vec::new();
        self.find_secrets(&mut found);
        !found.is_empty()
    }

    fn find_secrets<'v>(&'v self, found: &mut Vec<&'v Self>) {
        match self {
            Self::Sensitive(_) => found.push(self),
            Self::Array(items) => items.iter().for_each(|item| item.find_secrets(found)),
            Self::Hash(hash) => hash.iter().for_each(|(_, value)| value.find_secrets(found)),
            _ => {}
        }
    }

    /// Returns this value as JSON, with every secret redacted.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("keys are texts or numbers, floats are finite")
    }

    /// Returns this value as JSON, with every secret in clear: only for a device or a child process.
    pub fn reveal_json(&self) -> serde_json::Value {
        match self {
            Self::Sensitive(secret) => secret.reveal().reveal_json(),
            Self::Array(items) => items.iter().map(Self::reveal_json).collect(),
            Self::Hash(hash) => serde_json::Value::Object(
                hash.iter()
                    .map(|(key, value)| (key.to_string(), value.reveal_json()))
                    .collect(),
            ),
            other => other.to_json(),
        }
    }
}

impl Hash {
    /// Creates an empty hash.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.pairs().get(key)
    }

    /// Returns the mutable value of a key.
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Value> {
        self.0.as_mut()?.get_mut(key)
    }

    /// Sets the value of a key, and returns the previous value, if any.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) -> Option<Value> {
        self.0.get_or_insert_default().insert(key.into(), value)
    }

    /// Removes the value of a text key. The other pairs keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.as_mut()?.shift_remove(key)
    }

    /// Keeps only the pairs whose value is to be kept. They keep their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut Value) -> bool) {
        if let Some(pairs) = &mut self.0 {
            pairs.retain(|_, value| keep(value));
        }
    }

    /// Iterates over the pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> {
        self.pairs().iter()
    }

    /// Iterates over the pairs in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Key, &mut Value)> {
        let pairs = self.0.as_mut();
        pairs.map_or_else(indexmap::map::IterMut::default, |pairs| pairs.iter_mut())
    }

    /// Returns the values that are wrapped as secrets, at any depth.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        let mut found = Vec::new();
        for value in self.pairs().values() {
            value.find_secrets(&mut found);
        }
        found.into_iter()
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs().len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs().is_empty()
    }

    fn pairs(&self) -> &IndexMap<Key, Value> {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl PartialEq for Hash {
    fn eq(&self, other: &Self) -> bool {
        self.pairs() == other.pairs()
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hash").field(self.pairs()).finish()
    }
}

impl IntoIterator for Hash {
    type Item = (Key, Value);
    type IntoIter = indexmap::map::IntoIter<Key, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(|pairs| *pairs).unwrap_or_default().into_iter()
    }
}

impl<K: Into<Key>> FromIterator<(K, Value)> for Hash {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value));
        let mut pairs: IndexMap<Key, Value> = pairs.collect();
        pairs.shrink_to_fit();
        Self((!pairs.is_empty()).then(|| Box::new(pairs)))
    }
}

impl Key {
    /// Returns the text of a text key.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Integer(_) => None,
        }
    }
}

/// A text key hashes as its text does, so that a borrowed text finds it.
impl hash::Hash for Key {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        match self {
            Self::String(text) => text.hash(state),
            Self::Integer(number) => number.hash(state),
        }
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
        }
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<i64> for Key {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Boolean(truth)
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Undef,
            serde_json::Value::Bool(truth) => Self::Boolean(truth),
            // An integer beyond 64 bits becomes a float, as in JSON.
            serde_json::Value::Number(number) => number.as_i64().map_or_else(
                || Self::Float(number.as_f64().unwrap_or(f64::MAX)),
                Self::Integer,
            ),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => {
                Self::Array(items.into_iter().map(Self::from).collect())
            }
            serde_json::Value::Object(pairs) => Self::Hash(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key, Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Undef => serializer.serialize_unit(),
            Self::Boolean(truth) => serializer.serialize_bool(*truth),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::String(text) | Self::Symbol(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Hash(hash) => hash.serialize(serializer),
            Self::Sensitive(secret) => secret.serialize(serializer),
        }
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            match key {
                Key::String(text) => map.serialize_entry(&**text, value)?,
                Key::Integer(number) => map.serialize_entry(number, value)?,
            }
        }
        map.end()
    }
}

impl Zeroize for Value {
    fn zeroize(&mut self) {
        match self {
            Self::String(text) | Self::Symbol(text) => text.zeroize(),
            Self::Array(items) => items.iter_mut().for_each(Self::zeroize),
            Self::Hash(hash) => hash.iter_mut().for_each(|(_, value)| value.zeroize()),
            Self::Boolean(truth) => truth.zeroize(),
            Self::Integer(number) => number.zeroize(),
            Self::Float(number) => number.zeroize(),
            // A `Sensitive` wipes itself when it is dropped.
            Self::Undef | Self::Sensitive(_) => {}
        }
    }
}
