//! Files that are there whole or not at all, also after a crash, and on a disk that is full.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The mode of a file that is its owner's alone.
pub const OWNER: u32 = 0o600;

/// Writes a file for its owner alone, which also outlives a crash of this node.
///
/// # Errors
/// The file is not there, or is still what it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    persist(path, bytes, OWNER, true)?;
    sync(folder(path))
}

/// Writes a file, or replaces it; after a crash of this node it may be what it was before. `mode` is who may use it, as
/// far as the umask of this process allows.
///
/// # Errors
/// As of [`write()`].
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    persist(path, bytes, mode, false)
}

/// Writes under a temporary name in the same folder, which then becomes the file's.
fn persist(path: &Path, bytes: &[u8], mode: u32, synced: bool) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder(path))?;
    file.write_all(bytes)?;
    if synced {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    Ok(())
}

/// The folder of a file.
pub fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Lets the names in a folder outlive a crash.
///
/// # Errors
/// They may not.
pub fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems keep folders without being asked, and cannot be asked.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        replace(&file, b"for its group", 0o640)?;
        assert_eq!(fs::read(&file)?, b"for its group");
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o640);
        Ok(())
    }
}
