//! The checked parameters of a task.

use devgate_schemas::{Hash, Value};

/// Parameters that conform to a task's metadata, with defaults, and with secrets wrapped.
#[derive(Clone, Debug)]
pub struct Parameters(Hash);

impl Parameters {
    pub(super) fn checked(parameters: Hash) -> Self {
        Self(parameters)
    }

    /// Returns the secret values, to mask them in the result.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        self.0.secrets()
    }

    /// Returns the values by name.
    pub(super) fn into_hash(self) -> Hash {
        self.0
    }
}
