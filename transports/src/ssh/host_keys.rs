//! Whether a host is the one it claims to be.

use std::path::PathBuf;

use russh::keys::{Algorithm, HashAlg, PublicKey};
use tokio::task::spawn_blocking;

use super::known_hosts::{self, KnownHosts, Standing};
use super::settings::Words;
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
    host: String,
    port: u16,
    keys: HostKeys,
    known: KnownHosts,
    words: &'static Words,
}

impl HostKeys {
    /// Reads what is known of a host.
    ///
    /// These are small files, read in place: a thread for each of hundreds of sessions that open
    /// at once would cost more than everything else that a session needs.
    pub(crate) fn check_for(
        &self,
        host: &str,
        port: u16,
        words: &'static Words,
    ) -> Result<HostKeyCheck, Box<HostKeyProblem>> {
        let known = match self {
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
            host: host.to_owned(),
            port,
            keys: self.clone(),
            known,
            words,
        })
    }
}

impl HostKeyCheck {
    /// The algorithms of the recorded keys: the host is asked for these first.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        self.known.algorithms()
    }

    /// Accepts the host's key or says why not; gives the file where it was remembered, if it was.
    pub(crate) async fn accept(
        &self,
        key: &PublicKey,
    ) -> Result<Option<PathBuf>, Box<HostKeyProblem>> {
        let HostKeys::Known { files, first_use } = &self.keys else {
            return Ok(None);
        };
        let peer = format!("{}:{}", self.host, self.port);
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let algorithm = key.algorithm().to_string();
        let line = known_hosts::line(&self.host, self.port, key);
        let file = files.first().cloned().unwrap_or_default();
        let problem = match self.known.judge(key) {
            Standing::Known => return Ok(None),
            Standing::Revoked(record) => HostKeyProblem::Revoked {
                peer,
                fingerprint,
                file: record.file.clone(),
                line: record.line,
            },
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
                verify: self.words.verify,
            },
        };
        Err(Box::new(problem))
    }
}
