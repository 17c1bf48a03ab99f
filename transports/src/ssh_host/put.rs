//! Files to upload to a host.

use std::fmt;
use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

/// The size of a chunk, which every SFTP server accepts.
const CHUNK: usize = 32 * 1024;

/// A file to upload to a host.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Its content.
    pub from: Source,
    /// Its path on the host. A relative path begins at the account's home folder.
    pub to: String,
    /// Its permissions: `0o600`, or `0o700` for executable files.
    pub mode: u32,
}

/// The content of a file.
#[derive(Clone)]
pub enum Source {
    /// These bytes.
    Bytes(Bytes),
    /// The content of this local file, read in chunks.
    File(PathBuf),
}

/// A source that is being read.
pub(super) enum Reader {
    Bytes(Bytes),
    File(File),
}

impl Upload {
    /// Returns the folders of its path, the outermost first, without `/` and the home folder.
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
    /// Returns the next bytes; empty at the end.
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
    /// Shows only a size or a path, because uploads may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
