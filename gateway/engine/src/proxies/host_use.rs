//! What the hosts of a run are for.

/// What the hosts of a run are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostUse {
    /// Running tasks, which may use sessions.
    Tasks,
    /// Leading sessions on to devices.
    Sessions,
}
