//! The number of a run, and how much it may take.

use std::num::NonZeroUsize;
use std::time::Duration;

use devgate_schemas::Level;
use devgate_transports::RetryBudget;

/// How many targets a run works on at once when nobody says, as in Bolt.
pub const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(100).expect("it is not zero");

/// A run's number, within its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunId(pub(crate) u64);

/// How much a run may take.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// How many targets it works on at once.
    pub concurrency: NonZeroUsize,
    /// How long each target is waited for that does not answer.
    pub retry_budget: Duration,
    /// Messages below this level are not told.
    pub least: Level,
    /// How many events are kept for those who come later.
    pub kept: usize,
    /// How long it may take in all.
    pub deadline: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            concurrency: CONCURRENCY,
            retry_budget: RetryBudget::LIMIT,
            least: Level::Notice,
            kept: 0,
            deadline: None,
        }
    }
}
