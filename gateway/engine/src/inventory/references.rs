//! References to plugins: how they are told apart, and who looks them up.

use std::fmt;

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};

use super::PluginError;

/// Looks up what references stand for, each once, and keeps what it has found.
#[async_trait(?Send)]
pub(crate) trait ReferenceResolver: fmt::Debug {
    /// What a reference was found to stand for, if it was looked up.
    fn known(&self, reference: &Hash) -> Option<Result<Value, PluginError>>;

    /// Looks up what a reference stands for, unless that is known. References in its options are
    /// looked up before; references in what it gives are not.
    ///
    /// # Errors
    /// Why it stands for nothing.
    async fn look_up(&self, reference: &Hash) -> Result<Value, PluginError>;

    /// That nobody has the plugin of a reference, or of one in its options; nobody is asked.
    fn unknown(&self, reference: &Hash) -> Option<PluginError>;
}

/// What tells a reference from others. A secret in it (from another plugin) tells nothing.
pub(crate) fn reference_key(reference: &Value) -> String {
    reference.to_json().to_string()
}

/// Whether a hash stands for what a plugin gives.
pub(super) fn is_reference(hash: &Hash) -> bool {
    hash.get("_plugin").is_some()
}
