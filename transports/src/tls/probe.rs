//! Finding out why a connection ended without an error message, with one further connection.
//!
//! In TLS 1.3, a target checks our certificate after the handshake is complete on our side (RFC 8446,
//! 4.4.2.4). If a request is on its way by then, the connection may break before the alert with the reason
//! is read. On the further connection nothing is sent, so the alert arrives. Some targets send no alert at
//! all (servers on Python's asyncio). For those, it is recorded whether they requested a certificate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

use super::policy::Tls;
use super::problem::{from_io, tls_error};
use crate::error::Untrusted;
use crate::{Context, Destination, Error, dial, tcp};

/// The time to wait for a target's complaint.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

impl Tls {
    /// Returns a target's complaint about TLS with us: [`Error::Tls`]. Returns `None` if it has none, or if
    /// it cannot be reached.
    pub(crate) async fn probe_problem(
        &self,
        ctx: &Context<'_>,
        host: &str,
        port: u16,
    ) -> Option<Error> {
        let deadline = Instant::now() + PROBE_TIMEOUT;
        let (tls, asked) = self.noting();
        let asking = async {
            let stream =
                dial::connect(ctx, Destination::tcp(host, port), PROBE_TIMEOUT, deadline).await?;
            let mut stream = tls
                .connect(stream, (host, port), PROBE_TIMEOUT, deadline)
                .await?;
            let heard = stream.read_u8().await;
            let problem = |error| {
                let peer = tcp::peer(host, port);
                from_io(&peer, &error).or_else(|| asked.probe_problem(&peer))
            };
            Ok(heard.err().and_then(problem))
        };
        match timeout_at(deadline, asking).await {
            Ok(Ok(problem)) => problem,
            Ok(Err(error @ Error::Tls(_))) => Some(error),
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

/// Our certificates, and whether a target has requested one.
#[derive(Debug)]
struct ProbeVerifier {
    ours: Arc<dyn ResolvesClientCert>,
    was_asked: AtomicBool,
}

impl ProbeVerifier {
    /// Interprets the end of a connection without an alert.
    fn probe_problem(&self, peer: &str) -> Option<Error> {
        self.was_asked.load(Ordering::Relaxed).then(|| {
            let message = "it asks for one, and then ends the connection without a word".to_owned();
            tls_error(peer, Untrusted::ClientCertificate { message }, None)
        })
    }
}

impl ResolvesClientCert for ProbeVerifier {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.was_asked.store(true, Ordering::Relaxed);
        self.ours.resolve(issuers, schemes)
    }

    fn has_certs(&self) -> bool {
        self.ours.has_certs()
    }
}

impl Tls {
    /// Returns the same policy, which also records whether a certificate is requested.
    fn noting(&self) -> (Self, Arc<ProbeVerifier>) {
        let mut config = ClientConfig::clone(self.config());
        let asked = Arc::new(ProbeVerifier {
            ours: Arc::clone(&config.client_auth_cert_resolver),
            was_asked: AtomicBool::new(false),
        });
        config.client_auth_cert_resolver = Arc::clone(&asked) as Arc<dyn ResolvesClientCert>;
        let config = Arc::new(config);
        (Self { config }, asked)
    }
}

/// Returns whether a port where TLS was not expected uses TLS.
pub(crate) async fn is_supported(ctx: &Context<'_>, host: &str, port: u16) -> bool {
    // Without trusted authorities, any certificate leads to a complaint.
    match Tls::none().probe_problem(ctx, host, port).await {
        Some(Error::Tls(problem)) => !matches!(problem.why, Untrusted::Other(_)),
        _ => false,
    }
}
