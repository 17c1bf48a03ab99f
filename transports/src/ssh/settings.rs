//! The settings of a connection.

use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::Sensitive;
use tokio::time::Instant;

use super::algorithms::Algorithms;
use super::host_keys::HostKeys;
use super::setting_names::SettingNames;
use crate::info::Hop;
use crate::tcp;

/// The environment variable with the path of the user's agent socket.
pub(super) const SSH_AUTH_SOCK: &str = "SSH_AUTH_SOCK";

/// The settings of a connection: address, login, and requirements on the host.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Sensitive<String>>,
    pub(crate) private_key: Option<Sensitive<String>>,
    pub(crate) passphrase: Option<Sensitive<String>>,
    pub(crate) identities: Identities,
    /// The name under which the host key is recorded, if it differs from `host`.
    pub(crate) host_key_alias: Option<String>,
    pub(crate) host_keys: HostKeys,
    pub(crate) algorithms: Algorithms,
    /// The limit for connecting and logging in together.
    pub(crate) timeout: Duration,
    /// The limit for disconnecting.
    pub(crate) disconnect_timeout: Duration,
    pub(crate) keepalive: Option<Keepalive>,
    pub(crate) role: Role,
    /// The jump hosts, from the first to the last.
    pub(crate) jumps: Vec<Self>,
    pub(crate) setting_names: &'static SettingNames,
}

/// The role of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The target that the inventory names.
    Target,
    /// A jump host. `requested_host` is the name by which OpenSSH's configuration (`Host` lines) is searched
    /// for it.
    JumpHost { requested_host: String },
}

/// The keys to try if the settings name neither a key nor a password, and certificates for keys.
#[derive(Clone, Debug)]
pub(crate) struct Identities {
    /// Private key files. Missing files are skipped.
    pub(crate) files: Vec<PathBuf>,
    /// Certificate files, each for the key that it was signed for.
    pub(crate) certificates: Vec<PathBuf>,
    /// Whether only those keys of the agent are tried that are among `files`.
    pub(crate) only: bool,
    pub(crate) agent: Agent,
}

/// The SSH agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The agent whose socket `SSH_AUTH_SOCK` names.
    Environment(PathBuf),
    Socket(PathBuf),
    None,
}

impl Agent {
    /// Returns the agent's socket, and the setting that names it.
    pub(super) fn socket(&self) -> Option<(&'static str, PathBuf)> {
        match self {
            Self::Environment(socket) => Some((SSH_AUTH_SOCK, socket.clone())),
            Self::Socket(socket) => Some(("IdentityAgent", socket.clone())),
            Self::None => None,
        }
    }
}

/// How a silent host is detected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    /// The time of silence after which a keepalive is sent.
    pub(crate) interval: Duration,
    /// The number of keepalives that may stay unanswered.
    pub(crate) max_unanswered: usize,
}

impl Settings {
    /// Returns `host:port`, as messages name the target. An IPv6 address is in brackets.
    pub(crate) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }

    /// Returns the hops to the target: its jump hosts, then itself.
    pub(crate) fn hops(&self) -> Vec<Hop> {
        let hosts = self.jumps.iter().chain([self]);
        let hop = |host: &Self| Hop {
            peer: host.peer(),
            user: Some(host.user.clone()),
            trust: host.host_keys.to_string(),
        };
        hosts.map(hop).collect()
    }

    /// Returns the deadline for a session that is opened now. Each jump host adds its own time limit.
    pub(crate) fn deadline(&self) -> Instant {
        let jump_timeouts = self.jumps.iter().map(|jump| jump.timeout);
        Instant::now() + jump_timeouts.sum::<Duration>() + self.timeout
    }
}
