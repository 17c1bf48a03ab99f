//! Resolves references in a target's data, and records those that are missing.

use std::borrow::Cow;

use devgate_schemas::{Hash, Value};

use super::PluginError;
use super::references::{ReferenceResolver, is_reference};

/// Provides the known values of references during a merge, and records the unknown ones.
///
/// The merge is done with what is known. If a reference is missing, it is resolved and the merge is repeated.
pub(super) struct Lookup<'p> {
    plugins: Option<&'p dyn ReferenceResolver>,
    missing: Vec<Hash>,
    failed: Option<(Hash, PluginError)>,
}

impl<'p> Lookup<'p> {
    pub(super) fn new(plugins: &'p dyn ReferenceResolver) -> Self {
        Self {
            plugins: Some(plugins),
            ..Self::without_values()
        }
    }

    /// Creates a lookup without known values: every reference that matters is missing.
    pub(super) fn without_values() -> Self {
        Self {
            plugins: None,
            missing: Vec::new(),
            failed: None,
        }
    }

    /// Whether every reference that mattered was known.
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.failed.is_none()
    }

    /// Returns the result of `of` if it needed no unknown reference.
    pub(super) fn if_known<T>(&mut self, of: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let missing = self.missing.len();
        let value = of(self);
        (self.missing.len() == missing).then_some(value)
    }

    /// Returns the references to resolve, or none if another one has failed.
    pub(super) fn into_missing(self) -> Vec<Hash> {
        match self.failed {
            Some(_) => Vec::new(),
            None => self.missing,
        }
    }

    /// Returns the first reference that cannot be resolved, and why.
    pub(super) fn failed(&self) -> Option<&(Hash, PluginError)> {
        self.failed.as_ref()
    }

    /// Returns the value itself, or the value of its reference. An unknown reference gives no value.
    pub(super) fn value<'v>(&mut self, value: &'v Value) -> Cow<'v, Value> {
        match value {
            Value::Hash(hash) if is_reference(hash) => Cow::Owned(self.reference(hash)),
            other => Cow::Borrowed(other),
        }
    }

    /// Returns the value of a reference that must be a hash, or an empty hash.
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

    /// Returns the value itself, or the value of its reference, as [`value`](Self::value) does.
    pub(super) fn resolved(&mut self, value: Value) -> Value {
        match value {
            Value::Hash(hash) if is_reference(&hash) => self.reference(&hash),
            other => other,
        }
    }

    /// Resolves all references in a value.
    pub(super) fn all(&mut self, mut value: Value) -> Value {
        self.resolve_all(&mut value, MAX_CHAIN);
        value
    }

    fn resolve_all(&mut self, value: &mut Value, depth_left: usize) {
        match value {
            Value::Hash(hash) if is_reference(hash) => {
                *value = match depth_left.checked_sub(1) {
                    Some(depth_left) => {
                        let mut resolved = self.reference(hash);
                        self.resolve_all(&mut resolved, depth_left);
                        resolved
                    }
                    None => self.fail(hash.clone(), PluginError::Loop),
                };
            }
            Value::Hash(hash) => hash
                .iter_mut()
                .for_each(|(_, value)| self.resolve_all(value, depth_left)),
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.resolve_all(item, depth_left)),
            _ => {}
        }
    }

    fn fail(&mut self, reference: Hash, error: PluginError) -> Value {
        self.failed.get_or_insert((reference, error));
        Value::Undef
    }

    fn reference(&mut self, reference: &Hash) -> Value {
        let mut reference = reference.clone();
        for _ in 0..=MAX_CHAIN {
            match self
                .plugins
                .and_then(|plugins| plugins.cached_value(&reference))
            {
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

/// How deep references may be nested, and how many may follow each other.
const MAX_CHAIN: usize = 50;
