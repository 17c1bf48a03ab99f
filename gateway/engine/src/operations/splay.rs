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
    pub fn at_most(seconds: u32) -> Self {
        Self(seconds)
    }

    /// Returns the delay of a device from the beginning of the run. It depends on the name alone, so it is the same in
    /// each run.
    fn delay(self, name: &str) -> Duration {
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
        let delay = self.delay(&job.target.name);
        if delay.is_zero() {
            return Ok(());
        }
        let seconds = delay.as_secs();
        job.context().info(format!("starts in {seconds} s (splay)"));
        match timeout(delay, job.stop().reaches(Stage::Finish)).await {
            Ok(()) => Err(job.interrupted(false)),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_has_a_delay_of_its_own_that_stays_the_same() {
        let splay = Splay::at_most(60);
        let delays: std::collections::HashSet<Duration> = (0..100)
            .map(|number| splay.delay(&format!("sw{number}")))
            .collect();
        assert!(delays.len() > 30 && delays.iter().all(|delay| delay.as_secs() < 60));
        assert_eq!(splay.delay("sw1"), splay.delay("sw1"));
        assert_eq!(Splay::at_most(0).delay("sw1"), Duration::ZERO);
    }
}
