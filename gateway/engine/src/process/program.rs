//! A program to start, its limits, and what remains of a process that was ended.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::time::Duration;

use devgate_schemas::Sensitive;
use devgate_schemas::task::CapturedOutput;

/// A program to start, without a shell.
pub struct Program {
    /// The file to execute, and its arguments. Never a secret, because everybody can read them.
    pub argv: Vec<OsString>,
    /// Variables in addition to those of this process.
    pub environment: Vec<(String, Sensitive<String>)>,
    /// The standard input, if there is any.
    pub stdin: Option<Sensitive<Vec<u8>>>,
}

/// How long a process may run and how much of its output is kept.
#[derive(Clone, Debug)]
pub struct ProcessLimits {
    /// The time from start to end; without it, there is no limit.
    pub time: Option<Duration>,
    /// Bytes of stdout that are kept. Further output is read and discarded.
    pub stdout: usize,
    /// Bytes of stderr that are kept.
    pub stderr: usize,
    /// How long the process has to end before it is killed.
    pub grace: Duration,
    /// How long the process has after a second request, when the run is to be killed. If zero, it is killed at once
    /// then.
    pub respite: Duration,
    /// How long output is awaited after the process has ended, because its children may keep the output open.
    pub drain: Duration,
}

/// Why a process did not run to its end.
#[derive(Debug)]
pub enum ProcessFailure {
    /// The operating system did not start the process, or does not know it any more.
    Start(io::Error),
    /// The process took too long, or the run was cancelled. It was ended with everything that it had started.
    Ended(Box<EndedProcess>),
}

/// What remains of a process that was ended.
#[derive(Debug, Default)]
pub struct EndedProcess {
    /// The time limit, if that is why the process was ended.
    pub limit: Option<Duration>,
    /// The stdout until then.
    pub stdout: CapturedOutput,
    /// The stderr until then.
    pub stderr: CapturedOutput,
    /// The processes that could not be killed.
    pub left: BTreeSet<i32>,
}

/// The default time that a process has to end before it is killed.
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
