//! The settings of a session.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};

use super::usm::{AuthProtocol, PrivProtocol};
use super::v3::User;
use crate::info::{duration, host, port, problem, secret};
use crate::{Result, tcp};

/// The settings of a session, read from its connection info.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Credentials,
    /// The limit for one answer.
    pub(super) timeout: Duration,
    /// The limit for reading a subtree.
    pub(super) command_timeout: Duration,
}

/// The credentials.
#[derive(Debug)]
pub(super) enum Credentials {
    /// A community: version 2c.
    Community(Sensitive<String>),
    /// A user: version 3.
    User(User),
}

impl Settings {
    pub(super) fn read(info: &ConnectionInfo) -> Result<Self> {
        let credentials = match info.text("version") {
            Some("v2c") => Credentials::Community(secret(info, "community").ok_or_else(|| {
                problem(
                    "community",
                    "is missing: `version: v2c` needs the agent's community",
                )
            })?),
            _ => Credentials::User(user(info)?),
        };
        Ok(Self {
            host: host(info)?,
            port: port(info)?.unwrap_or(161),
            credentials,
            timeout: duration(info, "timeout", 3.0),
            command_timeout: duration(info, "command_timeout", 120.0),
        })
    }

    /// Returns the agent's name for messages.
    pub(super) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }
}

fn user(info: &ConnectionInfo) -> Result<User> {
    let name = info.text("user").ok_or_else(|| {
        let hint = if info.get("community").is_some() {
            "is missing: `version: v3` needs one; for a `community`, set `version: v2c`"
        } else {
            "is missing: `version: v3` needs one"
        };
        problem("user", hint)
    })?;
    let auth_protocol = named(
        info,
        "auth_protocol",
        &AuthProtocol::NAMES,
        AuthProtocol::Sha1,
    );
    let priv_protocol = named(
        info,
        "priv_protocol",
        &PrivProtocol::NAMES,
        PrivProtocol::Aes128,
    );
    let auth = secret(info, "auth_password").map(|password| (auth_protocol, password));
    let privacy = secret(info, "priv_password").map(|password| (priv_protocol, password));
    if privacy.is_some() && auth.is_none() {
        let missing = "is missing: `priv_password` alone protects nothing";
        return Err(problem("auth_password", missing));
    }
    if privacy.is_some() && !priv_protocol.has_keys_from(auth_protocol) {
        let short = "needs longer keys than `auth_protocol` makes: SHA-256 or longer makes them";
        return Err(problem("priv_protocol", short));
    }
    Ok(User {
        name: name.to_owned(),
        auth,
        privacy,
        context: info.text("context_name").unwrap_or_default().to_owned(),
    })
}

/// Returns the value of a name. The schema has checked the name.
fn named<T: Copy>(info: &ConnectionInfo, setting: &str, names: &[(&str, T)], default: T) -> T {
    let name = info.text(setting).unwrap_or_default();
    let found = names.iter().find(|(known, _)| *known == name);
    found.map_or(default, |(_, value)| *value)
}
