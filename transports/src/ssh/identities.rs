//! The user's keys and certificates that a login may try.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use devgate_schemas::Sensitive;
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Certificate, PrivateKey, PublicKey, decode_secret_key};
use tokio::task::spawn_blocking;

use super::private_key;
use super::settings::{Identities, Settings};
use crate::{Result, reading};

/// A key from a file. Only the public half is known if the file cannot be opened.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) public: PublicKey,
    pub(super) private: Option<PrivateKey>,
}

/// The keys and certificates that may be tried, and the problems with others.
#[derive(Debug, Default)]
pub(super) struct FoundIdentities {
    /// The keys from files, in order.
    pub(super) keys: Vec<Identity>,
    pub(super) certificates: Vec<Certificate>,
    /// Reasons why existing files cannot be used.
    pub(super) unusable: Vec<String>,
}

/// Reads the key that the settings name, with its certificates: those next to it and those configured.
///
/// # Errors
/// Fails when the key cannot be read.
pub(super) async fn configured(
    settings: &Settings,
) -> Result<Option<(PrivateKey, FoundIdentities)>> {
    let Some(key) = private_key::load(settings).await? else {
        return Ok(None);
    };
    let mut found = FoundIdentities::default();
    found.read_certificates(&settings.identities);
    if let Some(given) = settings.private_key.as_ref().and_then(private_key::file) {
        found.read_certificate(&certificate_path(Path::new(given)), false);
    }
    Ok(Some((key, found)))
}

/// Reads the keys to try if none is configured.
pub(super) async fn default_keys(settings: &Settings) -> FoundIdentities {
    let identities = settings.identities.clone();
    let passphrase = settings.passphrase.clone();
    let mut found = FoundIdentities::default();
    found.read_certificates(&identities);
    // Decrypting a key is expensive by design.
    let reading = spawn_blocking(move || {
        for file in &identities.files {
            found.read_key(file, passphrase.as_ref());
        }
        found
    });
    reading.await.expect("reading keys does not panic")
}

impl FoundIdentities {
    /// Returns the certificates for a key.
    pub(super) fn certificates_for<'f>(
        &'f self,
        key: &'f KeyData,
    ) -> impl Iterator<Item = &'f Certificate> {
        self.certificates
            .iter()
            .filter(move |certificate| certificate.public_key() == key)
    }

    /// Returns whether a key is among those from files.
    pub(super) fn has(&self, key: &PublicKey) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|own| own.public.key_data() == key.key_data())
    }

    fn read_key(&mut self, file: &Path, passphrase: Option<&Sensitive<String>>) {
        let Ok(text) = reading::text(file).map(Sensitive::new) else {
            // Not all default files exist, and OpenSSH skips missing files, too.
            return;
        };
        let passphrase = passphrase.map(|passphrase| passphrase.reveal().as_str());
        let private = decode_secret_key(text.reveal().trim(), passphrase);
        let public = match &private {
            Ok(private) => Some(private.public_key().clone()),
            Err(_) => reading::text(&with_suffix(file, ".pub"))
                .ok()
                .and_then(|text| PublicKey::from_openssh(text.trim()).ok()),
        };
        if let Err(error) = &private {
            let why = if private_key::is_encrypted(error) {
                "is encrypted"
            } else {
                "cannot be read"
            };
            self.unusable.push(format!("{} {why}", file.display()));
        }
        if let Some(public) = public {
            let private = private.ok();
            self.keys.push(Identity { public, private });
        }
        self.read_certificate(&certificate_path(file), false);
    }

    fn read_certificates(&mut self, identities: &Identities) {
        for file in &identities.certificates {
            self.read_certificate(file, true);
        }
    }

    /// Reads a certificate. If `must` is set, a missing file is recorded as a problem.
    fn read_certificate(&mut self, file: &Path, required: bool) {
        let text = match reading::text(file) {
            Ok(text) => text,
            Err(error) => {
                if required {
                    self.unusable.push(format!("{}: {error}", file.display()));
                }
                return;
            }
        };
        match Certificate::from_openssh(text.trim()) {
            Ok(certificate) => {
                if let Some(problem) = validity_problem(&certificate) {
                    self.unusable.push(format!("{} {problem}", file.display()));
                } else if !self.certificates.contains(&certificate) {
                    self.certificates.push(certificate);
                }
            }
            Err(_) => self
                .unusable
                .push(format!("{} is no certificate", file.display())),
        }
    }
}

fn validity_problem(certificate: &Certificate) -> Option<&'static str> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs());
    if now >= certificate.valid_before() {
        Some("has expired")
    } else if now < certificate.valid_after() {
        Some("is not valid yet")
    } else {
        None
    }
}

/// Returns where OpenSSH looks for the certificate of a key.
fn certificate_path(key: &Path) -> PathBuf {
    with_suffix(key, "-cert.pub")
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
