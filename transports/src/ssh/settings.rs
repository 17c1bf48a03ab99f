//! What a connection needs to be told, read from a target's connection info.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};

use super::algorithms::Strength;
use super::host_keys::HostKeys;
use crate::{Error, Result};

/// The host-wide file of known hosts.
const SYSTEM_KNOWN_HOSTS: &str = "/etc/ssh/ssh_known_hosts";

/// Whom to reach, as whom, and what to demand of it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Sensitive<String>>,
    pub(crate) private_key: Option<Sensitive<String>>,
    pub(crate) passphrase: Option<Sensitive<String>>,
    pub(crate) host_keys: HostKeys,
    pub(crate) strength: Strength,
    /// How long connecting and logging in may take together.
    pub(crate) timeout: Duration,
}

impl Settings {
    /// Reads the settings that every transport over SSH has in its schema.
    ///
    /// # Errors
    /// [`Error::Setting`] for what no schema can check.
    pub(crate) fn read(info: &ConnectionInfo) -> Result<Self> {
        let missing = |setting, problem: &str| Error::Setting {
            setting,
            problem: problem.to_owned(),
        };
        let host = info
            .text("host")
            .map(str::trim)
            .filter(|host| !host.is_empty());
        let host =
            host.ok_or_else(|| missing("host", "is empty: name the device or its address"))?;
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let port = info.integer("port").unwrap_or(22);
        let port = u16::try_from(port).map_err(|_| missing("port", "is no port number"))?;
        let user = info
            .text("user")
            .map(str::to_owned)
            .or_else(|| env::var("USER").ok());
        let user = user.filter(|user| !user.is_empty());
        let user =
            user.ok_or_else(|| missing("user", "is not given: name the account to log in to"))?;
        Ok(Self {
            host: host.to_owned(),
            port,
            user,
            password: secret(info, "password"),
            private_key: secret(info, "private_key"),
            passphrase: secret(info, "private_key_passphrase"),
            host_keys: host_keys(info),
            strength: if info.text("ssh_algorithms") == Some("legacy") {
                Strength::Legacy
            } else {
                Strength::Sound
            },
            timeout: duration(info, "timeout", 10.0),
        })
    }

    /// `host:port`, as messages name the target; an IPv6 address in brackets.
    pub(crate) fn peer(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        }
    }
}

/// A secret text of the connection info.
pub(crate) fn secret(info: &ConnectionInfo, name: &str) -> Option<Sensitive<String>> {
    let text = info.secret(name)?.reveal().as_str()?;
    Some(Sensitive::new(text.to_owned()))
}

/// A duration of the connection info, in seconds; what is no duration counts as the default.
pub(crate) fn duration(info: &ConnectionInfo, name: &str, default: f64) -> Duration {
    let seconds = info.number(name).unwrap_or(default);
    Duration::try_from_secs_f64(seconds).unwrap_or_else(|_| Duration::from_secs_f64(default))
}

/// A path as people write it: `~/` is the home folder.
pub(super) fn path(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

fn host_keys(info: &ConnectionInfo) -> HostKeys {
    if info.boolean("verify_hosts") == Some(false) {
        return HostKeys::Any;
    }
    let files = match info.text("known_hosts_file") {
        Some(file) => vec![path(file)],
        None => {
            let home = env::home_dir().map(|home| home.join(".ssh/known_hosts"));
            home.into_iter()
                .chain([PathBuf::from(SYSTEM_KNOWN_HOSTS)])
                .collect()
        }
    };
    let first_use = info.boolean("trust_on_first_use") == Some(true);
    HostKeys::Known { files, first_use }
}
