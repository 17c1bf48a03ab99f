//! Tests of known hosts files.

use super::lines::{Lines, matches_host};
use super::*;
use crate::error::HostKeyProblem;
use crate::glob::glob;

const ONE: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILIG2T/B0l0gaqj3puu510tu9N1OkQ4znY3LYuEm5zCF";
const TWO: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHwf2HMM5TRXvo2SQJjsNkiDD5KqiiNjrGVv3UUh+mMT5RHxiRtOnlqvjhQtBq0VpmpCV/PwUdhOig4vkbqAcEc=";

fn key(text: &str) -> PublicKey {
    PublicKey::from_openssh(text).expect("a key")
}

fn known(text: &str, host: &str, port: u16) -> KnownHosts {
    let mut lines = Lines::default();
    lines.update(text.to_owned());
    records(&mut lines, host, port)
}

fn records(lines: &mut Lines, host: &str, port: u16) -> KnownHosts {
    let mut records = Vec::new();
    lines.collect(Path::new("known_hosts"), &name(host, port), &mut records);
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

/// The lines that apply to a host, found without an index: the number, the marker and the key of each.
fn expected(text: &str, name: &str) -> Vec<(usize, Option<Marker>, PublicKey)> {
    let line = |(index, line): (usize, &str)| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (marker, fields) = match fields.first()? {
            first if first.starts_with('#') => return None,
            first if first.starts_with('@') => (Some(first.parse().ok()?), &fields[1..]),
            _ => (None, &fields[..]),
        };
        let [hosts, algorithm, key, ..] = fields else {
            return None;
        };
        let key = PublicKey::from_openssh(&format!("{algorithm} {key}")).ok()?;
        matches_host(hosts, name).then_some((index + 1, marker, key))
    };
    text.lines().enumerate().filter_map(line).collect()
}

#[test]
fn the_index_finds_the_lines_that_each_line_by_itself_would() {
    let hosts = [
        "sw1",
        "SW1,sw2,sw1",
        "[sw1]:2222,192.0.2.1",
        "sw*",
        "*,!sw2",
        "!sw1",
        "sw?,,",
        "Ö1",
        ",",
        "|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg=",
        "|1|bad|3988QV0VE8wmZL7suNrYQLITLCg=",
        "|sw1",
        "#sw1",
    ];
    let mut written = vec!["", "# a comment", " ", "sw1", "sw1 ssh-ed25519", "@revoked"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<String>>();
    for host in hosts {
        for marker in ["", "@revoked ", "@cert-authority\t", "@other "] {
            for key in [ONE, TWO, "ssh-ed25519 AAAA", ECDSA] {
                written.push(format!("{marker}{host} {key}"));
                written.push(format!("  {marker}{host}\t{key} a comment\r"));
            }
        }
    }
    // The same lines in another order, and in parts, as when somebody adds to the file.
    let mut seed = 7_usize;
    for _ in 0..4 {
        for index in (1..written.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            written.swap(index, (seed >> 33) % (index + 1));
        }
        let mut lines = Lines::default();
        for part in [1, 40, 41, written.len()] {
            let text = written[..part].join("\n") + "\n";
            lines.update(text.clone());
            for host in [
                "sw1",
                "SW2",
                "sw3",
                "192.0.2.1",
                "192.168.1.61",
                "ö1",
                "x",
                "|sw1",
            ] {
                for port in [22, 2222] {
                    let found = records(&mut lines, host, port).0.into_iter();
                    let found: Vec<_> = found.map(|one| (one.line, one.marker, one.key)).collect();
                    assert_eq!(
                        found,
                        expected(&text, &name(host, port)),
                        "{host}:{port} in\n{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_changed_file_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known_hosts");
    let files = [file.clone()];
    let status = || {
        let known = KnownHosts::read(&files, "sw1", 22).expect("it can be read");
        match known.status_of(&key(ONE)) {
            KeyStatus::Known => "known".to_owned(),
            KeyStatus::Changed(record) => format!("changed {}", record.line),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(status(), "Unknown");
    let write = |text: &str| fs::write(&file, text).expect("written");
    write(&format!("sw1 {ONE}\n"));
    assert_eq!(status(), "known");
    // The same size, at about the same time.
    write(&format!("sw1 {TWO}\n"));
    assert_eq!(status(), "changed 1");
    write(&format!("sw2 {TWO}\nsw1 {ONE}"));
    assert_eq!(status(), "known");
    // The end of the last line was not its end.
    write(&format!("sw2 {TWO}\nsw1 {ONE}A"));
    assert_eq!(status(), "Unknown");
    let other = folder.path().join("other");
    fs::write(&other, format!("#\nsw1 {TWO}\n")).expect("written");
    fs::rename(&other, &file).expect("renamed");
    assert_eq!(status(), "changed 2");
    fs::remove_file(&file).expect("removed");
    assert_eq!(status(), "Unknown");
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
