//! Why a host is not trusted.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a host's key was not accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostKeyProblem {
    /// No file knows the host.
    #[error(
        "the host key of {peer} is not known: {algorithm} {fingerprint}; if it is the right one, \
         add this line to {}:\n{line}\nor set `{first_use}: true` (remembers the first key){}",
        file.display(), any_key(*.verify)
    )]
    Unknown {
        /// Whom.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The line that would make it known.
        line: String,
        /// The file for the line.
        file: PathBuf,
        /// The setting that remembers first keys.
        first_use: &'static str,
        /// The setting that accepts any key; `None` where none does.
        verify: Option<&'static str>,
    },
    /// A file has another key of this host.
    #[error(
        "the host key of {peer} has changed: it shows {algorithm} {fingerprint}, but {}:{line} \
         has {known}; someone may be in between, or the device was replaced: if so, remove that \
         line", file.display()
    )]
    Changed {
        /// Whom.
        peer: String,
        /// The key's algorithm.
        algorithm: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The fingerprint on record.
        known: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
    },
    /// A file says that this key must not be used any more.
    #[error("the host key of {peer} ({fingerprint}) is revoked at {}:{line}", file.display())]
    Revoked {
        /// Whom.
        peer: String,
        /// The key's SHA-256 fingerprint.
        fingerprint: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
    },
    /// The host is recorded only by an authority that signs host certificates, and shows none.
    #[error(
        "{} trusts {peer} only through a certificate authority (line {line}), but it shows no \
         certificate: let the authority sign its key, or add the key itself:\n{entry}",
        file.display()
    )]
    OnlyAuthority {
        /// Whom.
        peer: String,
        /// The file with the record.
        file: PathBuf,
        /// Its line.
        line: usize,
        /// The line that would make the host's own key known.
        entry: String,
    },
    /// The host shows a certificate that does not prove who it is.
    #[error("the host certificate `{id}` of {peer} is not accepted: it {problem}")]
    Certificate {
        /// Whom.
        peer: String,
        /// How its authority named it.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The file of known hosts cannot be read or written.
    #[error("cannot {what} the known hosts in {}: {cause}", file.display())]
    File {
        /// Read, write.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
}

fn any_key(setting: Option<&str>) -> String {
    setting.map_or_else(String::new, |setting| {
        format!(" or `{setting}: false` (accepts any key)")
    })
}
