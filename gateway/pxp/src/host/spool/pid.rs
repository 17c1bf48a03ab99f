//! The process of an action: the file `pid`. Its first line is the PID, as in pxp-agent. The second line identifies the
//! process, because PIDs are reused.

use std::path::Path;
use std::{fs, io};

use devgate_core::atomic_file;
use devgate_engine::process::{ProcessIdentity, ProcessRecord};

const NAME: &str = "pid";

/// Records a process.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(folder: &Path, record: &ProcessRecord) -> io::Result<()> {
    let ProcessIdentity { pid, started, boot } = &record.leader;
    let text = format!("{pid}\n{started} {boot} {}\n", record.mark);
    let file = folder.join(NAME);
    atomic_file::write(&file, text.as_bytes())
        .map_err(|error| io::Error::other(format!("cannot write {}: {error}", file.display())))
}

/// The recorded process; `None` if that is uncertain.
pub(super) fn read(folder: &Path) -> Option<ProcessRecord> {
    let text = fs::read_to_string(folder.join(NAME)).ok()?;
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [pid, started, boot, mark] = words[..] else {
        return None;
    };
    Some(ProcessRecord {
        leader: ProcessIdentity {
            pid: pid.parse().ok()?,
            started: started.parse().ok()?,
            boot: boot.to_owned(),
        },
        mark: mark.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_as_it_was_written_and_a_bare_number_is_nobodys() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let record = ProcessRecord {
            leader: ProcessIdentity::current()?,
            mark: "mark-1.".to_owned(),
        };
        write(folder.path(), &record)?;
        assert_eq!(read(folder.path()), Some(record));
        for text in ["", "1\n", "x\n1 boot mark\n", "1\n1 boot mark more\n"] {
            fs::write(folder.path().join(NAME), text)?;
            assert_eq!(read(folder.path()), None, "{text:?}");
        }
        Ok(())
    }
}
