//! The files that say which keys a host has (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::{HostPatterns, Marker};
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, PublicKey};
use sha1::Sha1;

use crate::glob::glob;
use crate::reading;

/// What the files have on one host.
#[derive(Debug, Default)]
pub(crate) struct KnownHosts(Vec<Record>);

/// One line that concerns the host.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    marker: Option<Marker>,
    pub(crate) key: PublicKey,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// What the files say of a key.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It is the host's.
    Known,
    /// It must not be used any more.
    Revoked(Record),
    /// The host has another key.
    Changed(Record),
    /// No key of the host is recorded, only an authority.
    OnlyAuthority(Record),
    /// Nothing is known of the host.
    Unknown,
}

impl KnownHosts {
    /// Reads what the files have on a host; a file that does not exist has nothing.
    ///
    /// # Errors
    /// The file that cannot be read.
    pub(crate) fn read(
        files: &[PathBuf],
        host: &str,
        port: u16,
    ) -> Result<Self, (PathBuf, io::Error)> {
        let mut records = Vec::new();
        for file in files {
            let text = match reading::bytes(file) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err((file.clone(), error)),
            };
            parse(
                &String::from_utf8_lossy(&text),
                file,
                &name(host, port),
                &mut records,
            );
        }
        Ok(Self(records))
    }

    /// What they say of a key that the host shows.
    ///
    /// A host of which another key is recorded, be it of another algorithm, has changed: it was
    /// asked for the recorded algorithm first, so its real key would have come.
    pub(crate) fn judge(&self, key: &PublicKey) -> Standing {
        let own = |record: &&Record| record.marker.is_none();
        let same = |record: &&Record| record.key.key_data() == key.key_data();
        let marked = |marker| move |record: &&Record| record.marker == Some(marker);
        if let Some(record) = self.revocation(key.key_data()) {
            return Standing::Revoked(record.clone());
        }
        if self.0.iter().filter(own).any(|record| same(&record)) {
            return Standing::Known;
        }
        let like = |record: &&Record| record.key.algorithm() == key.algorithm();
        let other = self
            .0
            .iter()
            .filter(own)
            .find(like)
            .or_else(|| self.0.iter().find(own));
        if let Some(record) = other {
            return Standing::Changed(record.clone());
        }
        self.0
            .iter()
            .find(marked(Marker::CertAuthority))
            .map_or(Standing::Unknown, |record| {
                Standing::OnlyAuthority(record.clone())
            })
    }

    /// The authorities that sign the host's certificates.
    pub(crate) fn authorities(&self) -> Vec<&PublicKey> {
        let marked = |record: &&Record| record.marker == Some(Marker::CertAuthority);
        self.0
            .iter()
            .filter(marked)
            .map(|record| &record.key)
            .collect()
    }

    /// The line that says that a key must not be used any more.
    pub(crate) fn revocation(&self, key: &KeyData) -> Option<&Record> {
        let revoked = |record: &&Record| record.marker == Some(Marker::Revoked);
        let mut revoked = self.0.iter().filter(revoked);
        revoked.find(|record| record.key.key_data() == key)
    }

    /// The algorithms of the host's recorded keys.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let own = self.0.iter().filter(|record| record.marker.is_none());
        own.map(|record| record.key.algorithm()).collect()
    }
}

/// The line that makes a host's key known.
pub(crate) fn line(host: &str, port: u16, key: &PublicKey) -> String {
    let mut key = key.clone();
    key.set_comment("");
    let key = key.to_openssh().unwrap_or_default();
    format!("{} {}", name(host, port), key.trim())
}

/// Remembers the key of a host of which nothing is known, in the first of the files.
///
/// That file is made (0600, its folder 0700) where it does not exist, and locked from the moment the
/// files are read once more: of two connections that learn a key at once, the second one finds what
/// the first has learnt, and its standing is given instead of [`Standing::Unknown`].
///
/// # Errors
/// The file that cannot be read or written, and which of both.
pub(crate) fn learn(
    files: &[PathBuf],
    host: &str,
    port: u16,
    key: &PublicKey,
) -> Result<Standing, (&'static str, PathBuf, io::Error)> {
    let Some(file) = files.first() else {
        return Ok(Standing::Unknown);
    };
    let unwritable = |cause| ("write", file.clone(), cause);
    let mut open = open(file).map_err(unwritable)?;
    open.lock().map_err(unwritable)?;
    // The lock goes with the file, however this ends.
    let known =
        KnownHosts::read(files, host, port).map_err(|(file, cause)| ("read", file, cause))?;
    let standing = known.judge(key);
    if matches!(standing, Standing::Unknown) {
        write_line(&mut open, &line(host, port, key)).map_err(unwritable)?;
    }
    Ok(standing)
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
    // An editor may have left the last line without an end.
    let end = match file.seek(SeekFrom::End(0))? {
        0 => "",
        size => {
            let mut last = [0];
            file.seek(SeekFrom::Start(size - 1))?;
            file.read_exact(&mut last)?;
            if last == *b"\n" { "" } else { "\n" }
        }
    };
    // One write, so that a reader without the lock sees whole lines.
    file.write_all(format!("{end}{line}\n").as_bytes())?;
    file.sync_data()
}

/// How the files name a host: with its port where that is not 22.
fn name(host: &str, port: u16) -> String {
    let host = host.to_lowercase();
    if port == 22 {
        host
    } else {
        format!("[{host}]:{port}")
    }
}

/// Collects the lines that concern a host. Lines that cannot be read concern nobody.
fn parse(text: &str, file: &Path, name: &str, records: &mut Vec<Record>) {
    for (index, line) in text.lines().enumerate() {
        let mut fields = line.split_whitespace().peekable();
        let marker = match fields.peek() {
            None => continue,
            Some(first) if first.starts_with('#') => continue,
            Some(first) if first.starts_with('@') => match first.parse() {
                Ok(marker) => Some(marker),
                Err(_) => continue,
            },
            Some(_) => None,
        };
        if marker.is_some() {
            fields.next();
        }
        let (Some(hosts), Some(algorithm), Some(key)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if !concerns(hosts, name) {
            continue;
        }
        if let Ok(key) = PublicKey::from_openssh(&format!("{algorithm} {key}")) {
            records.push(Record {
                marker,
                key,
                file: file.to_owned(),
                line: index + 1,
            });
        }
    }
}

fn concerns(hosts: &str, name: &str) -> bool {
    match hosts.parse() {
        Ok(HostPatterns::Patterns(patterns)) => {
            let mut matched = false;
            for pattern in &patterns {
                match pattern.strip_prefix('!') {
                    Some(pattern) if glob(&pattern.to_lowercase(), name) => return false,
                    Some(_) => {}
                    None => matched |= glob(&pattern.to_lowercase(), name),
                }
            }
            matched
        }
        Ok(HostPatterns::HashedName { salt, hash }) => Hmac::<Sha1>::new_from_slice(&salt)
            .is_ok_and(|mac| mac.chain_update(name).verify_slice(&hash).is_ok()),
        Err(_) => false,
    }
}
