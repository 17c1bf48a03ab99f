//! Errors for host keys that are not trusted.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a host's key was not accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostKeyProblem {
    /// No known hosts file contains the host.
    #[error(
        "the host key of {peer} is not known: {algorithm} {fingerprint}; if it is the right one, \
         add this line to {}:\n{line}\nor set `{first_use}: true` (remembers the first key){}",
        file.display(), any_key(*.verify)
    )]
    Unknown {
        /// The peer.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The line that would record the key.
        line: String,
        /// The file for the line.
        file: PathBuf,
        /// The setting that records the first key of a host.
        first_use: &'static str,
        /// The setting that accepts any key; `None` if there is none.
        verify: Option<&'static str>,
    },
    /// A known hosts file contains another key of this host.
    #[error(
        "the host key of {peer} has changed: it shows {algorithm} {fingerprint}, but {}:{line} \
         has {known}; someone may be in between, or the device was replaced: if so, remove that \
         line", file.display()
    )]
    Changed {
        /// The peer.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The fingerprint on record.
        known: String,
        /// The file with the record.
        file: PathBuf,
        /// The line of the record.
        line: usize,
    },
    /// A known hosts file revokes the key.
    #[error("the host key of {peer} ({fingerprint}) is revoked at {}:{line}", file.display())]
    Revoked {
        /// The peer.
        peer: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The file with the record.
        file: PathBuf,
        /// The line of the record.
        line: usize,
    },
    /// Only an authority for host certificates is recorded, and the host presented no certificate.
    #[error(
        "{} trusts {peer} only through a certificate authority (line {line}), but it shows no \
         certificate: let the authority sign its key, or add the key itself:\n{entry}",
        file.display()
    )]
    OnlyAuthority {
        /// The peer.
        peer: String,
        /// The file with the record.
        file: PathBuf,
        /// The line of the record.
        line: usize,
        /// The line that would record the host's own key.
        entry: String,
    },
    /// The host's certificate does not prove its identity.
    #[error("the host certificate `{id}` of {peer} is not accepted: it {problem}")]
    Certificate {
        /// The peer.
        peer: String,
        /// The identifier that the authority gave the certificate.
        id: String,
        /// What is wrong with the certificate.
        problem: String,
    },
    /// A known hosts file cannot be read or written.
    #[error("cannot {what} the known hosts in {}: {cause}: {}", file.display(), next_for_file(what))]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

fn next_for_file(what: &str) -> &'static str {
    match what {
        "write" => {
            "make it writable, name another file (`known_hosts_file`, `known-hosts-file`), or add the host's line yourself"
        }
        _ => "make it readable, or name another file (`known_hosts_file`, `known-hosts-file`)",
    }
}

fn any_key(setting: Option<&str>) -> String {
    setting.map_or_else(String::new, |setting| {
        format!(" or `{setting}: false` (accepts any key)")
    })
}
