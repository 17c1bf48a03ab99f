//! TLS: what a target's certificate must prove, what it is shown of us, and what went wrong.
//!
//! The `ssl_*` settings of a target are a policy. Targets with the same one share a configuration, and
//! those that trust this system's authorities share these: reading them costs more than a handshake.
//! TLS 1.2 and 1.3 are spoken, with ring's algorithms; older versions and RSA key exchange are not.

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
pub(crate) use probe::is_spoken;
pub(crate) use problem::{found_in, from_io};
pub(crate) use verify::fingerprint_of;

/// The settings of every transport over TLS, to build its own schema on.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));
