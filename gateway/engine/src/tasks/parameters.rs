//! The parameters of a task that its metadata have let pass.

use devgate_schemas::{Hash, Value};

/// Parameters that a task's metadata have let pass, with defaults, secrets hidden.
#[derive(Clone, Debug)]
pub struct Parameters(Hash);

impl Parameters {
    pub(super) fn checked(parameters: Hash) -> Self {
        Self(parameters)
    }

    /// The values that must not be seen, for the mask of the result.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        self.0.secrets()
    }

    /// The values by name.
    pub(super) fn into_hash(self) -> Hash {
        self.0
    }
}
