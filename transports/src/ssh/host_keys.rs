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
    /// Any key will do that is not revoked in one of the files.
    Any {
        /// The files that are read; none is written.
        files: Vec<PathBuf>,
        /// Who says so: a setting and its value.
        by: String,
    },
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
    /// Why revoked keys are not known.
    unread: Option<String>,
    role: Role,
    words: &'static Words,
}

impl HostKeys {
    fn files(&self) -> &[PathBuf] {
        let (Self::Any { files, .. } | Self::Known { files, .. }) = self;
        files
    }

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
        let files = settings.host_keys.files();
        let (known, unread) = match (KnownHosts::read(files, host, port), &settings.host_keys) {
            (Ok(known), _) => (known, None),
            (Err((file, cause)), Self::Any { .. }) => {
                let unread = format!("{} cannot be read ({cause})", file.display());
                (KnownHosts::default(), Some(unread))
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
            unread,
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
        self.is_verified() && !self.known.authorities().is_empty()
    }

    /// What is to be said where any key will do.
    pub(crate) fn warning(&self) -> Option<String> {
        let HostKeys::Any { by, .. } = &self.keys else {
            return None;
        };
        let (peer, first_use) = (&self.peer, self.words.first_use);
        let mut warning = format!(
            "the host key of {peer} is not verified (`{by}`): anyone in between can read and change \
             what is sent, the password included; `{first_use}: true` remembers the first key instead"
        );
        if let Some(unread) = &self.unread {
            warning += &format!("; revoked keys are not refused either: {unread}");
        }
        Some(warning)
    }

    /// Whether the host must prove who it is.
    pub(crate) fn is_verified(&self) -> bool {
        matches!(self.keys, HostKeys::Known { .. })
    }

    /// Accepts what the host shows, or says why not.
    ///
    /// A certificate that is of no use still has the host's key in it, and that may be known.
    pub(crate) async fn accept_shown(
        &self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let key = shown.public_key();
        let Some(certificate) = shown.certificate() else {
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
        let standing = self.known.judge(key);
        match &self.keys {
            HostKeys::Any { .. } if !matches!(standing, Standing::Revoked(_)) => Ok(None),
            HostKeys::Known {
                files,
                first_use: true,
            } if matches!(standing, Standing::Unknown) => match self.learn(files, key).await? {
                Standing::Unknown => Ok(files.first().cloned()),
                // Somebody else was faster.
                standing => self.refused(standing, key).map_or(Ok(None), Err),
            },
            _ => self.refused(standing, key).map_or(Ok(None), Err),
        }
    }

    async fn learn(
        &self,
        files: &[PathBuf],
        key: &PublicKey,
    ) -> Result<Standing, Box<HostKeyProblem>> {
        let (files, host) = (files.to_owned(), self.host.clone());
        let (port, key) = (self.port, key.clone());
        spawn_blocking(move || known_hosts::learn(&files, &host, port, &key))
            .await
            .expect("writing a file does not panic")
            .map_err(|(what, file, cause)| Box::new(HostKeyProblem::File { what, file, cause }))
    }

    /// Why a key of this standing is not accepted; nothing, where it is the host's.
    fn refused(&self, standing: Standing, key: &PublicKey) -> Option<Box<HostKeyProblem>> {
        let peer = self.peer.clone();
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let algorithm = key.algorithm().to_string();
        let entry = || known_hosts::line(&self.host, self.port, key);
        Some(Box::new(match standing {
            Standing::Known => return None,
            Standing::Revoked(record) => self.revoked(key, &record),
            Standing::Changed(record) => HostKeyProblem::Changed {
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
            Standing::OnlyAuthority(record) => HostKeyProblem::OnlyAuthority {
                peer,
                file: record.file,
                line: record.line,
                entry: entry(),
            },
            Standing::Unknown => HostKeyProblem::Unknown {
                peer,
                algorithm,
                fingerprint,
                line: entry(),
                file: self.keys.files().first().cloned().unwrap_or_default(),
                first_use: self.words.first_use,
                // Of hosts on the way that setting says nothing.
                verify: (self.role == Role::Target).then_some(self.words.verify),
            },
        }))
    }
}
