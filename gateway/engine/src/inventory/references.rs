//! References to plugins: their keys, and the trait that resolves them.

use std::fmt;

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};

use super::PluginError;

/// Resolves references. Each is resolved once and its value remembered.
#[async_trait(?Send)]
pub(crate) trait ReferenceResolver: fmt::Debug {
    /// Returns the result of a reference that was resolved before.
    fn cached_value(&self, reference: &Hash) -> Option<Result<Value, PluginError>>;

    /// Resolves a reference, unless that was done before. References in its options are resolved first; references in
    /// its value are not.
    ///
    /// # Errors
    /// Fails when the plugin gives no value.
    async fn resolve(&self, reference: &Hash) -> Result<Value, PluginError>;

    /// Returns an error when the plugin of a reference, or of one in its options, does not exist. No plugin is called.
    fn unknown_plugin(&self, reference: &Hash) -> Option<PluginError>;
}

/// Returns the key that identifies a reference. A secret in it (from another plugin) is not part of the key.
pub(crate) fn reference_key(reference: &Value) -> String {
    reference.to_json().to_string()
}

/// Whether a hash is a reference to a plugin.
pub(super) fn is_reference(hash: &Hash) -> bool {
    hash.get("_plugin").is_some()
}
