//! Files to hosts by SFTP: many requests are under way at once.

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

/// How many files are open at once.
const FILES: usize = 16;

/// How many chunks of one file are under way at once.
const CHUNKS: usize = 8;

/// How many seconds the host may take for one request.
const PATIENCE: u64 = 120;

/// An open SFTP session.
pub(super) struct Sftp {
    raw: RawSftpSession,
    peer: Peer,
}

/// Opens an SFTP session; `None` where the host has none, or one that does not start.
///
/// # Errors
/// As [`SshHost::exec`](super::SshHost::exec).
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
        _ if ssh.is_closed() => Err(peer.lost()),
        _ => Ok(None),
    }
}

impl Sftp {
    /// Puts files on the host.
    ///
    /// # Errors
    /// As [`SshHost::put`](super::SshHost::put).
    pub(super) async fn put(&self, files: &[Upload]) -> Result<()> {
        self.make_folders(files).await?;
        stream::iter(files.iter().map(|file| Ok(self.put_one(file))))
            .try_buffer_unordered(FILES)
            .try_collect()
            .await
    }

    /// Makes the folders that are missing.
    async fn make_folders(&self, files: &[Upload]) -> Result<()> {
        let parents: BTreeSet<&str> = files
            .iter()
            .filter_map(|file| file.folders().pop())
            .collect();
        let missing =
            |parent| async move { self.raw.stat(parent).await.is_err().then_some(parent) };
        let missing: BTreeSet<&str> = stream::iter(parents.into_iter().map(missing))
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
        // A folder comes behind the one that it lies in. That it is there already is no error of
        // its own in SFTP; a file that has no folder in the end is one.
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
        let failed = |error: SftpError| self.failed(&file.to, told(&error));
        let opened = file.from.open().await;
        let mut source = opened.map_err(|error| self.failed(&file.to, error))?;
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let attributes = FileAttributes {
            permissions: Some(file.mode),
            ..FileAttributes::empty()
        };
        let opening = self.raw.open(&file.to, flags, attributes.clone());
        let handle = opening.await.map_err(failed)?.handle;
        // The host's umask may have taken something away, and a file that was there keeps its own.
        // It is right before the first byte is in it.
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

/// What the host says, in its own words where it has some.
fn told(error: &SftpError) -> String {
    match error {
        // All that OpenSSH's server says of a full disk.
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
