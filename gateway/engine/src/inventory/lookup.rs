//! References in a target's data: which are needed, and what those that were looked up stand for.

use std::borrow::Cow;

use devgate_schemas::{Hash, Value};

use super::PluginError;
use super::references::{ReferenceResolver, is_reference};

/// Looks at what is known while data are merged, and remembers what is not.
///
/// Merging is done with what is known; where something is missing, that is looked up and the merge
/// done again.
pub(super) struct Lookup<'p> {
    plugins: Option<&'p dyn ReferenceResolver>,
    missing: Vec<Hash>,
    failed: Option<(Hash, PluginError)>,
}

impl<'p> Lookup<'p> {
    pub(super) fn new(plugins: &'p dyn ReferenceResolver) -> Self {
        Self {
            plugins: Some(plugins),
            ..Self::nothing()
        }
    }

    /// Knows nothing: every reference that matters is missing.
    pub(super) fn nothing() -> Self {
        Self {
            plugins: None,
            missing: Vec::new(),
            failed: None,
        }
    }

    /// Whether all that mattered was known.
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.failed.is_none()
    }

    /// Whether what something gives is known: nothing that it needs has to be looked up.
    pub(super) fn knows<T>(&mut self, of: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let missing = self.missing.len();
        let given = of(self);
        (self.missing.len() == missing).then_some(given)
    }

    /// What has to be looked up; nothing, where something else cannot be.
    pub(super) fn into_missing(self) -> Vec<Hash> {
        match self.failed {
            Some(_) => Vec::new(),
            None => self.missing,
        }
    }

    /// The first reference that cannot be looked up, and why.
    pub(super) fn failed(&self) -> Option<&(Hash, PluginError)> {
        self.failed.as_ref()
    }

    /// What a value stands for: itself, or what its plugin gave; nothing where that is not known.
    pub(super) fn value<'v>(&mut self, value: &'v Value) -> Cow<'v, Value> {
        match value {
            Value::Hash(hash) if is_reference(hash) => Cow::Owned(self.reference(hash)),
            other => Cow::Borrowed(other),
        }
    }

    /// What a reference stands for that must be a hash; an empty one where it is none.
    pub(super) fn hash(&mut self, reference: &Hash) -> Hash {
        match self.reference(reference) {
            Value::Hash(hash) => hash,
            Value::Undef => Hash::new(),
            _ => {
                let plugin = reference.get("_plugin").and_then(Value::as_str);
                let message = "expected a hash here, the plugin gave another value";
                let error = PluginError::failed(plugin.unwrap_or_default(), message);
                self.fail(reference.clone(), error);
                Hash::new()
            }
        }
    }

    /// What all references in a value stand for.
    pub(super) fn all(&mut self, value: Value) -> Value {
        self.all_within(value, MAX_CHAIN)
    }

    fn all_within(&mut self, value: Value, left: usize) -> Value {
        match value {
            Value::Hash(hash) if is_reference(&hash) => match left.checked_sub(1) {
                Some(left) => {
                    let value = self.reference(&hash);
                    self.all_within(value, left)
                }
                None => self.fail(hash, PluginError::Loop),
            },
            Value::Hash(hash) => {
                let pairs = hash.into_iter();
                let pairs = pairs.map(|(key, value)| (key, self.all_within(value, left)));
                Value::Hash(pairs.collect())
            }
            Value::Array(items) => {
                let items = items.into_iter();
                Value::Array(items.map(|item| self.all_within(item, left)).collect())
            }
            other => other,
        }
    }

    fn fail(&mut self, reference: Hash, error: PluginError) -> Value {
        self.failed.get_or_insert((reference, error));
        Value::Undef
    }

    fn reference(&mut self, reference: &Hash) -> Value {
        let mut reference = reference.clone();
        for _ in 0..=MAX_CHAIN {
            match self.plugins.and_then(|plugins| plugins.known(&reference)) {
                Some(Ok(Value::Hash(hash))) if is_reference(&hash) => reference = hash,
                Some(Ok(value)) => return value,
                Some(Err(error)) => return self.fail(reference, error),
                None => {
                    self.missing.push(reference);
                    return Value::Undef;
                }
            }
        }
        self.fail(reference, PluginError::Loop)
    }
}

/// How many references may stand for each other in a row, or within each other.
const MAX_CHAIN: usize = 50;
