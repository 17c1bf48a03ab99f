//! Where results, words and exit code go: the streams, or files that are there whole or not at all.
//!
//! Whoever waits for the files reads them once `exitcode` is there ("Results, error messages, and exit
//! code on file"), so that comes last, when the others are on the disk.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use devgate_schemas::pxp::{FILES_NOT_WRITTEN, OutputFiles};
use nix::unistd::dup2_stderr;
use tempfile::NamedTempFile;

use crate::cli::Ending;
use crate::failure::Failure;
use crate::output::Output;
use crate::pxp::whole;

/// Where the answer goes.
pub(super) enum Reply {
    Streams,
    Files(Files),
}

/// The files of a request, none of which is there yet. What is said goes to one of them meanwhile.
pub(super) struct Files {
    stdout: Pending,
    stderr: Pending,
    exitcode: Pending,
    /// Where words went before.
    terminal: OwnedFd,
}

/// A file that is not there yet, beside its place.
struct Pending {
    temporary: NamedTempFile,
    place: PathBuf,
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
    fn prepare(files: OutputFiles) -> Result<Self, Failure> {
        let prepared = Self {
            stdout: Pending::beside(files.stdout)?,
            stderr: Pending::beside(files.stderr)?,
            exitcode: Pending::beside(files.exitcode)?,
            terminal: io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .map_err(|error| unwritten(Path::new("stderr"), &error))?,
        };
        // One of before would say that this action has ended.
        match fs::remove_file(&prepared.exitcode.place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritten(&prepared.exitcode.place, &error));
            }
            _ => {}
        }
        let stderr = &prepared.stderr;
        dup2_stderr(stderr.temporary.as_file())
            .map_err(|error| unwritten(&stderr.place, &error.into()))?;
        Ok(prepared)
    }

    fn end(mut self, results: &str, code: u8) -> Result<(), Failure> {
        // What is said from here on is of the files, not for them.
        dup2_stderr(&self.terminal)
            .map_err(|error| unwritten(&self.stderr.place, &error.into()))?;
        self.stdout.write(results.trim_end())?;
        self.exitcode.write(&code.to_string())?;
        let mut there = Vec::new();
        let put = [self.stdout, self.stderr, self.exitcode]
            .into_iter()
            .try_for_each(|file| file.put(&mut there));
        if put.is_err() {
            // Nobody is to take what is there of it for an answer, the exit code least of all.
            for place in there.iter().rev() {
                let _ = fs::remove_file(place);
            }
        }
        put
    }
}

impl Pending {
    /// A file beside the place of the one that it will be, for its user alone.
    fn beside(place: PathBuf) -> Result<Self, Failure> {
        if place.is_dir() {
            return Err(unwritten(&place, &io::ErrorKind::IsADirectory.into()));
        }
        let temporary = tempfile::Builder::new()
            .prefix(".devgate-")
            .tempfile_in(folder(&place))
            .map_err(|error| unwritten(&place, &error))?;
        Ok(Self { temporary, place })
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = writeln!(self.temporary, "{line}");
        written.map_err(|error| unwritten(&self.place, &error))
    }

    /// Puts the file into its place, and both on the disk.
    fn put(self, there: &mut Vec<PathBuf>) -> Result<(), Failure> {
        let Self { temporary, place } = self;
        let put = || {
            temporary.as_file().sync_all()?;
            temporary.persist(&place)?;
            there.push(place.clone());
            whole::sync(folder(&place))
        };
        put().map_err(|error| unwritten(&place, &error))
    }
}

/// The folder of a file.
fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn unwritten(place: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write to {}: {error}", place.display());
    Failure::new("devgate/files-not-written", message)
}
