//! Replaces this process by a new one of the same program, when the command line contains a secret.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use devgate_core::budget;
use devgate_schemas::Sensitive;
use rustix::fs::{MemfdFlags, memfd_create};

use super::spawn::new_command;

/// Replaces this process by one of the same program with these arguments (the first is its name) that reads `stdin`.
/// This removes the secret from the list of processes.
///
/// # Errors
/// Fails when the program cannot be executed. On success, this does not return.
pub fn reexec(arguments: &[OsString], stdin: &Sensitive<Vec<u8>>) -> io::Result<()> {
    // In memory, because a file on a disk would contain the secret in clear.
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(stdin.reveal())?;
    file.rewind()?;
    // The new program must find the limits that we found.
    budget::restore_for(std::process::id());
    let [name, arguments @ ..] = arguments else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = new_command(&[own_executable()])?.into_std();
    command.arg0(name).args(arguments).stdin(Stdio::from(file));
    Err(command.exec())
}

/// Returns the path of this program, so that it keeps its name in the list of processes. If the program was replaced
/// there by a newer one, returns `/proc/self/exe`.
pub fn own_executable() -> OsString {
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    path.map_or_else(|| "/proc/self/exe".into(), OsString::from)
}
