//! Files of known hosts (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

mod files;
mod lines;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use russh::keys::ssh_key::known_hosts::Marker;
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, PublicKey};

/// The lines of the files that apply to one host.
#[derive(Debug, Default)]
pub(crate) struct KnownHosts(Vec<Record>);

/// One line that applies to the host.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    marker: Option<Marker>,
    pub(crate) key: PublicKey,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// The status of a key according to the files.
#[derive(Debug)]
pub(crate) enum KeyStatus {
    /// It is the host's.
    Known,
    /// It is revoked.
    Revoked(Record),
    /// The host has another key.
    Changed(Record),
    /// No key of the host is recorded, only an authority.
    OnlyAuthority(Record),
    /// The files have no line for the host.
    Unknown,
}

impl KnownHosts {
    /// Reads the lines for a host. Missing files count as empty. A file is read again only if it has changed.
    ///
    /// # Errors
    /// Fails with the path of a file that cannot be read.
    pub(crate) fn read(
        files: &[PathBuf],
        host: &str,
        port: u16,
    ) -> Result<Self, (PathBuf, io::Error)> {
        let name = name(host, port);
        let mut records = Vec::new();
        for file in files {
            files::with_lines(file, |lines| lines.collect(file, &name, &mut records))
                .map_err(|cause| (file.clone(), cause))?;
        }
        Ok(Self(records))
    }

    /// Returns the status of a key that the host presents.
    ///
    /// If another key of the host is recorded, even one of another algorithm, the key has changed: the host
    /// was asked for the recorded algorithm first, so its real key would have come.
    pub(crate) fn status_of(&self, key: &PublicKey) -> KeyStatus {
        let has_no_marker = |record: &&Record| record.marker.is_none();
        let same = |record: &&Record| record.key.key_data() == key.key_data();
        let marked = |marker| move |record: &&Record| record.marker == Some(marker);
        if let Some(record) = self.revocation(key.key_data()) {
            return KeyStatus::Revoked(record.clone());
        }
        if self
            .0
            .iter()
            .filter(has_no_marker)
            .any(|record| same(&record))
        {
            return KeyStatus::Known;
        }
        let has_same_algorithm = |record: &&Record| record.key.algorithm() == key.algorithm();
        let other = self
            .0
            .iter()
            .filter(has_no_marker)
            .find(has_same_algorithm)
            .or_else(|| self.0.iter().find(has_no_marker));
        if let Some(record) = other {
            return KeyStatus::Changed(record.clone());
        }
        self.0
            .iter()
            .find(marked(Marker::CertAuthority))
            .map_or(KeyStatus::Unknown, |record| {
                KeyStatus::OnlyAuthority(record.clone())
            })
    }

    /// Returns the authorities that sign the host's certificates.
    pub(crate) fn authorities(&self) -> Vec<&PublicKey> {
        let marked = |record: &&Record| record.marker == Some(Marker::CertAuthority);
        self.0
            .iter()
            .filter(marked)
            .map(|record| &record.key)
            .collect()
    }

    /// Returns the line that revokes a key.
    pub(crate) fn revocation(&self, key: &KeyData) -> Option<&Record> {
        let revoked = |record: &&Record| record.marker == Some(Marker::Revoked);
        let mut revoked = self.0.iter().filter(revoked);
        revoked.find(|record| record.key.key_data() == key)
    }

    /// Returns the algorithms of the host's recorded keys.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let own = self.0.iter().filter(|record| record.marker.is_none());
        own.map(|record| record.key.algorithm()).collect()
    }
}

/// Returns the line that records a host's key.
pub(crate) fn known_hosts_line(host: &str, port: u16, key: &PublicKey) -> String {
    let mut key = key.clone();
    key.set_comment("");
    let key = key.to_openssh().unwrap_or_default();
    format!("{} {}", name(host, port), key.trim())
}

/// Records the key of an unknown host in the first of the files.
///
/// The file is created (0600, its folder 0700) if it does not exist. It is locked before the files are read
/// again: if two connections record a key at once, the second one finds the first one's key, and its
/// status is returned instead of [`KeyStatus::Unknown`].
///
/// # Errors
/// Fails with the path of a file that cannot be read or written, and which of the two failed.
pub(crate) fn record_key(
    files: &[PathBuf],
    host: &str,
    port: u16,
    key: &PublicKey,
) -> Result<KeyStatus, (&'static str, PathBuf, io::Error)> {
    let Some(file) = files.first() else {
        return Ok(KeyStatus::Unknown);
    };
    let unwritable = |cause| ("write", file.clone(), cause);
    let mut open = open(file).map_err(unwritable)?;
    open.lock().map_err(unwritable)?;
    // Closing the file releases the lock, also after an error.
    let known =
        KnownHosts::read(files, host, port).map_err(|(file, cause)| ("read", file, cause))?;
    let status = known.status_of(key);
    if matches!(status, KeyStatus::Unknown) {
        write_line(&mut open, &known_hosts_line(host, port, key)).map_err(unwritable)?;
    }
    Ok(status)
}

fn open(file: &Path) -> io::Result<File> {
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(file)
}

fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    // An editor may have left the last line without a line end.
    let end = match file.seek(SeekFrom::End(0))? {
        0 => "",
        size => {
            let mut last = [0];
            file.seek(SeekFrom::Start(size - 1))?;
            file.read_exact(&mut last)?;
            if last == *b"\n" { "" } else { "\n" }
        }
    };
    let size = file.metadata()?.len();
    append(file, size, format!("{end}{line}\n").as_bytes())?;
    file.sync_data()
}

/// Writes a text at the end of a file of this size, or nothing: a full disk leaves no part of a line, which would take the
/// next line for its end.
fn append(file: &mut impl Append, size: u64, text: &[u8]) -> io::Result<()> {
    // A single write, so that a reader without the lock sees whole lines.
    let written = file.write_all(text);
    if written.is_err() {
        file.truncate(size)?;
    }
    written
}

/// A file to which lines are added.
trait Append: Write {
    /// Makes the file shorter.
    fn truncate(&mut self, size: u64) -> io::Result<()>;
}

impl Append for File {
    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

/// Returns the name of a host in the files. It includes the port if that is not 22.
fn name(host: &str, port: u16) -> String {
    let host = host.to_lowercase();
    if port == 22 {
        host
    } else {
        format!("[{host}]:{port}")
    }
}
