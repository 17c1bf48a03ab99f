//! Splay: delays the start on each device by a different time, so that not all devices are contacted at once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use tokio::time::timeout;

use crate::job::TargetJob;

/// The longest delay, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Splay(u32);

impl Splay {
    /// Creates a splay of at most this many seconds.
    pub fn within(seconds: u32) -> Self {
        Self(seconds)
    }

    /// Returns the delay of a device from the beginning of the run. It depends on the name alone, so it is the same in
    /// each run.
    fn moment(self, name: &str) -> Duration {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let seconds = hasher.finish() % u64::from(self.0.max(1));
        Duration::from_secs(seconds)
    }

    /// Waits for the delay of the job's target.
    ///
    /// # Errors
    /// Fails when the run is cancelled before.
    pub(super) async fn wait(self, job: &TargetJob<'_>) -> Result<(), Failure> {
        let moment = self.moment(&job.target.name);
        if moment.is_zero() {
            return Ok(());
        }
        let seconds = moment.as_secs();
        job.context().info(format!("starts in {seconds} s (splay)"));
        match timeout(moment, job.stop().reaches(Stage::Finish)).await {
            Ok(()) => Err(job.interrupted(false)),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_has_its_own_moment_and_keeps_it() {
        let splay = Splay::within(60);
        let moments: std::collections::HashSet<Duration> = (0..100)
            .map(|number| splay.moment(&format!("sw{number}")))
            .collect();
        assert!(moments.len() > 30 && moments.iter().all(|moment| moment.as_secs() < 60));
        assert_eq!(splay.moment("sw1"), splay.moment("sw1"));
        assert_eq!(Splay::within(0).moment("sw1"), Duration::ZERO);
    }
}
