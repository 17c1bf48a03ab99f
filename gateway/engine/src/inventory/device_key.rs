//! Device keys: identify the device of a target.

use std::fmt;
use std::net::IpAddr;

use devgate_schemas::Value;
use sha2::{Digest, Sha256};

use super::Target;
use super::target::LOCALHOST;

/// Identifies a device. Targets with the same key are one device, whatever their names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DeviceKey(u128);

/// Shows the key as an opaque number. It is the same in every release.
impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Returns the canonical form of an address. A name is not resolved.
fn canonical(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>();
    address.map_or_else(
        |_| host.to_lowercase(),
        |address| address.to_canonical().to_string(),
    )
}

impl Target {
    /// Computes the device key from the way to the device as declared, with its host and port, or from the name of a
    /// target without a host. `default_port` is the default port. Names are not resolved.
    pub(crate) fn device_key(&self, default_port: Option<i64>) -> DeviceKey {
        let text = |key: &str| self.options.get(key).and_then(Value::as_str);
        let host = self.host();
        let host = host.as_ref().and_then(Value::as_str).map(canonical);
        let port = self
            .port()
            .and_then(|port| port.as_integer())
            .or(default_port);
        let port = port.map(|port| port.to_string());
        let last = match host {
            None => ["name", &self.name, ""],
            // Without a port, the transport takes its place.
            Some(ref host) => [
                "host",
                host,
                port.as_deref()
                    .or_else(|| self.remote_transport())
                    .unwrap_or(""),
            ],
        };
        // If this node is one of the proxies, the others do not matter.
        let site = if self.runs_on_localhost() {
            LOCALHOST
        } else {
            self.run_on()
        };
        // `none` is OpenSSH's word for no jump host.
        let jumps = text("proxyjump").filter(|jumps| *jumps != "none");
        let route = [site, jumps.unwrap_or("")];
        let mut hasher = Sha256::new();
        for part in route.into_iter().chain(last) {
            hasher.update(part.as_bytes());
            // No part of the key contains a NUL.
            hasher.update([0]);
        }
        let mut bytes = [0; size_of::<DeviceKey>()];
        bytes.copy_from_slice(&hasher.finalize()[..size_of::<DeviceKey>()]);
        DeviceKey(u128::from_be_bytes(bytes))
    }
}
