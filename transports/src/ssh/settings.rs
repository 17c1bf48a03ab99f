//! What a connection needs to be told, read from a target's connection info.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};
use nix::unistd::{Uid, User};

use super::algorithms::{Algorithms, Kind, Strength};
use super::host_keys::HostKeys;
use crate::info::{duration, host, path, port, problem, secret};
use crate::{Result, tcp};

/// How long a goodbye to a device may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// The host-wide file of known hosts.
pub(crate) const SYSTEM_KNOWN_HOSTS: &str = "/etc/ssh/ssh_known_hosts";

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
    /// The hosts on the way, from the first to the last.
    pub(crate) jumps: Vec<Self>,
    pub(crate) words: &'static Words,
}

/// The keys to try where neither a key nor a password is named, and what goes with keys.
#[derive(Clone, Debug, Default)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The one at `SSH_AUTH_SOCK`.
    #[default]
    Usual,
    At(PathBuf),
    None,
}

impl Agent {
    /// Its socket, and the setting that names it.
    pub(super) fn socket(&self) -> Option<(&'static str, PathBuf)> {
        const USUAL: &str = "SSH_AUTH_SOCK";
        match self {
            Self::Usual => env::var_os(USUAL).map(|socket| (USUAL, PathBuf::from(socket))),
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

/// The settings' names as the user writes them, for messages that lead there.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) private_key: &'static str,
    pub(crate) passphrase: &'static str,
    pub(crate) timeout: &'static str,
    pub(crate) verify: &'static str,
    pub(crate) first_use: &'static str,
    pub(crate) algorithms: &'static str,
    pub(crate) kex: &'static str,
    pub(crate) ciphers: &'static str,
    pub(crate) macs: &'static str,
    pub(crate) host_keys: &'static str,
}

impl Words {
    /// The setting for a kind of algorithms.
    pub(super) fn of(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Kex => self.kex,
            Kind::Ciphers => self.ciphers,
            Kind::Macs => self.macs,
            Kind::HostKeys => self.host_keys,
        }
    }
}

/// The names that transports to devices use.
pub(super) static WORDS: Words = Words {
    private_key: "private_key",
    passphrase: "private_key_passphrase",
    timeout: "timeout",
    verify: "verify_hosts",
    first_use: "trust_on_first_use",
    algorithms: "ssh_algorithms",
    // Devices have no settings for these.
    kex: "ssh_algorithms",
    ciphers: "ssh_algorithms",
    macs: "ssh_algorithms",
    host_keys: "ssh_algorithms",
};

impl Settings {
    /// Reads the settings that every transport over SSH has in its schema.
    ///
    /// # Errors
    /// [`Error::Setting`] for what no schema can check.
    pub(crate) fn read(info: &ConnectionInfo) -> Result<Self> {
        Ok(Self {
            host: host(info)?,
            port: port(info)?.unwrap_or(22),
            user: info
                .text("user")
                .map_or_else(own_name, |user| Ok(user.to_owned()))?,
            password: secret(info, "password"),
            private_key: secret(info, "private_key"),
            passphrase: secret(info, "private_key_passphrase"),
            identities: Identities::default(),
            host_key_alias: None,
            host_keys: host_keys(
                info.boolean("verify_hosts"),
                info.text("known_hosts_file"),
                info.boolean("trust_on_first_use"),
            ),
            algorithms: Algorithms::usual(strength(info.text("ssh_algorithms"))),
            timeout: duration(info, "timeout", 10.0),
            goodbye: GOODBYE,
            keepalive: None,
            jumps: Vec::new(),
            words: &WORDS,
        })
    }

    /// `host:port`, as messages name the target; an IPv6 address in brackets.
    pub(crate) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }
}

/// The name of the user who runs this.
pub(crate) fn own_name() -> Result<String> {
    own_name_after(env::var("USER").ok())
}

/// What the environment says, or else the node: a service has no `USER`.
pub(super) fn own_name_after(said: Option<String>) -> Result<String> {
    let said = said.filter(|name| !name.is_empty());
    let known = || User::from_uid(Uid::current()).ok().flatten();
    let name = said.or_else(|| known().map(|user| user.name));
    name.ok_or_else(|| problem("user", "is not given: name the account to log in to"))
}

/// Which host keys are accepted, given three settings.
fn host_keys(verify: Option<bool>, file: Option<&str>, first_use: Option<bool>) -> HostKeys {
    if verify == Some(false) {
        return HostKeys::Any;
    }
    let files = file.map_or_else(known_hosts_files, |file| vec![path(file)]);
    let first_use = first_use == Some(true);
    HostKeys::Known { files, first_use }
}

/// The files of known hosts of which nobody says otherwise.
pub(crate) fn known_hosts_files() -> Vec<PathBuf> {
    let home = env::home_dir().map(|home| home.join(".ssh/known_hosts"));
    home.into_iter()
        .chain([PathBuf::from(SYSTEM_KNOWN_HOSTS)])
        .collect()
}

pub(crate) fn strength(setting: Option<&str>) -> Strength {
    if setting == Some("legacy") {
        Strength::Legacy
    } else {
        Strength::Sound
    }
}
