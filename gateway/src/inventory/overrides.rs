//! What a command line says of how the targets that it chooses are reached.

use devgate_schemas::{Hash, Value};

/// Laid over what the inventory's config says of every chosen target. As in Bolt, parts of a
/// target's URI beat even this.
#[derive(Clone, Default)]
pub(crate) struct Overrides {
    /// The transport, where it is not the inventory's.
    pub(crate) transport: Option<String>,
    /// Options of the target's own transport, whichever that is; secrets come wrapped.
    pub(crate) options: Hash,
}

impl Overrides {
    /// Lays the transport over the one that the inventory configures.
    pub(super) fn lay_over_transport(&self, config: &mut Hash) {
        if let Some(transport) = &self.transport {
            config.insert("transport", Value::from(transport.as_str()));
        }
    }

    /// Lays the options over those of a transport.
    pub(super) fn lay_over_options(&self, config: &mut Hash, transport: &str) {
        if self.options.is_empty() {
            return;
        }
        let mut options = match config.remove(transport) {
            Some(Value::Hash(options)) => options,
            _ => Hash::new(),
        };
        for (key, value) in self.options.iter() {
            options.insert(key.clone(), value.clone());
        }
        config.insert(transport, Value::Hash(options));
    }
}
