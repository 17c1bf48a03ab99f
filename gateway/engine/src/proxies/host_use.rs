//! What the hosts of a run are for.

use std::time::Duration;

/// What the hosts of a run are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostUse {
    /// Running tasks, which may use sessions.
    Tasks {
        /// The longest time of a task on each target.
        limit: Option<Duration>,
    },
    /// Leading sessions on to devices.
    Sessions,
}
