//! Verifying certificates.

use std::sync::{Arc, LazyLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, OtherError, RootCertStore,
    SignatureScheme,
};
use sha2::{Digest, Sha256};

use super::pem::Certificates;
use super::problem::{TlsVerdict, reason, untrusted};
use super::provider::PROVIDER;
use crate::error::Untrusted;
use crate::info::problem;
use crate::{Error, Result};

/// This system's authorities, read once.
static SYSTEM: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
});

/// The requirement on a certificate.
#[derive(Debug)]
pub(super) enum Demand {
    Nothing,
    /// It has this SHA-256 fingerprint.
    Pinned([u8; 32]),
    /// It is valid now and for the target's name, and signed by a trusted authority.
    Signed(Arc<WebPkiServerVerifier>),
}

impl Demand {
    pub(super) fn signed_by(authorities: Option<Certificates>) -> Result<Self> {
        let roots = match authorities {
            None => Arc::clone(&SYSTEM),
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                for authority in authorities {
                    roots.add(authority).map_err(|error| {
                        let why = match error {
                            TlsError::InvalidCertificate(error) => reason(&error),
                            error => error.to_string(),
                        };
                        let why = format!("holds a certificate that cannot be read ({why})");
                        problem("ssl_ca_file", &why)
                    })?;
                }
                Arc::new(roots)
            }
        };
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&PROVIDER));
        let verifier = verifier.build().map_err(|_| {
            problem(
                "ssl_ca_file",
                "is not given, and this system trusts nobody (is `ca-certificates` installed?): \
                 name the target's authority, or pin its certificate with `ssl_fingerprint`",
            )
        })?;
        Ok(Self::Signed(verifier))
    }
}

/// Verifies certificates according to a requirement.
#[derive(Debug)]
pub(super) struct Verifier {
    demand: Demand,
}

impl Verifier {
    pub(super) fn new(demand: Demand) -> Self {
        Self { demand }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, TlsError> {
        let shown: [u8; 32] = Sha256::digest(leaf).into();
        let why = match &self.demand {
            Demand::Nothing => return Ok(ServerCertVerified::assertion()),
            Demand::Pinned(pinned) if *pinned == shown => {
                return Ok(ServerCertVerified::assertion());
            }
            Demand::Pinned(_) => Untrusted::Fingerprint,
            Demand::Signed(verifier) => {
                match verifier.verify_server_cert(leaf, between, name, ocsp, now) {
                    Ok(verified) => return Ok(verified),
                    Err(error) => untrusted(&error),
                }
            }
        };
        let shown = in_hex(&shown);
        let verdict = OtherError(Arc::new(TlsVerdict { why, shown }));
        Err(TlsError::InvalidCertificate(CertificateError::Other(
            verdict,
        )))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        if let Demand::Nothing = self.demand {
            return Ok(HandshakeSignatureValid::assertion());
        }
        // A certificate is public. Only this signature proves that it belongs to the peer.
        let algorithms = &PROVIDER.signature_verification_algorithms;
        verify_tls12_signature(message, leaf, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        if let Demand::Nothing = self.demand {
            return Ok(HandshakeSignatureValid::assertion());
        }
        let algorithms = &PROVIDER.signature_verification_algorithms;
        verify_tls13_signature(message, leaf, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Parses a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.
pub(super) fn fingerprint(text: &str) -> Result<[u8; 32]> {
    let digits: Vec<u8> = text
        .trim()
        .bytes()
        .filter(|byte| *byte != b':')
        .map(|byte| {
            char::from(byte)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()
        .unwrap_or_default();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    <[u8; 32]>::try_from(bytes)
        .ok()
        .filter(|_| digits.len() == 64)
        .ok_or_else(|| Error::Setting {
            setting: "ssl_fingerprint",
            problem: "is no SHA-256 fingerprint: 64 hexadecimal digits, as `openssl x509 -noout \
                      -fingerprint -sha256` shows them"
                .to_owned(),
        })
}

/// Returns the fingerprint of a certificate (DER), as `openssl x509 -fingerprint -sha256` shows it.
pub(crate) fn fingerprint_of(certificate: &[u8]) -> String {
    in_hex(&Sha256::digest(certificate))
}

fn in_hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_with_colons_or_without() {
        let bytes: [u8; 32] = std::array::from_fn(|index| u8::try_from(index * 7).expect("small"));
        let shown = in_hex(&bytes);
        assert!(shown.starts_with("00:07:0E:"), "{shown}");
        let bare = shown.replace(':', "").to_lowercase();
        for text in [shown.as_str(), &bare, &format!(" {shown}\n")] {
            assert_eq!(fingerprint(text).expect("a fingerprint"), bytes, "{text}");
        }
        for wrong in [
            "",
            "00:07",
            &format!("{bare}0"),
            &bare.replace('0', "g"),
            &bare[1..],
        ] {
            let error = fingerprint(wrong).expect_err("no fingerprint").to_string();
            assert!(
                error.starts_with("ssl_fingerprint: is no SHA-256"),
                "{error}"
            );
        }
    }
}
