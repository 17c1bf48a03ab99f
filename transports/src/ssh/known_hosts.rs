//! The files that say which keys a host has (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::{HostPatterns, Marker};
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, PublicKey};
use sha1::Sha1;

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

/// Whether a pattern with `*` and `?` describes the whole text, in time proportional to both.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILIG2T/B0l0gaqj3puu510tu9N1OkQ4znY3LYuEm5zCF";
    const TWO: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHwf2HMM5TRXvo2SQJjsNkiDD5KqiiNjrGVv3UUh+mMT5RHxiRtOnlqvjhQtBq0VpmpCV/PwUdhOig4vkbqAcEc=";

    fn key(text: &str) -> PublicKey {
        PublicKey::from_openssh(text).expect("a key")
    }

    fn known(text: &str, host: &str, port: u16) -> KnownHosts {
        let mut records = Vec::new();
        parse(
            text,
            Path::new("known_hosts"),
            &name(host, port),
            &mut records,
        );
        KnownHosts(records)
    }

    fn standing(text: &str, host: &str, port: u16) -> String {
        match known(text, host, port).judge(&key(ONE)) {
            Standing::Known => "known".into(),
            Standing::Revoked(record) => format!("revoked {}", record.line),
            Standing::Changed(record) => format!("changed {}", record.line),
            Standing::OnlyAuthority(record) => format!("authority {}", record.line),
            Standing::Unknown => "unknown".into(),
        }
    }

    #[test]
    fn names_ports_and_lists_are_matched() {
        let text = format!("# sw\n\nsw1,192.0.2.1 {ONE} comment here\n[sw2]:2222\t {ONE}\n");
        assert_eq!(standing(&text, "sw1", 22), "known");
        assert_eq!(standing(&text, "SW1", 22), "known");
        assert_eq!(standing(&text, "192.0.2.1", 22), "known");
        assert_eq!(standing(&text, "sw1", 2222), "unknown");
        assert_eq!(standing(&text, "sw2", 2222), "known");
        assert_eq!(standing(&text, "sw2", 22), "unknown");
    }

    #[test]
    fn wildcards_match_and_negations_exclude() {
        let text = format!("*.example.org,!bad.example.org,10.0.?.1 {ONE}\n");
        assert_eq!(standing(&text, "a.example.org", 22), "known");
        assert_eq!(standing(&text, "bad.example.org", 22), "unknown");
        assert_eq!(standing(&text, "10.0.7.1", 22), "known");
        assert_eq!(standing(&text, "10.0.77.1", 22), "unknown");
        assert!(!glob(&"*a".repeat(50), &"a".repeat(49)) && glob("*a*b", "xxaxxb"));
    }

    #[test]
    fn hashed_names_are_matched() {
        // Made by `ssh-keygen -H` of a line for `sw1`.
        let text = format!("|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= {ONE}\n");
        assert_eq!(standing(&text, "192.168.1.61", 22), "known");
        assert_eq!(standing(&text, "192.168.1.62", 22), "unknown");
    }

    #[test]
    fn another_key_has_changed_be_it_of_another_algorithm() {
        assert_eq!(standing(&format!("sw1 {TWO}\n"), "sw1", 22), "changed 1");
        assert_eq!(
            standing(&format!("sw1 {ECDSA}\nsw1 {TWO}\n"), "sw1", 22),
            "changed 2"
        );
        assert_eq!(standing(&format!("sw1 {ECDSA}\n"), "sw1", 22), "changed 1");
        assert_eq!(
            standing(&format!("sw1 {ECDSA}\nsw1 {ONE}\n"), "sw1", 22),
            "known"
        );
        assert_eq!(
            known(&format!("sw1 {ECDSA}\n"), "sw1", 22)
                .algorithms()
                .len(),
            1
        );
    }

    #[test]
    fn revoked_keys_and_authorities_are_told_apart() {
        let text = format!("sw1 {ONE}\n@revoked  * {ONE}\n");
        assert_eq!(standing(&text, "sw1", 22), "revoked 2");
        assert_eq!(
            standing(&format!("@cert-authority *.org {TWO}\n"), "a.org", 22),
            "authority 1"
        );
        let both = format!("@cert-authority * {TWO}\nsw1 {ONE}\n");
        assert_eq!(standing(&both, "sw1", 22), "known");
    }

    #[test]
    fn a_key_is_learnt_once_and_behind_a_line_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deep/known_hosts");
        let files = [file.clone()];
        let learn = || learn(&files, "sw1", 2222, &key(ONE)).expect("written");
        let line = line("sw1", 2222, &key(ONE));
        assert_eq!(line, format!("[sw1]:2222 {ONE}"));
        assert!(matches!(learn(), Standing::Unknown));
        assert!(matches!(learn(), Standing::Known));
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            format!("{line}\n")
        );
        fs::write(&file, "sw0 x").expect("written");
        learn();
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            format!("sw0 x\n{line}\n")
        );
        let read = KnownHosts::read(&files, "sw1", 2222).expect("read");
        assert!(matches!(read.judge(&key(ONE)), Standing::Known));
    }

    #[test]
    fn of_two_keys_that_are_learnt_at_once_only_one_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [folder.path().join("known_hosts")];
        let learn = |text| learn(&files, "sw1", 22, &key(text)).expect("written");
        let standings = std::thread::scope(|scope| {
            let both = [ONE, TWO].map(|text| scope.spawn(move || learn(text)));
            both.map(|one| one.join().expect("no panic"))
        });
        let learnt = |standing: &&Standing| matches!(standing, Standing::Unknown);
        let refused = |standing: &&Standing| matches!(standing, Standing::Changed(_));
        assert_eq!(standings.iter().filter(learnt).count(), 1, "{standings:?}");
        assert_eq!(standings.iter().filter(refused).count(), 1, "{standings:?}");
        let text = fs::read_to_string(&files[0]).expect("a file");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
