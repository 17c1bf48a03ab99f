//! The summary of a run.

use devgate_core::cancel::Reason;
use devgate_core::results::Status;

/// The summary of a run.
#[derive(Debug)]
pub struct RunSummary {
    /// The status of each target.
    pub statuses: Vec<(String, Status)>,
    /// Why the run was cancelled, if it was.
    pub reason: Option<Reason>,
}

impl RunSummary {
    /// Whether every target succeeded and the run was not cancelled.
    pub fn is_success(&self) -> bool {
        let succeeded = |(_, status): &(String, Status)| *status == Status::Success;
        self.reason.is_none() && self.statuses.iter().all(succeeded)
    }
}
