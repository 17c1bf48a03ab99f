//! Tests of known hosts files.

use super::*;
use crate::error::HostKeyProblem;

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

fn status(text: &str, host: &str, port: u16) -> String {
    match known(text, host, port).status_of(&key(ONE)) {
        KeyStatus::Known => "known".into(),
        KeyStatus::Revoked(record) => format!("revoked {}", record.line),
        KeyStatus::Changed(record) => format!("changed {}", record.line),
        KeyStatus::OnlyAuthority(record) => format!("authority {}", record.line),
        KeyStatus::Unknown => "unknown".into(),
    }
}

#[test]
fn names_ports_and_lists_are_matched() {
    let text = format!("# sw\n\nsw1,192.0.2.1 {ONE} comment here\n[sw2]:2222\t {ONE}\n");
    assert_eq!(status(&text, "sw1", 22), "known");
    assert_eq!(status(&text, "SW1", 22), "known");
    assert_eq!(status(&text, "192.0.2.1", 22), "known");
    assert_eq!(status(&text, "sw1", 2222), "unknown");
    assert_eq!(status(&text, "sw2", 2222), "known");
    assert_eq!(status(&text, "sw2", 22), "unknown");
}

#[test]
fn wildcards_match_and_negations_exclude() {
    let text = format!("*.example.org,!bad.example.org,10.0.?.1 {ONE}\n");
    assert_eq!(status(&text, "a.example.org", 22), "known");
    assert_eq!(status(&text, "bad.example.org", 22), "unknown");
    assert_eq!(status(&text, "10.0.7.1", 22), "known");
    assert_eq!(status(&text, "10.0.77.1", 22), "unknown");
    assert!(!glob(&"*a".repeat(50), &"a".repeat(49)) && glob("*a*b", "xxaxxb"));
}

#[test]
fn hashed_names_are_matched() {
    // Made with `ssh-keygen -H` from a line for `sw1`.
    let text = format!("|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= {ONE}\n");
    assert_eq!(status(&text, "192.168.1.61", 22), "known");
    assert_eq!(status(&text, "192.168.1.62", 22), "unknown");
}

#[test]
fn any_other_key_counts_as_changed_whatever_its_algorithm() {
    assert_eq!(status(&format!("sw1 {TWO}\n"), "sw1", 22), "changed 1");
    assert_eq!(
        status(&format!("sw1 {ECDSA}\nsw1 {TWO}\n"), "sw1", 22),
        "changed 2"
    );
    assert_eq!(status(&format!("sw1 {ECDSA}\n"), "sw1", 22), "changed 1");
    assert_eq!(
        status(&format!("sw1 {ECDSA}\nsw1 {ONE}\n"), "sw1", 22),
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
fn revoked_keys_and_authorities_are_distinguished() {
    let text = format!("sw1 {ONE}\n@revoked  * {ONE}\n");
    assert_eq!(status(&text, "sw1", 22), "revoked 2");
    assert_eq!(
        status(&format!("@cert-authority *.org {TWO}\n"), "a.org", 22),
        "authority 1"
    );
    let both = format!("@cert-authority * {TWO}\nsw1 {ONE}\n");
    assert_eq!(status(&both, "sw1", 22), "known");
}

#[test]
fn a_key_is_recorded_once_and_on_a_line_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("deep/known_hosts");
    let files = [file.clone()];
    let record_key = || record_key(&files, "sw1", 2222, &key(ONE)).expect("written");
    let line = known_hosts_line("sw1", 2222, &key(ONE));
    assert_eq!(line, format!("[sw1]:2222 {ONE}"));
    assert!(matches!(record_key(), KeyStatus::Unknown));
    assert!(matches!(record_key(), KeyStatus::Known));
    assert_eq!(
        fs::read_to_string(&file).expect("a file"),
        format!("{line}\n")
    );
    fs::write(&file, "sw0 x").expect("written");
    record_key();
    assert_eq!(
        fs::read_to_string(&file).expect("a file"),
        format!("sw0 x\n{line}\n")
    );
    let read = KnownHosts::read(&files, "sw1", 2222).expect("read");
    assert!(matches!(read.status_of(&key(ONE)), KeyStatus::Known));
}

#[test]
fn only_one_of_two_keys_is_recorded_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [folder.path().join("known_hosts")];
    let record_key = |text| record_key(&files, "sw1", 22, &key(text)).expect("written");
    let standings = std::thread::scope(|scope| {
        let both = [ONE, TWO].map(|text| scope.spawn(move || record_key(text)));
        both.map(|one| one.join().expect("no panic"))
    });
    let learnt = |status: &&KeyStatus| matches!(status, KeyStatus::Unknown);
    let refused = |status: &&KeyStatus| matches!(status, KeyStatus::Changed(_));
    assert_eq!(standings.iter().filter(learnt).count(), 1, "{standings:?}");
    assert_eq!(standings.iter().filter(refused).count(), 1, "{standings:?}");
    let text = fs::read_to_string(&files[0]).expect("a file");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// A disk with room for this many more bytes.
struct Disk {
    content: Vec<u8>,
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.room);
        self.room -= count;
        self.content.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Append for Disk {
    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.content
            .truncate(usize::try_from(size).expect("a size"));
        Ok(())
    }
}

#[test]
fn a_full_disk_leaves_no_part_of_a_line() {
    let content = b"one\n".to_vec();
    let mut disk = Disk { content, room: 3 };
    let error = append(&mut disk, 4, b"another\n").expect_err("full");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(disk.content, b"one\n");
    disk.room = 100;
    append(&mut disk, 4, b"another\n").expect("room");
    assert_eq!(disk.content, b"one\nanother\n");
}

#[test]
fn a_file_that_cannot_be_written_has_a_remedy() {
    let files = [PathBuf::from("/dev/null/known_hosts")];
    let (what, file, cause) = record_key(&files, "sw1", 22, &key(ONE)).expect_err("no folder");
    let told = HostKeyProblem::File { what, file, cause }.to_string();
    assert!(
        told.contains("cannot write the known hosts in /dev/null/known_hosts: "),
        "{told}"
    );
    assert!(
        told.contains("make it writable, name another file"),
        "{told}"
    );
}
