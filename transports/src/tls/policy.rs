//! The TLS policy of a target.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use devgate_schemas::ConnectionInfo;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::pem::{self, Identity};
use super::problem::from_io;
use super::provider::PROVIDER;
use super::verify::{self, Demand, Verifier};
use crate::error::Phase;
use crate::info::{problem as setting_problem, secret};
use crate::tcp::peer;
use crate::{Context, Error, Result};

/// The configurations in use, by the digest of their policy. No keys are stored here.
static CONFIGS: LazyLock<Mutex<HashMap<[u8; 32], Weak<ClientConfig>>>> =
    LazyLock::new(Mutex::default);

/// A policy, ready to open connections.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(super) config: Arc<ClientConfig>,
}

impl Tls {
    /// Reads the settings of [`SCHEMA`](super::SCHEMA), and warns if certificates are not verified.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] when a file or its content cannot be used.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let pinned = info.text("ssl_fingerprint").map(verify::fingerprint);
        let demand = match (pinned.transpose()?, info.boolean("ssl_verify")) {
            (Some(pinned), _) => TrustSettings::Pinned(pinned),
            (None, Some(false)) => {
                ctx.warning(
                    "its certificate is not verified (`ssl_verify: false`): anyone in between can \
                     read and change what is sent; `ssl_fingerprint` pins a certificate instead",
                );
                TrustSettings::Nothing
            }
            (None, _) => {
                let read = |given| pem::authorities(given, ctx.environment());
                TrustSettings::Signed(info.text("ssl_ca_file").map(read).transpose()?)
            }
        };
        let (certificate, key) = (info.text("ssl_cert_file"), secret(info, "ssl_key_file"));
        let identity = Identity::read(certificate, key.as_ref(), ctx.environment())?;
        shared(demand, identity)
    }

    /// Creates a policy for a transport without TLS. It trusts no certificate.
    pub(crate) fn none() -> Self {
        let config = builder().with_root_certificates(rustls::RootCertStore::empty());
        let config = Arc::new(config.with_no_client_auth());
        Self { config }
    }

    /// Returns the same policy with these application protocols (ALPN, RFC 7301).
    pub(crate) fn with_protocols(&self, protocols: &[&[u8]]) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let config = Arc::new(config);
        Self { config }
    }

    /// Returns the configuration.
    pub(crate) fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// Performs the handshake over an open connection.
    ///
    /// In TLS 1.3, a target checks our certificate after the handshake. Therefore pass errors of later
    /// reads and writes to [`from_io`] first.
    ///
    /// # Errors
    /// Fails with [`Error::Tls`], or with [`Error::Closed`] or [`Error::TimedOut`] during [`Phase::Tls`].
    pub(crate) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        (host, port): (&str, u16),
        limit: Duration,
        deadline: Instant,
    ) -> Result<TlsStream<S>> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| setting_problem("host", "is neither a name nor an address"))?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let shaken = timeout_at(deadline, connector.connect(name, stream)).await;
        let peer = peer(host, port);
        match shaken {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(from_io(&peer, &error).unwrap_or_else(|| Error::Closed {
                peer,
                phase: Phase::Tls,
                message: String::new(),
            })),
            Err(_) => Err(Error::TimedOut {
                peer,
                phase: Phase::Tls,
                limit,
                hint: ": does it speak TLS at this `port`? (`timeout` is the limit)".to_owned(),
            }),
        }
    }
}

/// The trust settings, before they are turned into a verifier.
enum TrustSettings {
    Nothing,
    Pinned([u8; 32]),
    /// Signed by these authorities, or by this system's.
    Signed(Option<pem::Certificates>),
}

/// Returns the policy with an existing configuration if there is one in use, or with a new one.
fn shared(trust: TrustSettings, identity: Option<Identity>) -> Result<Tls> {
    let digest = digest(&trust, identity.as_ref());
    let mut configs = CONFIGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = configs.get(&digest).and_then(Weak::upgrade) {
        return Ok(Tls { config });
    }
    let demand = match trust {
        TrustSettings::Nothing => Demand::Nothing,
        TrustSettings::Pinned(pinned) => Demand::Pinned(pinned),
        TrustSettings::Signed(authorities) => Demand::signed_by(authorities)?,
    };
    let config = builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier::new(demand)));
    let config = match identity {
        None => config.with_no_client_auth(),
        Some(Identity { chain, key }) => {
            let config = config.with_client_auth_cert(chain, key).map_err(|error| {
                setting_problem(
                    "ssl_key_file",
                    &format!("does not fit `ssl_cert_file` ({error})"),
                )
            });
            let mut config = config?;
            // Servers on OpenSSL that request certificates without naming a session context (Open vSwitch)
            // reject the handshake of a resumed session.
            config.resumption = Resumption::disabled();
            config
        }
    };
    let config = Arc::new(config);
    configs.retain(|_, config| config.strong_count() > 0);
    configs.insert(digest, Arc::downgrade(&config));
    Ok(Tls { config })
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::clone(&PROVIDER))
        .with_safe_default_protocol_versions()
        .expect("ring has algorithms for both versions")
}

fn digest(trust: &TrustSettings, identity: Option<&Identity>) -> [u8; 32] {
    let mut digest = Sha256::new();
    // Each part is preceded by its length, so that different policies have different digests.
    let mut part = |bytes: &[u8]| {
        digest.update(bytes.len().to_le_bytes());
        digest.update(bytes);
    };
    match trust {
        TrustSettings::Nothing => part(b"nothing"),
        TrustSettings::Pinned(pinned) => part(pinned),
        TrustSettings::Signed(None) => part(b"system"),
        TrustSettings::Signed(Some(authorities)) => {
            part(b"signed");
            authorities.iter().for_each(|authority| part(authority));
        }
    }
    if let Some(Identity { chain, key }) = identity {
        part(b"identity");
        chain.iter().for_each(|certificate| part(certificate));
        part(key.secret_der());
    }
    digest.finalize().into()
}
