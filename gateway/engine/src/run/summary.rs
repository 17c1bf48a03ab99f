//! How a run went.

use devgate_core::cancel::Reason;
use devgate_core::results::Status;

/// How a run went.
#[derive(Debug)]
pub struct RunSummary {
    /// On each target.
    pub statuses: Vec<(String, Status)>,
    /// Why it was to end before.
    pub reason: Option<Reason>,
}

impl RunSummary {
    /// Whether all was done, and well.
    pub fn is_well(&self) -> bool {
        let well = |(_, status): &(String, Status)| *status == Status::Success;
        self.reason.is_none() && self.statuses.iter().all(well)
    }
}
