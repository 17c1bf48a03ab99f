//! The connection options of a command line, which override those of the inventory.

use devgate_schemas::Hash;

/// Options that are merged over the config of every selected target. As in Bolt, parts of a target's URI beat even
/// these.
#[derive(Clone, Default)]
pub struct Overrides {
    /// The transport, unless it is that of the inventory.
    pub transport: Option<String>,
    /// Options of the target's own transport, unless that is `remote`. Secrets are wrapped.
    pub options: Hash,
    /// Options of remote targets, as their transports name them.
    pub remote: Hash,
}

impl Overrides {
    /// Merges the overrides over the options of a transport.
    pub(super) fn apply_to(&self, transport: &str, mut options: Hash) -> Hash {
        let overrides = match transport {
            "remote" => &self.remote,
            _ => &self.options,
        };
        for (key, value) in overrides.iter() {
            options.insert(key.clone(), value.clone());
        }
        options
    }
}
