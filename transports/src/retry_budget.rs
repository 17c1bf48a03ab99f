//! Waiting for a target to recover: at most 30 seconds for one target in one run.
//!
//! A run makes one [`RetryBudget`] for each target. Whatever may be repeated asks it for
//! [`Attempts`](crate::Attempts) and loops:
//!
//! ```ignore
//! let mut attempts = ctx.patience().attempts(ctx, "connect to 192.0.2.1:22");
//! loop {
//!     match attempts.within(open()).await {
//!         Ok(session) => return Ok(session),
//!         Err(error) => attempts.pause(error).await?,
//!     }
//! }
//! ```
//!
//! An error is permanent unless [`Error::is_transient`] names it transient, and a permanent one
//! ends the loop at once. The time of tries that failed and of the pauses between them is taken
//! from the run's patience; when it is spent, nothing asks the target again in this run.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::{Error, Result};

/// What remains for a target after others were waited for at the same place: enough for one try, should
/// it be the others' credentials that are not answered.
const LAST_TRY: Duration = Duration::from_secs(5);

/// What is left of the time that one run may wait for one target.
#[derive(Debug)]
pub struct RetryBudget {
    pub(crate) limit: Duration,
    left: Mutex<Duration>,
    /// How many logins in a row have come to nothing.
    lost_logins: AtomicU32,
    /// Whether the target has answered something.
    pub(crate) answered: Arc<AtomicBool>,
    /// Whether nobody wants it to be tried again.
    pub(crate) given_up: Arc<watch::Sender<bool>>,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryBudget {
    /// How long one run waits for one target to recover, in all.
    pub const LIMIT: Duration = Duration::from_secs(30);

    /// How often one run logs in to a target that ends the connection before it has answered anything:
    /// more could lock an account, or fill a device's log, and would most likely end alike.
    pub const MOST_LOGINS: u32 = 3;

    /// The full patience of a new run: [`LIMIT`](Self::LIMIT).
    pub fn new() -> Self {
        Self::at_most(Self::LIMIT)
    }

    /// A shorter patience; what is longer than [`LIMIT`](Self::LIMIT) counts as that.
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

    /// A budget of the same size for another request to the target: whoever gives up one gives up both.
    pub fn afresh(&self) -> Self {
        Self {
            answered: Arc::clone(&self.answered),
            given_up: Arc::clone(&self.given_up),
            ..Self::at_most(self.limit)
        }
    }

    /// Whether the target has answered something in this run.
    pub fn was_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Nobody wants the target to be tried again: pauses end at once, with the last error.
    pub fn give_up(&self) {
        self.given_up.send_replace(true);
    }

    /// Waits until somebody [gives up](Self::give_up).
    pub(crate) async fn is_given_up(&self) {
        // The sender is our own.
        let _ = self
            .given_up
            .subscribe()
            .wait_for(|given_up| *given_up)
            .await;
    }

    /// Whether the run must not ask this target again.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero()
    }

    /// How long this run may still wait.
    pub fn left(&self) -> Duration {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes time that passed while others waited for the same device in vain, but for a last try.
    pub fn share(&self, waited: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(waited).max(LAST_TRY.min(*left));
    }

    /// Notes a login that came to nothing: the connection ended when credentials had been sent and before
    /// anything was answered. After [`MOST_LOGINS`](Self::MOST_LOGINS) of these in a row patience is spent.
    pub(crate) fn login_lost(&self) {
        if self.lost_logins.fetch_add(1, Ordering::Relaxed) + 1 >= Self::MOST_LOGINS {
            self.take(self.left());
        }
    }

    /// Notes what became of a request: whether the login before it was good for anything.
    pub(crate) fn note<T>(&self, result: &Result<T>) {
        let error = match result {
            Err(Error::Configuration(problem)) => problem.interrupted.as_deref(),
            result => result.as_ref().err(),
        };
        match error {
            Some(Error::Interrupted(interrupted)) if interrupted.why.is_lost() => self.login_lost(),
            Some(Error::Interrupted(_) | Error::RetryBudgetSpent(_)) => {}
            // A refusal is an answer as well.
            _ => self.lost_logins.store(0, Ordering::Relaxed),
        }
    }

    /// How many logins have come to nothing, where that is why the target is not asked again.
    pub(crate) fn in_vain(&self) -> Option<u32> {
        let lost = self.lost_logins.load(Ordering::Relaxed);
        (lost >= Self::MOST_LOGINS).then_some(lost)
    }

    pub(crate) fn take(&self, used: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(used);
    }
}
