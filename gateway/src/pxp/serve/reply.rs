//! Where results, words and exit code go: the streams, or files that are there whole or not at all.
//!
//! Whoever waits for the files reads them once `exitcode` is there ("Results, error messages, and exit
//! code on file"), so that comes last, when the others are on the disk.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use devgate_schemas::pxp::{FILES_NOT_WRITTEN, OutputFiles};
use nix::unistd::dup2_stderr;

use crate::cli::Ending;
use crate::failure::Failure;
use crate::output::Output;
use crate::pxp::whole;

/// Where the answer goes.
pub(super) enum Reply {
    Streams,
    Files(Files),
}

/// The files of a request, none of which is there yet.
pub(super) struct Files {
    places: OutputFiles,
    /// Takes what is said meanwhile; it has no name, so nothing is left of it, however this process ends.
    said: File,
    /// Where words went before.
    terminal: OwnedFd,
}

/// Ends with the exit code that is kept for it: the files could not be written.
pub(super) fn not_written(why: &Failure, output: &Output) -> Ending {
    output.complain(&why.msg);
    Ending::Of(FILES_NOT_WRITTEN)
}

impl Reply {
    /// Prepares the files, where there are any, and says everything there from now on.
    ///
    /// # Errors
    /// Which of them cannot be written.
    pub(super) fn to(files: Option<OutputFiles>) -> Result<Self, Failure> {
        match files {
            None => Ok(Self::Streams),
            Some(files) => Files::prepare(files).map(Self::Files),
        }
    }

    /// Tells the results and how it ended; gives how this process is to end.
    pub(super) fn end(self, results: &str, ending: Ending, output: &Output) -> Ending {
        match self {
            Self::Streams => {
                output.line(results.trim_end());
                ending
            }
            Self::Files(files) => match files.end(results, ending.code()) {
                Ok(()) => ending,
                Err(failure) => not_written(&failure, output),
            },
        }
    }
}

impl Files {
    fn prepare(places: OutputFiles) -> Result<Self, Failure> {
        let mut known = HashSet::new();
        for place in [&places.stdout, &places.stderr, &places.exitcode] {
            let own = look(place).map_err(|error| unwritten(place, &error))?;
            if !known.insert(own) {
                let error = io::Error::other("in `output_files` it is named twice");
                return Err(unwritten(place, &error));
            }
        }
        // One of before would say that this action has ended.
        match fs::remove_file(&places.exitcode) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritten(&places.exitcode, &error));
            }
            _ => {}
        }
        let of_stderr = |error| unwritten(&places.stderr, &error);
        let said = tempfile::tempfile_in(whole::folder(&places.stderr)).map_err(of_stderr)?;
        let terminal = io::stderr().as_fd().try_clone_to_owned();
        let terminal = terminal.map_err(of_stderr)?;
        dup2_stderr(&said).map_err(|error| of_stderr(error.into()))?;
        Ok(Self {
            places,
            said,
            terminal,
        })
    }

    fn end(mut self, results: &str, code: u8) -> Result<(), Failure> {
        let places = &self.places;
        let mut words = Vec::new();
        // What is said from here on is of the files, not for them.
        let said = dup2_stderr(&self.terminal).map_err(io::Error::from);
        said.and_then(|()| self.said.rewind())
            .and_then(|()| self.said.read_to_end(&mut words))
            .map_err(|error| unwritten(&places.stderr, &error))?;
        let [results, code] =
            [results.trim_end(), &code.to_string()].map(|text| format!("{text}\n"));
        let all = [
            (&places.stdout, results.as_bytes()),
            (&places.stderr, &words),
            (&places.exitcode, code.as_bytes()),
        ];
        for (at, (place, bytes)) in all.iter().enumerate() {
            if let Err(error) = whole::write(place, bytes) {
                // Nobody is to take what is there of it for an answer, the exit code least of all.
                for (there, _) in all[..=at].iter().rev() {
                    let _ = fs::remove_file(there);
                }
                return Err(unwritten(place, &error));
            }
        }
        Ok(())
    }
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
            let message = "what is there is no regular file, and stays: expected one, or nothing";
            return Err(io::Error::other(message));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = whole::folder(place);
    // One without a name shows whether files can be made here.
    tempfile::tempfile_in(folder)?;
    let folder = fs::metadata(folder)?;
    Ok((folder.dev(), folder.ino(), name.to_owned()))
}

fn unwritten(place: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write to {}: {error}", place.display());
    Failure::new("devgate/files-not-written", message)
}
