//! Whether a host is the one it claims to be.

use std::path::PathBuf;

use russh::keys::{Algorithm, HashAlg, PublicKey, PublicKeyOrCertificate};
use tokio::task::spawn_blocking;

use super::certificate;
use super::known_hosts::{self, KnownHosts, Record, Standing};
use super::settings::{Role, Settings};
use super::words::Words;
use crate::error::HostKeyProblem;

/// What is demanded of a host's key.
#[derive(Clone, Debug)]
pub(crate) enum HostKeys {
    /// Any key will do.
    Any,
    /// It must be in one of the files, or be the first one, where that is remembered.
    Known {
        /// The files that are read; the first one is written.
        files: Vec<PathBuf>,
        /// Whether the key of an unknown host is remembered instead of refused.
        first_use: bool,
    },
}

/// What is known of one host, ready to judge its key.
#[derive(Debug)]
pub(crate) struct HostKeyCheck {
    peer: String,
    /// The name and the port by which the files know it.
    host: String,
    port: u16,
    keys: HostKeys,
    known: KnownHosts,
    role: Role,
    words: &'static Words,
}

impl HostKeys {
    /// Reads what is known of a host.
    ///
    /// These are small files, read in place: a thread for each of hundreds of sessions that open
    /// at once would cost more than everything else that a session needs.
    pub(crate) fn check_for(settings: &Settings) -> Result<HostKeyCheck, Box<HostKeyProblem>> {
        // An alias is a name of its own, whatever the port.
        let (host, port) = match &settings.host_key_alias {
            Some(alias) => (alias, 22),
            None => (&settings.host, settings.port),
        };
        let known = match &settings.host_keys {
            Self::Any => KnownHosts::default(),
            Self::Known { files, .. } => {
                KnownHosts::read(files, host, port).map_err(|(file, cause)| {
                    Box::new(HostKeyProblem::File {
                        what: "read",
                        file,
                        cause,
                    })
                })?
            }
        };
        Ok(HostKeyCheck {
            peer: settings.peer(),
            host: host.clone(),
            port,
            keys: settings.host_keys.clone(),
            known,
            role: settings.role.clone(),
            words: settings.words,
        })
    }
}

impl HostKeyCheck {
    /// The algorithms of the recorded keys: the host is asked for these first.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        self.known.algorithms()
    }

    /// Whether a certificate of the host could be accepted.
    pub(crate) fn takes_certificates(&self) -> bool {
        !self.known.authorities().is_empty()
    }

    /// Accepts what the host shows, or says why not.
    ///
    /// A certificate that is of no use still has the host's key in it, and that may be known.
    pub(crate) async fn accept_shown(
        &self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let key = shown.public_key();
        let (Some(certificate), HostKeys::Known { .. }) = (shown.certificate(), &self.keys) else {
            return self.accept(&key).await;
        };
        let signer = certificate.signature_key();
        let revoked = self.known.revocation(signer);
        if let Some(record) = revoked.or_else(|| self.known.revocation(key.key_data())) {
            return Err(Box::new(self.revoked(&record.key, record)));
        }
        match certificate::check(certificate, &self.host, &self.known.authorities()) {
            Ok(()) => Ok(None),
            Err(_) if matches!(self.known.judge(&key), Standing::Known) => Ok(None),
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

    /// Accepts the host's key or says why not; gives the file where it was remembered, if it was.
    async fn accept(&self, key: &PublicKey) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let HostKeys::Known { files, first_use } = &self.keys else {
            return Ok(None);
        };
        let peer = self.peer.clone();
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let algorithm = key.algorithm().to_string();
        let line = known_hosts::line(&self.host, self.port, key);
        let file = files.first().cloned().unwrap_or_default();
        let problem = match self.known.judge(key) {
            Standing::Known => return Ok(None),
            Standing::Revoked(record) => self.revoked(key, record),
            Standing::Changed(record) => HostKeyProblem::Changed {
                peer,
                algorithm,
                fingerprint,
                known: format!(
                    "{} {}",
                    record.key.algorithm(),
                    record.key.fingerprint(HashAlg::Sha256)
                ),
                file: record.file.clone(),
                line: record.line,
            },
            Standing::OnlyAuthority(record) => HostKeyProblem::OnlyAuthority {
                peer,
                file: record.file.clone(),
                line: record.line,
                entry: line,
            },
            Standing::Unknown if *first_use => {
                let to = file.clone();
                spawn_blocking(move || known_hosts::append(&to, &line))
                    .await
                    .expect("writing a file does not panic")
                    .map_err(|cause| {
                        let (what, file) = ("write", file.clone());
                        Box::new(HostKeyProblem::File { what, file, cause })
                    })?;
                return Ok(Some(file));
            }
            Standing::Unknown => HostKeyProblem::Unknown {
                peer,
                algorithm,
                fingerprint,
                line,
                file,
                first_use: self.words.first_use,
                // Of hosts on the way that setting says nothing.
                verify: (self.role == Role::Target).then_some(self.words.verify),
            },
        };
        Err(Box::new(problem))
    }
}
