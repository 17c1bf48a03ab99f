//! Reading connection info that matches its schema: the settings that several transports share, and what they say of the
//! way to a target.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};

use crate::{Error, Result};

/// A server on the way to a target, or the target itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// `host:port`, as messages name it; without a port where the protocol's default applies.
    pub peer: String,
    /// The account to log in to.
    pub user: Option<String>,
    /// How the server is recognised.
    pub trust: String,
}

/// Returns a secret text.
pub(crate) fn secret(info: &ConnectionInfo, name: &str) -> Option<Sensitive<String>> {
    let text = info.secret(name)?.reveal().as_str()?;
    Some(Sensitive::new(text.to_owned()))
}

/// Returns a duration given in seconds. An invalid duration counts as the default.
pub(crate) fn duration(info: &ConnectionInfo, name: &str, default: f64) -> Duration {
    let seconds = info.number(name).unwrap_or(default);
    Duration::try_from_secs_f64(seconds).unwrap_or_else(|_| Duration::from_secs_f64(default))
}

/// Returns a count. An invalid count counts as the default.
pub(crate) fn count(info: &ConnectionInfo, name: &str, default: usize) -> usize {
    let count = info.integer(name).map(usize::try_from);
    count.and_then(std::result::Result::ok).unwrap_or(default)
}

/// Returns the host's name or address, without the brackets of an IPv6 address.
pub(crate) fn host(info: &ConnectionInfo) -> Result<String> {
    let host = info.text("host").map(str::trim).unwrap_or_default();
    if host.is_empty() {
        return Err(problem("host", "is empty: name the device or its address"));
    }
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    Ok(bare.unwrap_or(host).to_owned())
}

/// Returns the port, if one is given.
pub(crate) fn port(info: &ConnectionInfo) -> Result<Option<u16>> {
    let port = info.integer("port").map(u16::try_from).transpose();
    port.map_err(|_| problem("port", "is no port number"))
}

/// Returns the error for a problem that no schema can detect.
pub(crate) fn problem(setting: &'static str, problem: &str) -> Error {
    Error::Setting {
        setting,
        problem: problem.to_owned(),
    }
}
