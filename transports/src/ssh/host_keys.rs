//! Verifying host keys.

use std::fmt;
use std::path::PathBuf;

use russh::keys::{Algorithm, HashAlg, PublicKey, PublicKeyOrCertificate};
use tokio::task::spawn_blocking;

use super::certificate;
use super::known_hosts::{self, KeyStatus, KnownHosts, Record};
use super::setting_names::SettingNames;
use super::settings::{Role, Settings};
use crate::error::HostKeyProblem;

/// The requirements on a host key.
#[derive(Clone, Debug)]
pub(crate) enum HostKeys {
    /// Any key is accepted that is not revoked in one of the files.
    Any {
        /// The files to read. None is written.
        files: Vec<PathBuf>,
        /// The setting and value that turn verification off.
        disabled_by: String,
    },
    /// The key must be in one of the files, or be the first one of this host if `first_use` is set.
    Known {
        /// The files to read. New keys are written to the first one.
        files: Vec<PathBuf>,
        /// Whether the key of an unknown host is recorded instead of refused.
        first_use: bool,
    },
}

/// The recorded keys of one host, ready to check the key it presents.
#[derive(Debug)]
pub(crate) struct HostKeyCheck {
    peer: String,
    /// The name and the port under which the files record it.
    host: String,
    port: u16,
    keys: HostKeys,
    known: KnownHosts,
    /// Why the files, and so revoked keys, could not be read.
    read_error: Option<String>,
    role: Role,
    setting_names: &'static SettingNames,
}

/// Shows how a host is recognised.
impl fmt::Display for HostKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any { disabled_by, .. } => write!(f, "not checked: `{disabled_by}`"),
            Self::Known { files, first_use } => {
                f.write_str("host key in")?;
                for (index, file) in files.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma} {}", file.display())?;
                }
                f.write_str(if *first_use { ", or the first one" } else { "" })
            }
        }
    }
}

impl HostKeys {
    fn files(&self) -> &[PathBuf] {
        let (Self::Any { files, .. } | Self::Known { files, .. }) = self;
        files
    }

    /// Reads the recorded keys of a host.
    ///
    /// The files are read once, on the current thread: with hundreds of sessions opening at once, a thread for each would
    /// cost more than everything else that a session needs.
    pub(crate) fn check_for(settings: &Settings) -> Result<HostKeyCheck, Box<HostKeyProblem>> {
        // An alias is recorded without a port.
        let (host, port) = match &settings.host_key_alias {
            Some(alias) => (alias, 22),
            None => (&settings.host, settings.port),
        };
        let files = settings.host_keys.files();
        let (known, read_error) = match (KnownHosts::read(files, host, port), &settings.host_keys) {
            (Ok(known), _) => (known, None),
            (Err((file, cause)), Self::Any { .. }) => {
                let read_error = format!("{} cannot be read ({cause})", file.display());
                (KnownHosts::default(), Some(read_error))
            }
            (Err((file, cause)), Self::Known { .. }) => {
                let what = "read";
                return Err(Box::new(HostKeyProblem::File { what, file, cause }));
            }
        };
        Ok(HostKeyCheck {
            peer: settings.peer(),
            host: host.clone(),
            port,
            keys: settings.host_keys.clone(),
            known,
            read_error,
            role: settings.role.clone(),
            setting_names: settings.setting_names,
        })
    }
}

impl HostKeyCheck {
    /// Returns the algorithms of the recorded keys: the host is asked for these first.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        self.known.algorithms()
    }

    /// Returns whether a certificate of the host could be accepted.
    pub(crate) fn accepts_certificates(&self) -> bool {
        self.is_verified() && !self.known.authorities().is_empty()
    }

    /// Returns the warning for a host whose key is not verified.
    pub(crate) fn warning(&self) -> Option<String> {
        let HostKeys::Any { disabled_by, .. } = &self.keys else {
            return None;
        };
        let (peer, first_use) = (&self.peer, self.setting_names.first_use);
        let mut warning = format!(
            "the host key of {peer} is not verified (`{disabled_by}`): anyone in between can read and change \
             what is sent, the password included; `{first_use}: true` remembers the first key instead"
        );
        if let Some(read_error) = &self.read_error {
            warning += &format!("; revoked keys are not refused either: {read_error}");
        }
        Some(warning)
    }

    /// Returns whether the host must prove its identity.
    pub(crate) fn is_verified(&self) -> bool {
        matches!(self.keys, HostKeys::Known { .. })
    }

    /// Accepts the key or certificate that the host presents, or returns why not.
    ///
    /// An unacceptable certificate still contains the host's key, which may be recorded itself.
    pub(crate) async fn accept_presented(
        &self,
        presented: &PublicKeyOrCertificate,
    ) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let key = presented.public_key();
        let Some(certificate) = presented.certificate() else {
            return self.accept(&key).await;
        };
        let signer = certificate.signature_key();
        let revoked = self.known.revocation(signer);
        if let Some(record) = revoked.or_else(|| self.known.revocation(key.key_data())) {
            return Err(Box::new(self.revoked(&record.key, record)));
        }
        if !self.is_verified() {
            return self.accept(&key).await;
        }
        match certificate::check(certificate, &self.host, &self.known.authorities()) {
            Ok(()) => Ok(None),
            Err(_) if matches!(self.known.status_of(&key), KeyStatus::Known) => Ok(None),
            Err(problem) => Err(Box::new(HostKeyProblem::Certificate {
                peer: self.peer.clone(),
                id: certificate.key_id().to_owned(),
                problem,
            })),
        }
    }

    fn revoked(&self, key: &PublicKey, record: &Record) -> HostKeyProblem {
        HostKeyProblem::Revoked {
            peer: self.peer.clone(),
            fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
            file: record.file.clone(),
            line: record.line,
        }
    }

    /// Accepts the host's key or returns why not. Returns the file if the key was recorded now.
    async fn accept(&self, key: &PublicKey) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let status = self.known.status_of(key);
        match &self.keys {
            HostKeys::Any { .. } if !matches!(status, KeyStatus::Revoked(_)) => Ok(None),
            HostKeys::Known {
                files,
                first_use: true,
            } if matches!(status, KeyStatus::Unknown) => match self.record(files, key).await? {
                KeyStatus::Unknown => Ok(files.first().cloned()),
                // Another connection recorded a key first.
                status => self.refusal(status, key).map_or(Ok(None), Err),
            },
            _ => self.refusal(status, key).map_or(Ok(None), Err),
        }
    }

    async fn record(
        &self,
        files: &[PathBuf],
        key: &PublicKey,
    ) -> Result<KeyStatus, Box<HostKeyProblem>> {
        let (files, host) = (files.to_owned(), self.host.clone());
        let (port, key) = (self.port, key.clone());
        spawn_blocking(move || known_hosts::record_key(&files, &host, port, &key))
            .await
            .expect("writing a file does not panic")
            .map_err(|(what, file, cause)| Box::new(HostKeyProblem::File { what, file, cause }))
    }

    /// Returns why a key with this status is refused, or `None` if it is the host's.
    fn refusal(&self, status: KeyStatus, key: &PublicKey) -> Option<Box<HostKeyProblem>> {
        let peer = self.peer.clone();
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let algorithm = key.algorithm().to_string();
        let entry = || known_hosts::known_hosts_line(&self.host, self.port, key);
        Some(Box::new(match status {
            KeyStatus::Known => return None,
            KeyStatus::Revoked(record) => self.revoked(key, &record),
            KeyStatus::Changed(record) => HostKeyProblem::Changed {
                peer,
                algorithm,
                fingerprint,
                known: format!(
                    "{} {}",
                    record.key.algorithm(),
                    record.key.fingerprint(HashAlg::Sha256)
                ),
                file: record.file,
                line: record.line,
            },
            KeyStatus::OnlyAuthority(record) => HostKeyProblem::OnlyAuthority {
                peer,
                file: record.file,
                line: record.line,
                entry: entry(),
            },
            KeyStatus::Unknown => HostKeyProblem::Unknown {
                peer,
                algorithm,
                fingerprint,
                line: entry(),
                file: self.keys.files().first().cloned().unwrap_or_default(),
                first_use: self.setting_names.first_use,
                // The setting does not apply to jump hosts.
                verify: (self.role == Role::Target).then_some(self.setting_names.verify),
            },
        }))
    }
}
