//! The number and the limits of a run.

use std::num::NonZeroUsize;
use std::time::Duration;

use devgate_schemas::Level;
use devgate_transports::RetryBudget;

/// The default number of targets that a run works on at once, as in Bolt.
pub const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(100).expect("it is not zero");

/// The number of a run, unique within its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunId(pub(crate) u64);

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// The number of targets that the run works on at once.
    pub concurrency: NonZeroUsize,
    /// How long the run keeps trying a target that does not answer.
    pub retry_budget: Duration,
    /// The lowest level of messages that are reported.
    pub min_level: Level,
    /// The number of events that are kept for subscribers that join later.
    pub kept_events: usize,
    /// The longest time that the run may take in all.
    pub deadline: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            concurrency: CONCURRENCY,
            retry_budget: RetryBudget::LIMIT,
            min_level: Level::Notice,
            kept_events: 0,
            deadline: None,
        }
    }
}
