//! Files that are there whole or not at all, also after a crash, and on a disk that is full.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file for its owner alone: under a temporary name in the same folder, synced, then renamed.
///
/// # Errors
/// The file is not there, or is still what it was.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder(path);
    let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync(folder)
}

/// The folder of a file.
pub(crate) fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Lets the names in a folder outlive a crash.
///
/// # Errors
/// They may not.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems keep folders without being asked, and cannot be asked.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_for_its_owner_alone_and_nothing_else_is_left() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("file");
        for text in ["first, and longer", "second"] {
            write(&file, text.as_bytes())?;
            assert_eq!(fs::read_to_string(&file)?, text);
        }
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        assert!(write(&folder.path().join("none/file"), b"").is_err());
        Ok(())
    }
}
