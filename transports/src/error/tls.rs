//! The errors of TLS connections.

use std::fmt;

/// TLS with a target is not possible, or not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsProblem {
    /// The peer.
    pub peer: String,
    /// What is wrong.
    pub why: Untrusted,
    /// The SHA-256 fingerprint of the target's certificate, if it presented one.
    pub shown: Option<String>,
}

/// The reason why TLS failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Untrusted {
    /// No trusted authority signed its certificate.
    UnknownIssuer,
    /// The certificate is for other names.
    Name {
        /// The names in the certificate.
        presented: Vec<String>,
    },
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet, or this node's clock is wrong.
    NotYetValid,
    /// The certificate is not the pinned one.
    Fingerprint,
    /// The certificate is of a kind that cannot be verified.
    Unfit(String),
    /// The target rejects our certificate, or requires one.
    ClientCertificate {
        /// The name of the target's alert.
        message: String,
    },
    /// The target supports no version or algorithm that is allowed here.
    TooOld {
        /// What happened.
        message: String,
    },
    /// Anything else.
    Other(String),
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, why, shown } = self;
        match why {
            Untrusted::UnknownIssuer => write!(
                f,
                "the certificate of {peer} is not signed by a trusted authority: name its authority in `ssl_ca_file`"
            )?,
            Untrusted::Name { presented } => {
                write!(f, "the certificate of {peer} is not for that name")?;
                if !presented.is_empty() {
                    write!(f, " but for {}", presented.join(", "))?;
                }
                write!(f, ": use such a name as `host`")?;
            }
            Untrusted::Expired => write!(
                f,
                "the certificate of {peer} has expired: renew it, and check this node's clock"
            )?,
            Untrusted::NotYetValid => write!(
                f,
                "the certificate of {peer} is not valid yet: check the clocks of both sides"
            )?,
            Untrusted::Fingerprint => write!(
                f,
                "the certificate of {peer} is not the one that `ssl_fingerprint` pins: either it \
                 was renewed, or somebody is in between"
            )?,
            Untrusted::Unfit(message) => write!(
                f,
                "the certificate of {peer} cannot be verified ({message}): give it one that an \
                 authority has signed"
            )?,
            Untrusted::ClientCertificate { message } => write!(
                f,
                "{peer} rejects our certificate, or requires one ({message}): check `ssl_cert_file` and `ssl_key_file`"
            )?,
            Untrusted::TooOld { message } => write!(
                f,
                "no common TLS version or cipher with {peer} ({message}): devgate supports TLS 1.2 with ECDHE and TLS \
                 1.3, so enable one of them on the target"
            )?,
            Untrusted::Other(problem) => write!(f, "no TLS with {peer}: {problem}")?,
        }
        match (shown, why) {
            (None, _) => Ok(()),
            (Some(shown), Untrusted::Fingerprint) => write!(f, ". It shows SHA256 {shown}"),
            (Some(shown), _) => write!(
                f,
                "; or pin it with `ssl_fingerprint`, if it is the target's own (it shows SHA256 \
                 {shown})"
            ),
        }
    }
}

impl std::error::Error for TlsProblem {}
