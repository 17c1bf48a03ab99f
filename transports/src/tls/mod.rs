//! TLS: verifying certificates, client certificates, and error messages.
//!
//! A target's `ssl_*` settings form a policy. Targets with the same policy share a configuration. Policies that
//! trust this system's authorities share those, because reading them costs more than a handshake. TLS 1.2 and
//! 1.3 are supported, with ring's algorithms; older versions and RSA key exchange are not.

mod pem;
mod policy;
mod probe;
mod problem;
mod provider;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

use std::sync::LazyLock;

use devgate_schemas::TransportSchema;

pub(crate) use policy::Tls;
pub(crate) use probe::is_supported;
pub(crate) use problem::{found_in, from_io};
pub(crate) use verify::fingerprint_of;

/// The settings of every transport over TLS, as a base of its own schema.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));
