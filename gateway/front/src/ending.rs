//! How a command ends, and the exit code that says so.

use nix::sys::signal::Signal;

/// Whether everything that was asked for went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All targets succeeded.
    Well,
    /// A target failed.
    Badly,
    /// Somebody stopped it, with this signal.
    Interrupted(Signal),
    /// With the exit code of the program that was run.
    Of(u8),
}

impl Ending {
    /// The exit code that tells it.
    pub fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Badly => 1,
            Self::Of(code) => code,
            // As shells tell of a process that a signal has ended.
            Self::Interrupted(signal) => 128 + signal as u8,
        }
    }
}
