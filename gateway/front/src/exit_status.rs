//! The exit status of a command, and its exit code.

use nix::sys::signal::Signal;

/// The result of a command as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// All targets succeeded.
    Success,
    /// A target failed.
    Failure,
    /// The command was interrupted by this signal.
    Interrupted(Signal),
    /// The exit code of the program that was run.
    Code(u8),
}

impl ExitStatus {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Code(code) => code,
            // As in shells, for a process that a signal has ended.
            Self::Interrupted(signal) => 128 + signal as u8,
        }
    }
}
