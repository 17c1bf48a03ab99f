//! Programs that run on the proxy of a session, because they connect to the target by themselves.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::output::Piece;
use crate::{Error, Result};

/// Why no proxy has started a program. The program has not been asked for anything.
#[derive(Debug)]
pub enum ProgramNotStarted {
    /// A proxy was reached, but cannot run the program: for this reason.
    Unsuitable(String),
    /// No proxy was reached.
    Unreachable(Error),
}

/// A program to start on a proxy.
#[derive(Debug)]
pub struct HostedProgram<'a> {
    /// The files that it needs.
    pub files: &'a ProgramFiles,
    /// The name of the file that is executed.
    pub executable: &'a str,
    /// The words before the file, unless the proxy has an interpreter for the extension of the file.
    pub interpreter: &'a [&'a str],
    /// The words behind the file. None is a secret.
    pub arguments: &'a [Argument<'a>],
    /// The programs that the first line of the file names.
    pub first_line: &'a [String],
    /// What to install on a proxy that lacks the interpreter.
    pub install: &'a str,
}

/// A word behind a program's file.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// This text.
    Text(&'a str),
    /// The paths of these files or folders on the proxy, with `:` between them.
    Paths(&'a [String]),
}

/// The files of programs, with their relative positions.
#[derive(Debug)]
pub struct ProgramFiles {
    /// Identifies the names, modes and contents.
    pub digest: String,
    /// The files.
    pub files: Vec<ProgramFile>,
}

/// One of the files of programs.
#[derive(Clone, Debug)]
pub struct ProgramFile {
    /// The path in the folder of the files.
    pub name: String,
    /// The path on this node.
    pub path: PathBuf,
    /// The permissions.
    pub mode: u32,
}

/// A process on a proxy.
#[derive(Debug)]
pub struct HostedProcess {
    /// Its standard input, which ends when this is dropped.
    pub stdin: Box<dyn HostedInput>,
    /// Its output, and how it ends.
    pub output: Box<dyn HostedOutput>,
}

/// The standard input of a process on a proxy.
#[async_trait]
pub trait HostedInput: fmt::Debug + Send {
    /// Writes bytes, however long the process takes to read them.
    ///
    /// # Errors
    /// Fails when nobody reads them any more. The output tells why.
    async fn write_all(&mut self, bytes: Bytes) -> io::Result<()>;
}

/// The output of a process on a proxy. If this is dropped before the process has ended, the process is killed at the end
/// of the run that has started it.
#[async_trait]
pub trait HostedOutput: fmt::Debug + Send {
    /// Returns the name of the proxy.
    fn proxy(&self) -> &str;

    /// Returns the next piece. No piece is lost if the future is dropped.
    ///
    /// # Errors
    /// Fails when the connection to the proxy was lost. Whether the process still runs is not known.
    async fn next(&mut self) -> Result<Piece>;

    /// Ends the process with everything that it has started: with SIGKILL, after this time. Returns what may still run.
    async fn end(self: Box<Self>, grace: Duration) -> Option<String>;
}
