//! OpenSSH's client configuration (ssh_config(5)).
//!
//! The files are read once and evaluated for each host: the first value that applies to a host
//! counts. `Match` blocks are skipped, because some of their conditions run programs.

mod files;
mod item;
mod lookup;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use lookup::{HostOptions, Strict};
pub use read::SshConfig;
