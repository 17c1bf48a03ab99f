//! What a connection needs to be told.

use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::Sensitive;
use tokio::time::Instant;

use super::algorithms::Algorithms;
use super::host_keys::HostKeys;
use super::words::Words;
use crate::tcp;

/// The variable that names the socket of the user's agent.
pub(super) const SSH_AUTH_SOCK: &str = "SSH_AUTH_SOCK";

/// Whom to reach, as whom, and what to demand of it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Sensitive<String>>,
    pub(crate) private_key: Option<Sensitive<String>>,
    pub(crate) passphrase: Option<Sensitive<String>>,
    pub(crate) identities: Identities,
    /// The name by which its key is known, where that is another one.
    pub(crate) host_key_alias: Option<String>,
    pub(crate) host_keys: HostKeys,
    pub(crate) algorithms: Algorithms,
    /// How long connecting and logging in may take together.
    pub(crate) timeout: Duration,
    /// How long a goodbye may take.
    pub(crate) goodbye: Duration,
    pub(crate) keepalive: Option<Keepalive>,
    pub(crate) role: Role,
    /// The hosts on the way, from the first to the last.
    pub(crate) jumps: Vec<Self>,
    pub(crate) words: &'static Words,
}

/// What a connection is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It leads to whom the inventory names.
    Target,
    /// It leads further; `asked` is the name by which the host is asked for, as `Host` lines of
    /// OpenSSH's configuration have it.
    OnTheWay { asked: String },
}

/// The keys to try where neither a key nor a password is named, and what goes with keys.
#[derive(Clone, Debug)]
pub(crate) struct Identities {
    /// Files of private keys; those that do not exist are passed over.
    pub(crate) files: Vec<PathBuf>,
    /// Files of certificates, each for the key that it was signed for.
    pub(crate) certificates: Vec<PathBuf>,
    /// Whether of an agent's keys only those of the files are tried.
    pub(crate) only: bool,
    pub(crate) agent: Agent,
}

/// The agent that signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The one whose socket `SSH_AUTH_SOCK` names.
    Usual(PathBuf),
    At(PathBuf),
    None,
}

impl Agent {
    /// Its socket, and the setting that names it.
    pub(super) fn socket(&self) -> Option<(&'static str, PathBuf)> {
        match self {
            Self::Usual(socket) => Some((SSH_AUTH_SOCK, socket.clone())),
            Self::At(socket) => Some(("IdentityAgent", socket.clone())),
            Self::None => None,
        }
    }
}

/// How a host that has gone silent is found out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    /// After how much silence it is asked.
    pub(crate) interval: Duration,
    /// How many questions may stay without an answer.
    pub(crate) most: usize,
}

impl Settings {
    /// `host:port`, as messages name the target; an IPv6 address in brackets.
    pub(crate) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }

    /// By when a session must be open that is begun now: each host on the way has its own time.
    pub(crate) fn deadline(&self) -> Instant {
        let on_the_way = self.jumps.iter().map(|jump| jump.timeout);
        Instant::now() + on_the_way.sum::<Duration>() + self.timeout
    }
}
