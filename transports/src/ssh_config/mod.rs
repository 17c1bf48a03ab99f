//! What OpenSSH's client configuration says of hosts (ssh_config(5)).
//!
//! It is read once and asked for each host: the first value that applies to a host is the one that
//! counts. `Match` blocks are skipped, because some of their conditions run programs.

mod files;
mod item;
mod lookup;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use lookup::{HostOptions, Strict};
pub use read::SshConfig;
