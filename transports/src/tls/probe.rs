//! Why a connection ended without a word, as one more connection tells it.
//!
//! In TLS 1.3 a target looks at our certificate when the handshake is over for us (RFC 8446, 4.4.2.4).
//! If a request is on its way by then, the connection breaks under it, and the alert that says why may
//! never be read. On one more connection nothing is sent, so that it is. Some targets send no alert at
//! all (servers on Python's asyncio): of those it is known whether they asked for a certificate.

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
use crate::{Error, tcp};

/// How long a target may take to complain.
const LIMIT: Duration = Duration::from_secs(2);

impl Tls {
    /// What a target has against TLS with us: [`Error::Tls`]; `None` if it has nothing, or if it
    /// cannot be asked.
    pub(crate) async fn complaint(&self, host: &str, port: u16) -> Option<Error> {
        let deadline = Instant::now() + LIMIT;
        let (tls, asked) = self.noting();
        let asking = async {
            let stream = tcp::connect(host, port, LIMIT, deadline).await?;
            let mut stream = tls.connect(stream, (host, port), LIMIT, deadline).await?;
            let heard = stream.read_u8().await;
            let complaint = |error| {
                let peer = tcp::peer(host, port);
                from_io(&peer, &error).or_else(|| asked.complaint(&peer))
            };
            Ok(heard.err().and_then(complaint))
        };
        match timeout_at(deadline, asking).await {
            Ok(Ok(complaint)) => complaint,
            Ok(Err(error @ Error::Tls(_))) => Some(error),
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

/// Our certificates, and whether a target has asked for one.
#[derive(Debug)]
struct Asked {
    ours: Arc<dyn ResolvesClientCert>,
    was_asked: AtomicBool,
}

impl Asked {
    /// What it means that a connection ended without an alert.
    fn complaint(&self, peer: &str) -> Option<Error> {
        self.was_asked.load(Ordering::Relaxed).then(|| {
            let said = "it asks for one, and then ends the connection without a word".to_owned();
            tls_error(peer, Untrusted::ClientCertificate { said }, None)
        })
    }
}

impl ResolvesClientCert for Asked {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.was_asked.store(true, Ordering::Relaxed);
        self.ours.resolve(issuers, schemes)
    }

    fn has_certs(&self) -> bool {
        self.ours.has_certs()
    }
}

impl Tls {
    /// The same policy, which notes whether a certificate is asked for.
    fn noting(&self) -> (Self, Arc<Asked>) {
        let mut config = ClientConfig::clone(self.config());
        let asked = Arc::new(Asked {
            ours: Arc::clone(&config.client_auth_cert_resolver),
            was_asked: AtomicBool::new(false),
        });
        config.client_auth_cert_resolver = Arc::clone(&asked) as Arc<dyn ResolvesClientCert>;
        let config = Arc::new(config);
        (Self { config }, asked)
    }
}

/// Whether TLS is spoken at a port where it was not expected.
pub(crate) async fn is_spoken(host: &str, port: u16) -> bool {
    // Who trusts nobody complains of every certificate that he is shown.
    match Tls::none().complaint(host, port).await {
        Some(Error::Tls(problem)) => !matches!(problem.why, Untrusted::Other(_)),
        _ => false,
    }
}
