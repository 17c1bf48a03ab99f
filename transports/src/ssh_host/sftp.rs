//! Uploads with SFTP. Many requests are sent in parallel.

use std::collections::BTreeSet;
use std::fmt::Display;

use futures_util::stream::{self, FuturesUnordered, StreamExt, TryStreamExt};
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::client::{Config, RawSftpSession};
use russh_sftp::protocol::{FileAttributes, OpenFlags, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::put::Upload;
use crate::ssh::{Peer, Ssh};
use crate::{Error, Result};

/// The maximum number of files that are open at once.
const FILES: usize = 16;

/// The maximum number of chunks of a file that are sent in parallel.
const CHUNKS: usize = 8;

/// The limit for a request, in seconds.
const PATIENCE: u64 = 120;

/// An open SFTP session.
pub(super) struct Sftp {
    raw: RawSftpSession,
    peer: Peer,
}

/// Opens an SFTP session. Returns `None` if the host has no SFTP, or if its server does not start.
///
/// # Errors
/// Fails as [`SshHost::exec`](super::SshHost::exec) does.
pub(super) async fn open(ssh: &Ssh, deadline: Instant) -> Result<Option<Sftp>> {
    let Some(stream) = ssh.subsystem("sftp", deadline).await? else {
        return Ok(None);
    };
    let config = Config {
        request_timeout_secs: PATIENCE,
        ..Config::default()
    };
    let raw = RawSftpSession::new_with_config(stream, config);
    let peer = ssh.peer().clone();
    match timeout_at(deadline, raw.init()).await {
        Ok(Ok(_)) => Ok(Some(Sftp { raw, peer })),
        _ if ssh.is_closed() => Err(peer.connection_lost()),
        _ => Ok(None),
    }
}

impl Sftp {
    /// Uploads files.
    ///
    /// # Errors
    /// Fails as [`SshHost::put`](super::SshHost::put) does.
    pub(super) async fn put(&self, files: &[Upload]) -> Result<()> {
        self.make_folders(files).await?;
        // Collected, because a closure that borrows would make the future unusable on other threads.
        let uploads: Vec<_> = files.iter().map(|file| Ok(self.put_one(file))).collect();
        stream::iter(uploads)
            .try_buffer_unordered(FILES)
            .try_collect()
            .await
    }

    /// Creates the missing folders.
    async fn make_folders(&self, files: &[Upload]) -> Result<()> {
        let parents: BTreeSet<&str> = files
            .iter()
            .filter_map(|file| file.folders().pop())
            .collect();
        let missing =
            |parent| async move { self.raw.stat(parent).await.is_err().then_some(parent) };
        let missing: Vec<_> = parents.into_iter().map(missing).collect();
        let missing: BTreeSet<&str> = stream::iter(missing)
            .buffer_unordered(FILES)
            .filter_map(std::future::ready)
            .collect()
            .await;
        let mut folders: BTreeSet<(usize, &str)> = BTreeSet::new();
        for file in files {
            let around = file.folders();
            if around.last().is_some_and(|parent| missing.contains(parent)) {
                folders.extend(
                    around
                        .iter()
                        .enumerate()
                        .map(|(depth, path)| (depth, *path)),
                );
            }
        }
        // Outer folders come first. SFTP has no separate error for an existing folder, so errors are
        // ignored here. If a folder is still missing, opening a file in it fails.
        for (_, folder) in folders {
            let attributes = FileAttributes {
                permissions: Some(0o700),
                ..FileAttributes::empty()
            };
            if let Err(SftpError::Status(status)) = self.raw.mkdir(folder, attributes).await
                && status.status_code == StatusCode::PermissionDenied
            {
                return Err(self.failed(folder, status.error_message));
            }
        }
        Ok(())
    }

    async fn put_one(&self, file: &Upload) -> Result<()> {
        let failed = |error: SftpError| self.failed(&file.to, reported(&error));
        let opened = file.from.open().await;
        let mut source = opened.map_err(|error| self.failed(&file.to, error))?;
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let attributes = FileAttributes {
            permissions: Some(file.mode),
            ..FileAttributes::empty()
        };
        let opening = self.raw.open(&file.to, flags, attributes.clone());
        let handle = opening.await.map_err(failed)?.handle;
        // The host's umask may have removed permissions, and an existing file keeps its own. Set them
        // before the first byte is written.
        let setting = self.raw.fsetstat(&handle, attributes);
        setting.await.map_err(failed)?;
        let mut under_way = FuturesUnordered::new();
        let mut offset = 0;
        loop {
            let chunk = source.chunk().await;
            let chunk = chunk.map_err(|error| self.failed(&file.to, error))?;
            if chunk.is_empty() {
                break;
            }
            let (at, length) = (offset, chunk.len());
            under_way.push(self.raw.write(&handle, at, chunk.to_vec()));
            offset += length as u64;
            if under_way.len() >= CHUNKS {
                under_way.next().await.transpose().map_err(failed)?;
            }
        }
        while let Some(written) = under_way.next().await {
            written.map_err(failed)?;
        }
        drop(under_way);
        self.raw.close(&handle).await.map_err(failed)?;
        Ok(())
    }

    fn failed(&self, path: &str, problem: impl Display) -> Error {
        Error::Upload {
            peer: self.peer.name().to_owned(),
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// Returns the host's error message, if it has one.
fn reported(error: &SftpError) -> String {
    match error {
        // OpenSSH's server reports a full disk only in this way.
        SftpError::Status(status) if status.status_code == StatusCode::Failure => format!(
            "the host says no more than {:?}; look whether the disk is full",
            status.error_message
        ),
        SftpError::Status(status) if !status.error_message.is_empty() => {
            status.error_message.to_lowercase()
        }
        SftpError::Status(status) => status.status_code.to_string().to_lowercase(),
        SftpError::Timeout => format!("the host did not answer within {PATIENCE} s"),
        error => error.to_string().to_lowercase(),
    }
}
