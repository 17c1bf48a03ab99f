//! How a command ends, and the exit code that says so.

use nix::sys::signal::Signal;

/// Whether everything that was asked for went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// All targets succeeded.
    Success,
    /// A target failed.
    Failure,
    /// Somebody stopped it, with this signal.
    Interrupted(Signal),
    /// With the exit code of the program that was run.
    Code(u8),
}

impl ExitStatus {
    /// The exit code that tells it.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Code(code) => code,
            // As shells tell of a process that a signal has ended.
            Self::Interrupted(signal) => 128 + signal as u8,
        }
    }
}
