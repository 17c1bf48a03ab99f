//! Device keys: identify the device of a target.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

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

/// Returns the canonical form of an address, however it is written. A name is not resolved.
fn canonical(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok();
    let address = address.or_else(|| ipv4_of_parts(bare).map(IpAddr::V4));
    address.map_or_else(
        || host.to_lowercase(),
        |address| address.to_canonical().to_string(),
    )
}

/// Reads an IPv4 address as the system's resolver does (inet_aton(3)): one to four parts, each decimal, octal or
/// hexadecimal. The last part is the number of all remaining bytes.
fn ipv4_of_parts(text: &str) -> Option<Ipv4Addr> {
    let parts: Option<Vec<u32>> = text.split('.').map(address_part).collect();
    let parts = parts?;
    let (last, first) = parts.split_last()?;
    let rest_bits = 32_u32.checked_sub(8 * u32::try_from(first.len()).ok()?)?;
    if rest_bits == 0 || first.iter().any(|part| *part > 0xff) {
        return None;
    }
    if u64::from(*last) >= 1 << rest_bits {
        return None;
    }
    let first = first
        .iter()
        .fold(0_u64, |bits, part| bits << 8 | u64::from(*part));
    let bits = first << rest_bits | u64::from(*last);
    u32::try_from(bits).ok().map(Ipv4Addr::from_bits)
}

/// Reads a number as in C: `0x` precedes a hexadecimal number, `0` an octal one.
fn address_part(text: &str) -> Option<u32> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match (hexadecimal, text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        (None, _) => (text, 10),
    };
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    // The length of a number with leading zeros is not limited, but that of its value is.
    (is_number && !digits.is_empty())
        .then(|| u32::from_str_radix(digits, radix).ok())
        .flatten()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_device_however_it_is_written() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "127.000.000.001",
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "0177.0.0.01",
            "::ffff:127.0.0.1",
            "[::ffff:7f00:1]",
        ] {
            assert_eq!(canonical(host), "127.0.0.1", "{host}");
        }
        assert_eq!(canonical("010.0.0.8"), "8.0.0.8");
        assert_eq!(canonical("10.258"), "10.0.1.2");
        assert_eq!(canonical("0"), "0.0.0.0");
        assert_eq!(canonical("4294967295"), "255.255.255.255");
    }

    #[test]
    fn what_the_system_takes_for_a_name_stays_a_name() {
        for host in [
            "sw1.example",
            "1.2.3.4.5",
            "1.2.3.256",
            "256.1",
            "4294967296",
            "1.",
            ".1",
            "",
            "08.1",
            "0x.1",
            "1..2",
            "+1.2",
            "0xg",
        ] {
            assert_eq!(canonical(host), host, "{host}");
        }
        assert_eq!(canonical("SW1.Example"), "sw1.example");
    }
}
