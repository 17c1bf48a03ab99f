//! Handshakes with a test server, whose certificates are next to this file.

use std::sync::Arc;
use std::time::Duration;

use devgate_schemas::{Level, RawConnectionInfo, Value};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::provider::PROVIDER;
use super::*;
use crate::cli::fake::TestBench;
use crate::error::{Phase, Untrusted};
use crate::{Error, Result};

/// The authority that signed all of them except [`SELF_SIGNED`] and [`UNKNOWN_CLIENT`].
pub(crate) const CA: &str = include_str!("ca.pem");
/// For `localhost` and 127.0.0.1.
pub(crate) const SERVER: &str = include_str!("server.pem");
pub(crate) const SERVER_KEY: &str = include_str!("server.key");
pub(crate) const CLIENT: &str = include_str!("client.pem");
pub(crate) const CLIENT_KEY: &str = include_str!("client.key");
/// Like the server's, but self-signed as an authority's certificate, as most devices have it.
const SELF_SIGNED: &str = include_str!("selfsigned.pem");
/// Like the server's, but never valid.
const EXPIRED: &str = include_str!("expired.pem");
/// For `sw9.example.com` and 192.0.2.9.
const ELSEWHERE: &str = include_str!("elsewhere.pem");
const ELSEWHERE_KEY: &str = include_str!("elsewhere.key");
/// Like the client's, but self-signed.
const UNKNOWN_CLIENT: &str = include_str!("stranger.pem");

/// A server's configuration: its certificate, and whether it requires a client certificate of [`CA`].
pub(crate) fn server(certificate: &str, key: &str, wants_certificate: bool) -> Arc<ServerConfig> {
    let pem = |text: &str| -> Vec<CertificateDer<'static>> {
        let found = CertificateDer::pem_slice_iter(text.as_bytes());
        found.map(|found| found.expect("a certificate")).collect()
    };
    let config = ServerConfig::builder_with_provider(Arc::clone(&PROVIDER))
        .with_safe_default_protocol_versions()
        .expect("versions");
    let config = if wants_certificate {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(pem(CA));
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&PROVIDER));
        config.with_client_cert_verifier(verifier.build().expect("a verifier"))
    } else {
        config.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    Arc::new(
        config
            .with_single_cert(pem(certificate), key)
            .expect("a server"),
    )
}

/// Reads the policy from settings. Also returns the messages.
fn policy(settings: &[(&str, &str)]) -> (Result<Tls>, Vec<String>) {
    let raw = settings.iter().map(|(name, value)| {
        let value = if *name == "ssl_verify" {
            Value::from(*value == "true")
        } else {
            Value::from(*value)
        };
        (*name, value)
    });
    let info = SCHEMA
        .read(RawConnectionInfo::new(raw.collect()), |_, _| {})
        .expect("it fits");
    let bench = TestBench::default();
    let tls = Tls::read(&bench.ctx(), &info);
    (tls, bench.messages(Level::Warning))
}

/// Performs a handshake with these settings, and exchanges a byte in each direction.
async fn handshake(server: Arc<ServerConfig>, settings: &[(&str, &str)]) -> Result<()> {
    let (ours, theirs) = duplex(1 << 16);
    let serving = async {
        if let Ok(mut stream) = TlsAcceptor::from(server).accept(theirs).await {
            let _ = stream.write_all(b"x").await;
            let _ = stream.shutdown().await;
        }
    };
    let asking = async {
        let limit = Duration::from_secs(5);
        let tls = policy(settings).0?;
        let mut stream = tls
            .connect(ours, ("localhost", 443), limit, Instant::now() + limit)
            .await?;
        let read = stream.read_u8().await;
        read.map(drop)
            .map_err(|error| from_io("localhost:443", &error).expect("an error of TLS"))
    };
    tokio::join!(serving, asking).1
}

async fn untrusted_by(server: Arc<ServerConfig>, settings: &[(&str, &str)]) -> (Untrusted, String) {
    let error = handshake(server, settings)
        .await
        .expect_err("it is refused");
    assert!(!error.is_transient());
    let text = error.to_string();
    match error {
        Error::Tls(problem) => (problem.why, text),
        error => panic!("{error:?}"),
    }
}

/// `openssl x509 -in server.pem -noout -fingerprint -sha256`
fn fingerprint_of(certificate: &str) -> String {
    let certificate =
        CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
    Sha256::digest(&certificate)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[tokio::test]
async fn a_certificate_that_a_trusted_authority_signed_for_this_name_is_accepted() {
    let plain = server(SERVER, SERVER_KEY, false);
    handshake(Arc::clone(&plain), &[("ssl_ca_file", CA)])
        .await
        .expect("trusted");
    let (why, text) = untrusted_by(plain, &[]).await;
    assert_eq!(why, Untrusted::UnknownIssuer);
    assert!(
        text.contains("`ssl_ca_file`") && text.contains("SHA256 "),
        "{text}"
    );
}

#[tokio::test]
async fn problems_of_a_certificate_are_reported() {
    let ca = [("ssl_ca_file", CA)];
    let (why, text) = untrusted_by(server(ELSEWHERE, ELSEWHERE_KEY, false), &ca).await;
    let presented = ["sw9.example.com", "192.0.2.9"].map(str::to_owned).to_vec();
    assert_eq!(why, Untrusted::Name { presented });
    assert!(
        text.contains("but for sw9.example.com, 192.0.2.9"),
        "{text}"
    );
    let (why, _) = untrusted_by(server(EXPIRED, SERVER_KEY, false), &ca).await;
    assert_eq!(why, Untrusted::Expired);
    let itself = [("ssl_ca_file", SELF_SIGNED)];
    let (why, text) = untrusted_by(server(SELF_SIGNED, SERVER_KEY, false), &itself).await;
    assert!(matches!(why, Untrusted::Unfit(_)), "{why:?}");
    assert!(
        text.contains("(it shows the certificate of an authority as its own)"),
        "{text}"
    );
    assert!(text.contains("or pin it with `ssl_fingerprint`"), "{text}");
}

#[tokio::test]
async fn only_the_pinned_certificate_is_accepted_whoever_signed_it() {
    for certificate in [SERVER, SELF_SIGNED, EXPIRED] {
        let shown = fingerprint_of(certificate);
        let server = server(certificate, SERVER_KEY, false);
        handshake(server, &[("ssl_fingerprint", &shown)])
            .await
            .expect("it is that one");
    }
    let pinned = fingerprint_of(SERVER);
    for settings in [
        &[("ssl_fingerprint", pinned.as_str())][..],
        &[("ssl_fingerprint", &pinned), ("ssl_verify", "false")],
    ] {
        let (why, text) = untrusted_by(server(SELF_SIGNED, SERVER_KEY, false), settings).await;
        assert_eq!(why, Untrusted::Fingerprint);
        assert!(text.contains("It shows SHA256 "), "{text}");
    }
}

#[tokio::test]
async fn without_verification_every_certificate_is_accepted_with_a_warning() {
    let settings = [("ssl_verify", "false")];
    for (certificate, key) in [
        (SELF_SIGNED, SERVER_KEY),
        (EXPIRED, SERVER_KEY),
        (ELSEWHERE, ELSEWHERE_KEY),
    ] {
        handshake(server(certificate, key, false), &settings)
            .await
            .expect("taken");
    }
    let (_, message) = policy(&settings);
    assert!(
        message.len() == 1 && message[0].contains("anyone in between"),
        "{message:?}"
    );
    assert_eq!(policy(&[]).1, [""; 0]);
}

#[tokio::test]
async fn a_server_that_requires_a_certificate_gets_ours_or_the_error_explains_why_not() {
    let wants = server(SERVER, SERVER_KEY, true);
    let with = |certificate, key| {
        [
            ("ssl_ca_file", CA),
            ("ssl_cert_file", certificate),
            ("ssl_key_file", key),
        ]
    };
    handshake(Arc::clone(&wants), &with(CLIENT, CLIENT_KEY))
        .await
        .expect("let in");
    let (why, text) = untrusted_by(Arc::clone(&wants), &[("ssl_ca_file", CA)]).await;
    assert!(
        matches!(why, Untrusted::ClientCertificate { .. }),
        "{why:?}"
    );
    assert!(
        text.contains("(certificate required): check `ssl_cert_file`"),
        "{text}"
    );
    let (why, _) = untrusted_by(wants, &with(UNKNOWN_CLIENT, CLIENT_KEY)).await;
    assert!(
        matches!(why, Untrusted::ClientCertificate { .. }),
        "{why:?}"
    );
    let (unfit, _) = policy(&with(CLIENT, SERVER_KEY));
    let error = unfit.expect_err("another's key").to_string();
    assert!(
        error.starts_with("ssl_key_file: does not fit `ssl_cert_file`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_peer_without_tls_and_one_that_hangs_up_have_different_errors() {
    let limit = Duration::from_secs(5);
    let answered = async |answer: &'static [u8]| {
        let (ours, mut theirs) = duplex(1 << 16);
        theirs.write_all(answer).await.expect("written");
        theirs.shutdown().await.expect("ended");
        let tls = policy(&[]).0.expect("a policy");
        let shaken = tls.connect(ours, ("localhost", 443), limit, Instant::now() + limit);
        shaken.await.map(drop).expect_err("no TLS")
    };
    let error = answered(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(
        error
            .to_string()
            .contains("what it answers is no TLS: check `port`"),
        "{error}"
    );
    let error = answered(b"").await;
    assert!(
        matches!(
            error,
            Error::Closed {
                phase: Phase::Tls,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.is_transient());
}

#[test]
fn targets_with_the_same_policy_share_a_configuration() {
    let one = |settings: &[(&str, &str)]| policy(settings).0.expect("a policy").config;
    let pinned = fingerprint_of(SERVER);
    let (a, b) = (one(&[("ssl_ca_file", CA)]), one(&[("ssl_ca_file", CA)]));
    assert!(Arc::ptr_eq(&a, &b));
    assert!(!Arc::ptr_eq(&a, &one(&[("ssl_ca_file", SELF_SIGNED)])));
    assert!(!Arc::ptr_eq(&a, &one(&[("ssl_fingerprint", &pinned)])));
    let identity = [
        ("ssl_ca_file", CA),
        ("ssl_cert_file", CLIENT),
        ("ssl_key_file", CLIENT_KEY),
    ];
    assert!(!Arc::ptr_eq(&a, &one(&identity)));
}
