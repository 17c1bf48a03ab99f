//! What the TLS library reports, in our words.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::verify::Verdict;
use crate::Error;
use crate::error::{TlsProblem, Untrusted, causes};

/// The error of a connection as one of TLS, if it is one.
pub(crate) fn from_io(peer: &str, error: &io::Error) -> Option<Error> {
    found_in(peer, error)
}

/// The first error of TLS among an error and its causes.
pub(crate) fn found_in(peer: &str, error: &(dyn StdError + 'static)) -> Option<Error> {
    let itself = causes(error).find_map(|error| error.downcast_ref::<TlsError>());
    if let Some(error) = itself {
        return Some(problem(peer, error));
    }
    // All that HTTP/2 keeps of an error below it is its text. By then the handshake is over for us.
    causes(error).find_map(|error| {
        let text = error.to_string();
        let (_, alert) = text.split_once("received fatal alert: ")?;
        let said = words(alert);
        let why = Untrusted::ClientCertificate { said };
        Some(tls_error(peer, why, None))
    })
}

fn problem(peer: &str, error: &TlsError) -> Error {
    let (why, shown) = match verdict(error) {
        Some(Verdict { why, shown }) => (why.clone(), Some(shown.clone())),
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

/// What our own verifier said.
fn verdict(error: &TlsError) -> Option<&Verdict> {
    match error {
        TlsError::InvalidCertificate(CertificateError::Other(other)) => other.0.downcast_ref(),
        _ => None,
    }
}

/// What is wrong, by an error of the TLS library.
pub(super) fn untrusted(error: &TlsError) -> Untrusted {
    match error {
        TlsError::InvalidCertificate(error) => of_certificate(error),
        TlsError::AlertReceived(alert) => of_alert(*alert),
        TlsError::PeerIncompatible(_) => Untrusted::TooOld {
            said: error.to_string(),
        },
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
        error => Untrusted::Unfit(error.to_string()),
    }
}

/// `DnsName("sw1")` is `sw1`, `IpAddress(192.0.2.1)` is `192.0.2.1`.
fn bare(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

/// What a target complains of (RFC 8446, 6.2).
fn of_alert(alert: AlertDescription) -> Untrusted {
    use AlertDescription as Alert;
    let said = words(&format!("{alert:?}"));
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
        | Alert::AccessDenied => Untrusted::ClientCertificate { said },
        Alert::ProtocolVersion | Alert::InsufficientSecurity => Untrusted::TooOld { said },
        // All that TLS 1.2 says to who shows no certificate.
        Alert::HandshakeFailure => Untrusted::TooOld {
            said: format!("{said}; it may also want a certificate, `ssl_cert_file`"),
        },
        _ => Untrusted::Other(format!("it ends the handshake with `{said}`")),
    }
}

/// `CertificateRequired` is `certificate required`.
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
