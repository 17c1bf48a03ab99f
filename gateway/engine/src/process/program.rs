//! A program to start, its limits, and what remains of a process that was ended.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::time::Duration;

use devgate_schemas::Sensitive;
use devgate_schemas::task::CapturedOutput;

/// What is started: no shell stands between.
pub struct Program {
    /// The file to execute, and its arguments. Never a secret: everybody can read them.
    pub words: Vec<OsString>,
    /// Variables beside those of this process.
    pub environment: Vec<(String, Sensitive<String>)>,
    /// What it reads; nothing where there is none.
    pub stdin: Option<Sensitive<Vec<u8>>>,
}

/// How long a process may run and how much of its output is kept.
#[derive(Clone, Debug)]
pub struct ProcessLimits {
    /// The time from start to end; none is for ever.
    pub time: Option<Duration>,
    /// Bytes of stdout that are kept; more are read and left out.
    pub stdout: usize,
    /// Bytes of stderr that are kept.
    pub stderr: usize,
    /// How long it has to end when it is asked to, before it is killed.
    pub grace: Duration,
    /// How long it has when it is asked once more, because the run is to be killed; none, where it is killed then.
    pub respite: Duration,
    /// How long output is awaited after the process has ended, should children of its own have kept
    /// it open.
    pub drain: Duration,
}

/// Why a process did not run to its end.
#[derive(Debug)]
pub enum Failure {
    /// The operating system did not start it, or does not know it any more.
    Start(io::Error),
    /// It took longer than it may, or somebody stopped the run: it was ended with all that it had
    /// started.
    Ended(Box<Ended>),
}

/// What there is of a process that was ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// How long it might have taken, if that is why it was ended.
    pub limit: Option<Duration>,
    /// What it had written by then.
    pub stdout: CapturedOutput,
    /// What it had written by then.
    pub stderr: CapturedOutput,
    /// The processes that could not be killed.
    pub left: BTreeSet<i32>,
}

/// How long what was asked to end may take before it is killed, where nobody says more.
pub const GRACE: Duration = Duration::from_secs(2);

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            time: None,
            stdout: 50 * 1024 * 1024,
            stderr: 1024 * 1024,
            grace: GRACE,
            respite: Duration::ZERO,
            drain: Duration::from_secs(1),
        }
    }
}
