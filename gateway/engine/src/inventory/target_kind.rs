//! The kinds of targets, by the transports of an inventory.

use devgate_schemas::did_you_mean;

/// Every transport that an inventory may name, as in Bolt.
pub(super) const TRANSPORTS: [&str; 9] = [
    "ssh", "winrm", "local", "docker", "lxd", "podman", "jail", "pcp", "remote",
];

/// How a target is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// As a process on this node.
    Local,
    /// Over SSH.
    Ssh,
    /// Through a program on a proxy.
    Remote {
        /// The family or protocol that `remote-transport` names.
        transport: Option<String>,
        /// The proxies: a name, or another word that selects targets.
        run_on: String,
    },
    /// By a transport that Bolt has and devgate does not, or by an unknown one.
    Other(&'static str),
}

impl Default for TargetKind {
    fn default() -> Self {
        Self::Other("unknown")
    }
}

impl TargetKind {
    /// Returns the transport's name in an inventory.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Remote { .. } => "remote",
            Self::Other(name) => name,
        }
    }
}

/// Suggests a transport for an unknown name. Transports of devices are named one level below, as `remote-transport`.
pub(super) fn suggest_transport(named: &str) -> String {
    let protocols = devgate_transports::all().iter();
    let families = devgate_devices::all().map(|family| family.name().to_owned());
    let mut transports = protocols
        .map(|connect| connect.name().to_owned())
        .chain(families);
    if transports.any(|transport| transport == named) {
        return format!(
            "; to reach a device by `{named}`, write `transport: remote` and `remote: \
             {{remote-transport: {named}}}`"
        );
    }
    did_you_mean(named, TRANSPORTS)
}
