//! What goes wrong on a device, and when.

/// What goes wrong with a line that the device receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The device refuses the line as a wrong one.
    Refuse,
    /// A check or a commit fails with a reason of several lines. Other lines work.
    FailCommit,
    /// The connection is lost, and the line has no effect.
    LoseBefore,
    /// The line takes effect, and the connection is lost before its answer.
    LoseAfter,
    /// The line takes effect, and the connection is lost within its answer.
    LoseWithin,
    /// The device does not answer, and the line has no effect.
    HangBefore,
    /// The line takes effect, and the device does not answer.
    HangAfter,
    /// The line takes effect, and the device stops within its answer.
    HangWithin,
    /// A message of the device for all terminals precedes the answer.
    Message,
    /// From then on, all logins are refused.
    RefuseLogins,
    /// The time to confirm a commit has passed before the line.
    Expire,
    /// Someone locks the configuration before the line, if it is not locked.
    Lock,
    /// Someone else changes and commits the configuration before the line, if it is not locked.
    ForeignCommit,
    /// Someone else changes the configuration with a commit that is not confirmed, if it is not locked.
    ForeignTrial,
    /// Someone else changes the shared candidate before the line, if it is not locked.
    ForeignEdit,
    /// The device restarts with what was committed and confirmed.
    RebootConfirmed,
    /// The device restarts with what is running; a commit still waits for its confirmation.
    RebootRunning,
}

impl Fault {
    /// All faults.
    pub(crate) const ALL: [Self; 17] = [
        Self::Refuse,
        Self::FailCommit,
        Self::LoseBefore,
        Self::LoseAfter,
        Self::LoseWithin,
        Self::HangBefore,
        Self::HangAfter,
        Self::HangWithin,
        Self::Message,
        Self::RefuseLogins,
        Self::Expire,
        Self::Lock,
        Self::ForeignCommit,
        Self::ForeignTrial,
        Self::ForeignEdit,
        Self::RebootConfirmed,
        Self::RebootRunning,
    ];
}

/// A fault at a step: at the line with this number of those that a device receives, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) step: usize,
    pub(crate) fault: Fault,
}
