//! Atomic writes: a file is complete or does not exist, even after a crash or on a full disk.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The mode of a file that only its owner can read and write.
pub const OWNER: u32 = 0o600;

/// Writes a file that only its owner can read. It survives a crash of this node.
///
/// # Errors
/// The file does not exist, or is unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    persist(path, bytes, OWNER, true)?;
    sync(folder(path))
}

/// Writes or replaces a file. After a crash of this node, it may have its old content. The umask of this process
/// applies to `mode`.
///
/// # Errors
/// As of [`write()`].
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    persist(path, bytes, mode, false)
}

/// Writes a temporary file in the same folder, and renames it.
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

/// Syncs a folder, so that its names survive a crash.
///
/// # Errors
/// The folder cannot be synced.
pub fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems do not support this, and do not need it.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        replace(&file, b"for its group", 0o640)?;
        assert_eq!(fs::read(&file)?, b"for its group");
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o640);
        Ok(())
    }
}
