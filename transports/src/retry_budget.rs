//! The time a run may spend on retries: at most 30 seconds for each target.
//!
//! A run creates one [`RetryBudget`] for each target. Code that may repeat a request gets
//! [`Attempts`](crate::Attempts) from it and loops:
//!
//! ```ignore
//! let mut attempts = ctx.retry_budget().attempts(ctx, "connect to 192.0.2.1:22");
//! loop {
//!     match attempts.within(open()).await {
//!         Ok(session) => return Ok(session),
//!         Err(error) => attempts.pause(error).await?,
//!     }
//! }
//! ```
//!
//! An error is permanent unless [`Error::is_transient`] says otherwise, and a permanent error ends
//! the loop at once. The duration of failed tries and of the pauses between them is deducted from
//! the retry budget. When the budget is spent, the run does not contact the target again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::{Error, Result};

/// What [`RetryBudget::share`] always leaves: enough for one try, because the earlier waits may have failed only
/// for the credentials of another target on the same device.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);

/// The remaining time that one run may spend waiting for one target.
#[derive(Debug)]
pub struct RetryBudget {
    pub(crate) limit: Duration,
    left: Mutex<Duration>,
    /// The number of consecutive logins that were lost.
    lost_logins: AtomicU32,
    /// Whether the target has answered a request.
    pub(crate) answered: Arc<AtomicBool>,
    /// Whether retries have been given up.
    pub(crate) given_up: Arc<watch::Sender<bool>>,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryBudget {
    /// The longest time that one run waits for one target to recover, in total.
    pub const LIMIT: Duration = Duration::from_secs(30);

    /// The number of times one run logs in to a target that ends the connection before it answers anything.
    /// More logins could lock an account or fill a device's log, and would most likely end the same way.
    pub const MAX_LOST_LOGINS: u32 = 3;

    /// Creates the full budget of a new run: [`LIMIT`](Self::LIMIT).
    pub fn new() -> Self {
        Self::at_most(Self::LIMIT)
    }

    /// Creates a smaller budget. Longer limits are capped at [`LIMIT`](Self::LIMIT).
    pub fn at_most(limit: Duration) -> Self {
        let limit = limit.min(Self::LIMIT);
        Self {
            limit,
            left: Mutex::new(limit),
            lost_logins: AtomicU32::new(0),
            answered: Arc::default(),
            given_up: Arc::default(),
        }
    }

    /// Returns a new budget with this budget's initial limit. Giving up one of the two gives up both.
    pub fn renewed(&self) -> Self {
        Self {
            answered: Arc::clone(&self.answered),
            given_up: Arc::clone(&self.given_up),
            ..Self::at_most(self.limit)
        }
    }

    /// Returns whether the target has answered a request in this run.
    pub fn was_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Gives up all retries: pauses end at once, with the last error.
    pub fn give_up(&self) {
        self.given_up.send_replace(true);
    }

    /// Waits until retries are [given up](Self::give_up).
    pub(crate) async fn wait_until_given_up(&self) {
        // This cannot fail: `self` owns the sender.
        let _ = self
            .given_up
            .subscribe()
            .wait_for(|given_up| *given_up)
            .await;
    }

    /// Returns whether the budget is spent, so that the run must not contact this target again.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero()
    }

    /// Returns how long this run may still wait.
    pub fn left(&self) -> Duration {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deducts the time that others waited for the same device without success, but leaves enough for one last try.
    pub fn share(&self, waited: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(waited).max(LAST_ATTEMPT.min(*left));
    }

    /// Records a lost login: the connection ended after credentials were sent and before any answer.
    /// After [`MAX_LOST_LOGINS`](Self::MAX_LOST_LOGINS) consecutive lost logins, the budget is spent.
    pub(crate) fn record_lost_login(&self) {
        if self.lost_logins.fetch_add(1, Ordering::Relaxed) + 1 >= Self::MAX_LOST_LOGINS {
            self.deduct(self.left());
        }
    }

    /// Records the result of a request. It shows whether the preceding login was lost.
    pub(crate) fn record_result<T>(&self, result: &Result<T>) {
        let error = match result {
            Err(Error::Configuration(problem)) => problem.interrupted.as_deref(),
            result => result.as_ref().err(),
        };
        match error {
            Some(Error::Interrupted(interrupted)) if interrupted.why.is_lost() => {
                self.record_lost_login()
            }
            Some(Error::Interrupted(_) | Error::RetryBudgetSpent(_)) => {}
            // A refusal is an answer, too.
            _ => self.lost_logins.store(0, Ordering::Relaxed),
        }
    }

    /// Returns the number of lost logins if they are the reason why the target is not contacted again.
    pub(crate) fn exhausted_logins(&self) -> Option<u32> {
        let lost = self.lost_logins.load(Ordering::Relaxed);
        (lost >= Self::MAX_LOST_LOGINS).then_some(lost)
    }

    pub(crate) fn deduct(&self, used: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(used);
    }
}
