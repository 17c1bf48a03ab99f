//! What a command line says of how the targets that it chooses are reached.

use devgate_schemas::Hash;

/// Laid over what the inventory's config says of every chosen target. As in Bolt, parts of a
/// target's URI beat even this.
#[derive(Clone, Default)]
pub struct Overrides {
    /// The transport, where it is not the inventory's.
    pub transport: Option<String>,
    /// Options of the target's own transport, where that is not `remote`; secrets come wrapped.
    pub options: Hash,
    /// Options of remote targets, in the words of their transports.
    pub remote: Hash,
}

impl Overrides {
    /// Lays the options over those of a transport.
    pub(super) fn over(&self, transport: &str, mut options: Hash) -> Hash {
        let over = match transport {
            "remote" => &self.remote,
            _ => &self.options,
        };
        for (key, value) in over.iter() {
            options.insert(key.clone(), value.clone());
        }
        options
    }
}
