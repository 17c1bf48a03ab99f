//! The files of known hosts that this process has read. A fleet often has one large file, which every connection needs.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::lines::Lines;
use crate::reading;

/// The maximum number of files that are kept. Some inventories have a file for each device.
const MOST: usize = 16;

/// The coarsest clock of a file system: two changes within this time may leave the same time.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

static FILES: LazyLock<Mutex<HashMap<PathBuf, KnownFile>>> = LazyLock::new(Mutex::default);

/// A file that was read.
#[derive(Debug, Default)]
struct KnownFile {
    /// What the file was when it was read. `None` if a later change may look the same.
    version: Option<Version>,
    lines: Lines,
}

/// What changes when a file changes. The time of the last change of its inode cannot be set, unlike that of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Calls a function with the present lines of a file. A missing file has none.
///
/// # Errors
/// Fails when the file cannot be read.
pub(super) fn with_lines(path: &Path, with: impl FnOnce(&mut Lines)) -> io::Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        // Nobody knows what a pipe says next, and it may block.
        let mut lines = Lines::default();
        lines.update(text(path)?);
        with(&mut lines);
        return Ok(());
    }
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if files.len() >= MOST && !files.contains_key(path) {
        files.clear();
    }
    let file = files.entry(path.to_owned()).or_default();
    // The metadata are older than the text: if the file changes meanwhile, it is read again.
    file.refresh(Version::of(&metadata), SystemTime::now(), || text(path))?;
    with(&mut file.lines);
    Ok(())
}

fn text(path: &Path) -> io::Result<String> {
    let bytes = match reading::bytes(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl KnownFile {
    /// Reads the file, unless it is what it was.
    fn refresh(
        &mut self,
        version: Version,
        now: SystemTime,
        read: impl FnOnce() -> io::Result<String>,
    ) -> io::Result<()> {
        if self.version != Some(version) {
            self.version = None;
            self.lines.update(read()?);
            self.version = Some(version).filter(|version| version.is_final(now));
        }
        Ok(())
    }
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns whether any later change makes another version.
    fn is_final(&self, now: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        let nanoseconds = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default());
        let changed = SystemTime::UNIX_EPOCH + seconds + nanoseconds;
        // A time in the future is from another clock.
        let age = now.duration_since(changed);
        age.is_ok_and(|age| age > COARSEST_CLOCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_unless_it_has_changed_or_may_have() -> io::Result<()> {
        let version = |inode, size, changed| Version {
            device: 1,
            inode,
            size,
            modified: (50, 0),
            changed: (changed, 5),
        };
        let mut file = KnownFile::default();
        let mut is_read = |version, now| {
            let mut count = 0;
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
            file.refresh(version, now, || {
                count += 1;
                Ok(String::new())
            })?;
            Ok::<bool, io::Error>(count == 1)
        };
        assert!(is_read(version(7, 30, 100), 101)?);
        assert!(is_read(version(7, 30, 100), 102)?, "it may have changed");
        assert!(is_read(version(7, 30, 100), 103)?);
        assert!(!is_read(version(7, 30, 100), 103)?);
        assert!(!is_read(version(7, 30, 100), 900)?);
        assert!(is_read(version(7, 31, 100), 900)?, "another size");
        assert!(is_read(version(8, 31, 100), 900)?, "another inode");
        assert!(is_read(version(8, 31, 800), 900)?, "another time");
        assert!(!is_read(version(8, 31, 800), 900)?);
        assert!(is_read(version(8, 31, 990), 900)?);
        assert!(is_read(version(8, 31, 990), 900)?, "another clock");
        Ok(())
    }

    #[test]
    fn a_file_that_could_not_be_read_is_read_again() {
        let version = Version {
            device: 1,
            inode: 2,
            size: 3,
            modified: (50, 0),
            changed: (50, 0),
        };
        let mut file = KnownFile::default();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(900);
        let refused = || Err(io::ErrorKind::PermissionDenied.into());
        assert!(file.refresh(version, now, refused).is_err());
        assert!(file.refresh(version, now, refused).is_err());
    }
}
