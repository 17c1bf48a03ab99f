//! Where a target is: what tells devices apart.

use std::fmt;
use std::net::IpAddr;

use devgate_schemas::Value;
use sha2::{Digest, Sha256};

use super::Target;
use super::target::LOCALHOST;

/// Where a target is: two in the same place are one device, whatever they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DeviceKey(u128);

/// Shown as a number that says nothing but that, the same in every release.
impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// An address in the one form that all its spellings have in common; a name is not resolved.
fn canonical(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>();
    address.map_or_else(
        |_| host.to_lowercase(),
        |address| address.to_canonical().to_string(),
    )
}

impl Target {
    /// Where it is: what leads there, as it is declared, with its host and port; without a host, its name. `usual` is
    /// the port where nobody names one; names are not resolved.
    pub(crate) fn place(&self, usual: Option<i64>) -> DeviceKey {
        let text = |key: &str| self.options.get(key).and_then(Value::as_str);
        let host = self.host();
        let host = host.as_ref().and_then(Value::as_str).map(canonical);
        let port = self.port().and_then(|port| port.as_integer()).or(usual);
        let port = port.map(|port| port.to_string());
        let last = match host {
            None => ["name", &self.name, ""],
            // Who knows no port knows no more than how it is spoken to.
            Some(ref host) => [
                "host",
                host,
                port.as_deref()
                    .or_else(|| self.remote_transport())
                    .unwrap_or(""),
            ],
        };
        // Whatever stands beside it: this node reaches it.
        let site = if self.is_near() {
            LOCALHOST
        } else {
            self.run_on()
        };
        // OpenSSH's word for none.
        let jumps = text("proxyjump").filter(|jumps| *jumps != "none");
        let way = [site, jumps.unwrap_or("")];
        let mut place = Sha256::new();
        for part in way.into_iter().chain(last) {
            place.update(part.as_bytes());
            // No part of a place holds one.
            place.update([0]);
        }
        let mut bytes = [0; size_of::<DeviceKey>()];
        bytes.copy_from_slice(&place.finalize()[..size_of::<DeviceKey>()]);
        DeviceKey(u128::from_be_bytes(bytes))
    }
}
