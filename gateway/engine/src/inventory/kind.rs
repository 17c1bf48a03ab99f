//! How a target is reached: the transports of an inventory.

use devgate_schemas::did_you_mean;

/// Every transport that an inventory may name, as in Bolt.
pub(super) const TRANSPORTS: [&str; 9] = [
    "ssh", "winrm", "local", "docker", "lxd", "podman", "jail", "pcp", "remote",
];

/// How a target is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As a process of this host.
    Local,
    /// Over SSH.
    Ssh,
    /// Through a program on a proxy.
    Remote {
        /// The family or protocol that `remote-transport` names.
        transport: Option<String>,
        /// The proxies: a name, or anything else that selects targets.
        run_on: String,
    },
    /// By a transport that exists in Bolt and not here, or nobody can tell which.
    Other(&'static str),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Other("unknown")
    }
}

impl Kind {
    /// The transport's name in an inventory.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Remote { .. } => "remote",
            Self::Other(name) => name,
        }
    }
}

/// What somebody probably meant who names a transport that is none of an inventory's: a way to devices is named one
/// level below.
pub(super) fn meant_transport(named: &str) -> String {
    let protocols = devgate_transports::all().iter();
    let mut ways = protocols
        .map(|connect| connect.schema().name())
        .chain(devgate_devices::all().map(devgate_devices::BuiltIn::name));
    if ways.any(|way| way == named) {
        return format!(
            "; to reach a device by `{named}`, write `transport: remote` and `remote: \
             {{remote-transport: {named}}}`"
        );
    }
    did_you_mean(named, TRANSPORTS)
}
