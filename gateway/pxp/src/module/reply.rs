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
const SUMMARY: usize = 128 << 10;

/// The space that is reserved for each file. A text may need more space than its size.
const ROOM: [u64; 3] = [2 * SUMMARY as u64, 64 << 10, 4 << 10];

/// The destination of the answer.
pub(super) enum Reply {
    Streams,
    Files(Files),
}

/// The files of a request, which do not exist yet.
pub(super) struct Files {
    places: OutputFiles,
    /// Takes what is said meanwhile, and keeps the room for it; it has no name, as those below have none, so nothing
    /// is left of it, however this process ends.
    said: File,
    /// They reserve the space for results and exit code.
    kept: [File; 2],
    /// The previous destination of messages.
    terminal: OwnedFd,
}

/// Ends with the exit code that is kept for it: the files could not be written.
pub(super) fn not_written(why: &Failure, printer: &Printer) -> ExitStatus {
    printer.complain(&why.msg);
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
                    printer.line(large::fit(results, SUMMARY).0.to_string());
                    not_written(&failure, printer)
                }
            },
        }
    }
}

impl Files {
    fn prepare(places: OutputFiles, printer: &Printer) -> Result<Self, Failure> {
        let mut known = HashSet::new();
        for place in [&places.stdout, &places.stderr, &places.exitcode] {
            let own = look(place).map_err(|error| unwritten(place, &error))?;
            if !known.insert(own) {
                let error = io::Error::other("`output_files` contains it twice");
                return Err(unwritten(place, &error));
            }
        }
        // An old file would mean that this action has ended.
        match fs::remove_file(&places.exitcode) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritten(&places.exitcode, &error));
            }
            _ => {}
        }
        let [results, said, code] = [
            (&places.stdout, 0),
            (&places.stderr, 1),
            (&places.exitcode, 2),
        ]
        .map(|(place, at)| room(place, ROOM[at]).map_err(|error| unwritten(place, &error)));
        let (kept, said) = ([results?, code?], said?);
        let of_stderr = |error| unwritten(&places.stderr, &error);
        let terminal = io::stderr().as_fd().try_clone_to_owned();
        let terminal = terminal.map_err(of_stderr)?;
        printer.queue().settle();
        dup2_stderr(&said).map_err(|error| of_stderr(error.into()))?;
        Ok(Self {
            places,
            said,
            kept,
            terminal,
        })
    }

    fn end(
        self,
        results: &Json,
        exit_status: ExitStatus,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let (places, terminal) = (self.places.clone(), &self.terminal);
        let said = self.said;
        let [for_results, for_code] = self.kept;
        let write = || {
            let place = &places.stdout;
            let exit_status = write_results(place, results, exit_status, for_results, printer)
                .map_err(|error| unwritten(place, &error))?;
            let place = &places.stderr;
            printer.queue().settle();
            write_words(place, said, terminal).map_err(|error| unwritten(place, &error))?;
            let (place, code) = (&places.exitcode, format!("{}\n", exit_status.code()));
            into_room(place, code.as_bytes(), for_code)
                .map_err(|error| unwritten(place, &error))?;
            Ok(exit_status)
        };
        let written = write();
        if written.is_err() {
            printer.queue().settle();
            let _ = dup2_stderr(terminal);
            // No reader must take partial files for an answer, least of all the exit code.
            for there in [&places.exitcode, &places.stderr, &places.stdout] {
                let _ = fs::remove_file(there);
            }
        }
        written
    }
}

/// Writes the results, or as much of them as fits in the reserved space.
fn write_results(
    place: &Path,
    results: &Json,
    exit_status: ExitStatus,
    kept: File,
    printer: &Printer,
) -> io::Result<ExitStatus> {
    let line = |results: &Json| format!("{results}\n");
    let Err(error) = atomic_file::write(place, line(results).as_bytes()) else {
        return Ok(exit_status);
    };
    printer.complain(&format!(
        "cannot write all results to {}: {error}; the largest values, or all but a summary, are omitted",
        place.display()
    ));
    let (results, moved) = large::fit(results.clone(), SUMMARY);
    let exit_status = large::exit_status(exit_status, &moved, printer);
    into_room(place, line(&results).as_bytes(), kept).map(|()| exit_status)
}

/// Writes the log file. Later messages are about the files, so they go elsewhere.
fn write_words(place: &Path, mut said: File, terminal: &OwnedFd) -> io::Result<()> {
    let mut words = Vec::new();
    dup2_stderr(terminal)?;
    said.rewind()?;
    said.read_to_end(&mut words)?;
    into_room(place, &words, said)
}

/// A file without a name beside a place, which takes so many bytes of its disk for it.
fn room(place: &Path, bytes: u64) -> io::Result<File> {
    let kept = tempfile::tempfile_in(atomic_file::folder(place))?;
    match fallocate(&kept, FallocateFlags::KEEP_SIZE, 0, bytes) {
        // Some file systems allocate space only for written data.
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(kept),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file into its reserved space.
fn into_room(place: &Path, bytes: &[u8], kept: File) -> io::Result<()> {
    kept.set_len(0)?;
    drop(kept);
    atomic_file::write(place, bytes)
}

/// Looks at a place before anything is done: what cannot be written there, and what would be lost.
/// Gives what the place is, however it is spelled: a name in a folder.
fn look(place: &Path) -> io::Result<(u64, u64, OsString)> {
    let name = place.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    // `stdout/` and `stdout/.` have a name to the library, and are folders to the system.
    if bytes.is_empty() || !place.as_os_str().as_encoded_bytes().ends_with(bytes) {
        return Err(io::Error::other("expected the name of a file at its end"));
    }
    match fs::symlink_metadata(place) {
        Ok(there) if !there.is_file() => {
            let message = "it exists and is not a regular file, so it was not replaced";
            return Err(io::Error::other(message));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = atomic_file::folder(place);
    // One without a name shows whether files can be made here.
    tempfile::tempfile_in(folder)?;
    let folder = fs::metadata(folder)?;
    Ok((folder.dev(), folder.ino(), name.to_owned()))
}

fn unwritten(place: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write to {}: {error}", place.display());
    Failure::new("devgate/files-not-written", message)
}
