//! Translating the errors of the TLS library.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

use crate::Error;
use crate::error::{TlsProblem, Untrusted, causes};

/// Why a certificate is not trusted. Our verifier passes this through the TLS library.
#[derive(Clone, Debug)]
pub(super) struct TlsVerdict {
    pub(super) why: Untrusted,
    /// The certificate's fingerprint.
    pub(super) shown: String,
}

impl fmt::Display for TlsVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the certificate {} is not trusted", self.shown)
    }
}

impl std::error::Error for TlsVerdict {}

/// Returns the error of a connection as a TLS error, if it is one.
pub(crate) fn from_io(peer: &str, error: &io::Error) -> Option<Error> {
    found_in(peer, error)
}

/// Returns the first TLS error among an error and its causes.
pub(crate) fn found_in(peer: &str, error: &(dyn StdError + 'static)) -> Option<Error> {
    let itself = causes(error).find_map(|error| error.downcast_ref::<TlsError>());
    if let Some(error) = itself {
        return Some(problem(peer, error));
    }
    // HTTP/2 keeps only the text of an underlying error. The handshake is complete on our side by then.
    causes(error).find_map(|error| {
        let text = error.to_string();
        let (_, alert) = text.split_once("received fatal alert: ")?;
        let message = words(alert);
        let why = Untrusted::ClientCertificate { message };
        Some(tls_error(peer, why, None))
    })
}

fn problem(peer: &str, error: &TlsError) -> Error {
    let (why, shown) = match verdict(error) {
        Some(TlsVerdict { why, shown }) => (why.clone(), Some(shown.clone())),
        None => (untrusted(error), None),
    };
    tls_error(peer, why, shown)
}

pub(super) fn tls_error(peer: &str, why: Untrusted, shown: Option<String>) -> Error {
    Error::Tls(Box::new(TlsProblem {
        peer: peer.to_owned(),
        why,
        shown,
    }))
}

/// Returns the verdict of our own verifier.
fn verdict(error: &TlsError) -> Option<&TlsVerdict> {
    match error {
        TlsError::InvalidCertificate(CertificateError::Other(other)) => other.0.downcast_ref(),
        _ => None,
    }
}

/// Translates an error of the TLS library.
pub(super) fn untrusted(error: &TlsError) -> Untrusted {
    match error {
        TlsError::InvalidCertificate(error) => of_certificate(error),
        TlsError::AlertReceived(alert) => of_alert(*alert),
        TlsError::PeerIncompatible(why) => Untrusted::TooOld {
            message: words(named(&format!("{why:?}"))),
        },
        TlsError::PeerMisbehaved(why) => {
            let why = words(named(&format!("{why:?}")));
            Untrusted::Other(format!("it does not keep to the rules of TLS ({why})"))
        }
        TlsError::InvalidMessage(_) | TlsError::InappropriateMessage { .. } => Untrusted::Other(
            "what it answers is no TLS: check `port`, or `protocol` if none is meant".to_owned(),
        ),
        error => Untrusted::Other(error.to_string()),
    }
}

fn of_certificate(error: &CertificateError) -> Untrusted {
    match error {
        CertificateError::UnknownIssuer => Untrusted::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Untrusted::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Untrusted::NotYetValid
        }
        CertificateError::NotValidForName => Untrusted::Name {
            presented: Vec::new(),
        },
        CertificateError::NotValidForNameContext { presented, .. } => Untrusted::Name {
            presented: presented.iter().map(|name| bare(name).to_owned()).collect(),
        },
        error => Untrusted::Unfit(reason(error)),
    }
}

/// The reasons why certificates are rejected: the library's names and our descriptions.
const REASONS: [(&str, &str); 14] = [
    (
        "CaUsedAsEndEntity",
        "it shows the certificate of an authority as its own",
    ),
    (
        "EndEntityUsedAsCa",
        "what has signed it may sign no certificates",
    ),
    ("BadEncoding", "it is damaged"),
    ("BadDer", "it is damaged"),
    ("Revoked", "it was revoked"),
    (
        "UnhandledCriticalExtension",
        "it has a critical extension that is not known here",
    ),
    (
        "UnsupportedCriticalExtension",
        "it has a critical extension that is not known here",
    ),
    (
        "BadSignature",
        "its signature does not fit the key of who should have signed it",
    ),
    (
        "UnsupportedSignatureAlgorithm",
        "it is signed in a way that is not safe enough, such as with SHA-1 or a short RSA key",
    ),
    (
        "UnsupportedSignatureAlgorithmForPublicKey",
        "it is signed in a way that does not fit the key of who should have signed it",
    ),
    ("InvalidPurpose", "it is not made for servers"),
    (
        "PathLenConstraintViolated",
        "there are more authorities between than one of them allows",
    ),
    (
        "NameConstraintViolation",
        "an authority that has signed it may not do so for that name",
    ),
    ("UnsupportedCertVersion", "it is older than version 3"),
];

/// Describes why a certificate is not acceptable.
pub(super) fn reason(error: &CertificateError) -> String {
    let name = match error {
        CertificateError::Other(other) => format!("{:?}", other.0),
        other => format!("{other:?}"),
    };
    let name = named(&name);
    let known = REASONS.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| words(name), |(_, reason)| (*reason).to_owned())
}

/// Returns the name of a variant, without its fields and context.
fn named(variant: &str) -> &str {
    let end = variant.find(|c: char| !c.is_ascii_alphanumeric());
    let name = &variant[..end.unwrap_or(variant.len())];
    name.strip_suffix("Context").unwrap_or(name)
}

/// Returns the bare name: `sw1` for `DnsName("sw1")`, `192.0.2.1` for `IpAddress(192.0.2.1)`.
fn bare(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

/// Translates a target's alert (RFC 8446, 6.2).
fn of_alert(alert: AlertDescription) -> Untrusted {
    use AlertDescription as Alert;
    let message = words(&format!("{alert:?}"));
    match alert {
        Alert::CertificateRequired
        | Alert::NoCertificate
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::DecryptError
        | Alert::AccessDenied => Untrusted::ClientCertificate { message },
        Alert::ProtocolVersion | Alert::InsufficientSecurity => Untrusted::TooOld { message },
        // In TLS 1.2, this is also the only alert about a missing client certificate.
        Alert::HandshakeFailure => Untrusted::TooOld {
            message: format!("{message}; it may also want a certificate, `ssl_cert_file`"),
        },
        _ => Untrusted::Other(format!("it ends the handshake with `{message}`")),
    }
}

/// Splits a name into words: `CertificateRequired` becomes `certificate required`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut capital = true;
    for c in name.chars() {
        if c.is_ascii_uppercase() && !capital {
            words.push(' ');
        }
        capital = c.is_ascii_uppercase();
        words.push(c.to_ascii_lowercase());
    }
    words
}
