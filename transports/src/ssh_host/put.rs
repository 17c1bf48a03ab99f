//! Files on their way to a host.

use std::fmt;
use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

/// How much of a file is under way in one piece: what every SFTP server takes.
const CHUNK: usize = 32 * 1024;

/// A file to put on a host.
#[derive(Clone, Debug)]
pub struct Upload {
    /// What it holds.
    pub from: Source,
    /// Its path on the host; one that is not absolute begins at the account's home.
    pub to: String,
    /// Its permissions: `0o600`, or `0o700` for what shall run.
    pub mode: u32,
}

/// What a file holds.
#[derive(Clone)]
pub enum Source {
    /// These bytes.
    Bytes(Bytes),
    /// What this file holds, read piece by piece.
    File(PathBuf),
}

/// A source that is being read.
pub(super) enum Reader {
    Bytes(Bytes),
    File(File),
}

impl Upload {
    /// The folders that it lies in, the outermost first; neither `/` nor the home folder.
    pub(super) fn folders(&self) -> Vec<&str> {
        let folders = self.to.match_indices('/').map(|(at, _)| &self.to[..at]);
        folders.filter(|folder| !folder.is_empty()).collect()
    }
}

impl Source {
    pub(super) async fn open(&self) -> io::Result<Reader> {
        Ok(match self {
            Self::Bytes(bytes) => Reader::Bytes(bytes.clone()),
            Self::File(path) => Reader::File(File::open(path).await?),
        })
    }
}

impl Reader {
    /// The next bytes; none at the end.
    pub(super) async fn chunk(&mut self) -> io::Result<Bytes> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.split_to(bytes.len().min(CHUNK))),
            Self::File(file) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                file.take(CHUNK as u64).read_to_end(&mut chunk).await?;
                Ok(chunk.into())
            }
        }
    }
}

impl fmt::Debug for Source {
    /// Tells a size or a path: what is uploaded may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
