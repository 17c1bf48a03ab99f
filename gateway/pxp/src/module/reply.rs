//! Writes results, messages and exit code to streams, or atomically to files.
//!
//! A reader of the files waits for `exitcode` ("Results, error messages, and exit code on file"), so it is written
//! last. Disk space for a summary is reserved before the action starts: if the disk fills up, results may be lost, but
//! not the statuses of the targets.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_schemas::pxp::{FILES_NOT_WRITTEN, OutputFiles};
use nix::unistd::dup2_stderr;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde_json::Value as Json;

use crate::module::large;

/// The maximum size of results that fit in the reserved space.
const MAX_SUMMARY: usize = 128 << 10;

/// The space that is reserved for each file. A text may need more space than its size.
const RESERVED_BYTES: [u64; 3] = [2 * MAX_SUMMARY as u64, 64 << 10, 4 << 10];

/// The destination of the answer.
pub(super) enum Reply {
    Streams,
    Files(Files),
}

/// The files of a request, which do not exist yet.
pub(super) struct Files {
    paths: OutputFiles,
    /// Collects the messages, in reserved space. Like the files below it has no name, so nothing is left of it, however
    /// this process ends.
    log: File,
    /// They reserve the space for results and exit code.
    reserved: [File; 2],
    /// The previous destination of messages.
    terminal: OwnedFd,
}

/// Prints that the files could not be written, and returns the exit code for this.
pub(super) fn not_written(why: &Failure, printer: &Printer) -> ExitStatus {
    printer.error(&why.msg);
    ExitStatus::Code(FILES_NOT_WRITTEN)
}

impl Reply {
    /// Prepares the files, if there are any, and logs to them from now on.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn to(files: Option<OutputFiles>, printer: &Printer) -> Result<Self, Failure> {
        match files {
            None => Ok(Self::Streams),
            Some(files) => Files::prepare(files, printer).map(Self::Files),
        }
    }

    /// Writes the results and the exit status. Returns the exit status of this process.
    pub(super) fn end(
        self,
        results: Json,
        exit_status: ExitStatus,
        printer: &Printer,
    ) -> ExitStatus {
        match self {
            Self::Streams => {
                printer.line(results.to_string());
                exit_status
            }
            Self::Files(files) => match files.end(&results, exit_status, printer) {
                Ok(exit_status) => exit_status,
                Err(failure) => {
                    // The caller may log it, as pxp-agent does.
                    printer.line(large::fit(results, MAX_SUMMARY).0.to_string());
                    not_written(&failure, printer)
                }
            },
        }
    }
}

impl Files {
    fn prepare(paths: OutputFiles, printer: &Printer) -> Result<Self, Failure> {
        let mut identities = HashSet::new();
        for path in [&paths.stdout, &paths.stderr, &paths.exitcode] {
            let identity = file_identity(path).map_err(|error| unwritten(path, &error))?;
            if !identities.insert(identity) {
                let error = io::Error::other("`output_files` contains it twice");
                return Err(unwritten(path, &error));
            }
        }
        // An old file would mean that this action has ended.
        match fs::remove_file(&paths.exitcode) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritten(&paths.exitcode, &error));
            }
            _ => {}
        }
        let [results, log, code] = [(&paths.stdout, 0), (&paths.stderr, 1), (&paths.exitcode, 2)]
            .map(|(path, at)| {
                reserve_space(path, RESERVED_BYTES[at]).map_err(|error| unwritten(path, &error))
            });
        let (reserved, log) = ([results?, code?], log?);
        let of_stderr = |error| unwritten(&paths.stderr, &error);
        let terminal = io::stderr().as_fd().try_clone_to_owned();
        let terminal = terminal.map_err(of_stderr)?;
        printer.queue().drain_blocking();
        dup2_stderr(&log).map_err(|error| of_stderr(error.into()))?;
        Ok(Self {
            paths,
            log,
            reserved,
            terminal,
        })
    }

    fn end(
        self,
        results: &Json,
        exit_status: ExitStatus,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let (paths, terminal) = (self.paths.clone(), &self.terminal);
        let log = self.log;
        let [for_results, for_code] = self.reserved;
        let write = || {
            let path = &paths.stdout;
            let exit_status = write_results(path, results, exit_status, for_results, printer)
                .map_err(|error| unwritten(path, &error))?;
            let path = &paths.stderr;
            printer.queue().drain_blocking();
            write_log(path, log, terminal).map_err(|error| unwritten(path, &error))?;
            let (path, code) = (&paths.exitcode, format!("{}\n", exit_status.code()));
            write_reserved(path, code.as_bytes(), for_code)
                .map_err(|error| unwritten(path, &error))?;
            Ok(exit_status)
        };
        let written = write();
        if written.is_err() {
            printer.queue().drain_blocking();
            let _ = dup2_stderr(terminal);
            // No reader must take partial files for an answer, least of all the exit code.
            for file in [&paths.exitcode, &paths.stderr, &paths.stdout] {
                let _ = fs::remove_file(file);
            }
        }
        written
    }
}

/// Writes the results, or as much of them as fits in the reserved space.
fn write_results(
    path: &Path,
    results: &Json,
    exit_status: ExitStatus,
    reserved: File,
    printer: &Printer,
) -> io::Result<ExitStatus> {
    let line = |results: &Json| format!("{results}\n");
    let Err(error) = atomic_file::write(path, line(results).as_bytes()) else {
        return Ok(exit_status);
    };
    printer.error(&format!(
        "cannot write all results to {}: {error}; the largest values, or all but a summary, are omitted",
        path.display()
    ));
    let (results, saved) = large::fit(results.clone(), MAX_SUMMARY);
    let exit_status = large::exit_status(exit_status, &saved, printer);
    write_reserved(path, line(&results).as_bytes(), reserved).map(|()| exit_status)
}

/// Writes the log file. Later messages are about the files, so they go elsewhere.
fn write_log(path: &Path, mut log: File, terminal: &OwnedFd) -> io::Result<()> {
    let mut text = Vec::new();
    dup2_stderr(terminal)?;
    log.rewind()?;
    log.read_to_end(&mut text)?;
    write_reserved(path, &text, log)
}

/// A file without a name in the same folder, which reserves this many bytes on its disk.
fn reserve_space(path: &Path, bytes: u64) -> io::Result<File> {
    let reserved = tempfile::tempfile_in(atomic_file::folder(path))?;
    match fallocate(&reserved, FallocateFlags::KEEP_SIZE, 0, bytes) {
        // Some file systems allocate space only for written data.
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(reserved),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file into its reserved space.
fn write_reserved(path: &Path, bytes: &[u8], reserved: File) -> io::Result<()> {
    reserved.set_len(0)?;
    drop(reserved);
    atomic_file::write(path, bytes)
}

/// Checks before the action starts that a file can be written, and that no other data would be lost. Returns the identity
/// of the path, however it is spelled: its folder and its name.
fn file_identity(path: &Path) -> io::Result<(u64, u64, OsString)> {
    let name = path.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    // `stdout/` and `stdout/.` have a name to the library, and are folders to the system.
    if bytes.is_empty() || !path.as_os_str().as_encoded_bytes().ends_with(bytes) {
        return Err(io::Error::other("expected the name of a file at its end"));
    }
    match fs::symlink_metadata(path) {
        Ok(file) if !file.is_file() => {
            let message = "it exists and is not a regular file, so it was not replaced";
            return Err(io::Error::other(message));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = atomic_file::folder(path);
    // One without a name shows whether files can be made here.
    tempfile::tempfile_in(folder)?;
    let folder = fs::metadata(folder)?;
    Ok((folder.dev(), folder.ino(), name.to_owned()))
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write to {}: {error}", path.display());
    Failure::new("devgate/files-not-written", message)
}
