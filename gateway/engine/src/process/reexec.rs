//! Replacing this process by a new one of the same program, where the command line holds a secret.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use devgate_schemas::Sensitive;
use rustix::fs::{MemfdFlags, memfd_create};

use super::spawn::bare;
use devgate_core::budget;

/// Replaces this process by one of the same program with these arguments (the first is its name), which
/// reads `stdin`: what stood on the command line is gone from the list of processes.
///
/// # Errors
/// Why it cannot be; else this does not return.
pub fn reexec(arguments: &[OsString], stdin: &Sensitive<Vec<u8>>) -> io::Result<()> {
    // In memory: on a disk it would be in clear.
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(stdin.reveal())?;
    file.rewind()?;
    // What comes now finds the limit that we found.
    budget::give_back(std::process::id());
    let [name, arguments @ ..] = arguments else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = bare(&[own_executable()])?.into_std();
    command.arg0(name).args(arguments).stdin(Stdio::from(file));
    Err(command.exec())
}

/// This program. By its own path, it keeps its name in the list of processes; it may have been replaced by a newer
/// one there.
pub fn own_executable() -> OsString {
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    path.map_or_else(|| "/proc/self/exe".into(), OsString::from)
}
