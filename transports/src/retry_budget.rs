//! Waiting for a target to recover: at most 30 seconds for one target in one run.
//!
//! A run makes one [`RetryBudget`] for each target. Whatever may be repeated asks it for
//! [`Attempts`] and loops:
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

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use backoff::ExponentialBackoff;
use backoff::backoff::Backoff;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::error::RetryBudgetSpent;
use crate::{Context, Error, Result};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// What remains for a target after others were waited for at the same place: enough for one try, should
/// it be the others' credentials that are not answered.
const LAST_TRY: Duration = Duration::from_secs(5);

/// What is left of the time that one run may wait for one target.
#[derive(Debug)]
pub struct RetryBudget {
    limit: Duration,
    left: Mutex<Duration>,
    /// How many logins in a row have come to nothing.
    lost_logins: AtomicU32,
    /// Whether the target has answered something.
    answered: AtomicBool,
    /// Whether nobody wants it to be tried again.
    given_up: watch::Sender<bool>,
}

/// The tries of one request.
pub struct Attempts<'a> {
    ctx: Context<'a>,
    retry_budget: &'a RetryBudget,
    what: String,
    tries: u32,
    last: Option<Box<Error>>,
    pauses: ExponentialBackoff,
    told: bool,
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
            answered: AtomicBool::new(false),
            given_up: watch::Sender::default(),
        }
    }

    /// As much patience as this one was at first.
    pub fn afresh(&self) -> Self {
        Self::at_most(self.limit)
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
    async fn is_given_up(&self) {
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

    /// The tries of one request; `what` completes the sentence "could not …".
    pub fn attempts<'a>(&'a self, ctx: &Context<'a>, what: impl Into<String>) -> Attempts<'a> {
        Attempts {
            ctx: *ctx,
            retry_budget: self,
            what: what.into(),
            tries: 0,
            last: None,
            pauses: pauses(),
            told: false,
        }
    }

    /// Tries until it goes well, as long as what goes wrong may pass and patience lasts.
    ///
    /// # Errors
    /// The try's own if it is permanent, otherwise [`Error::RetryBudgetSpent`].
    pub async fn persist<T, F: Future<Output = Result<T>>>(
        &self,
        ctx: &Context<'_>,
        what: impl Into<String>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T> {
        let mut attempts = self.attempts(ctx, what);
        loop {
            match attempts.within(attempt()).await {
                Ok(value) => return Ok(value),
                Err(error) => attempts.pause(error).await?,
            }
        }
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
    fn in_vain(&self) -> Option<u32> {
        let lost = self.lost_logins.load(Ordering::Relaxed);
        (lost >= Self::MOST_LOGINS).then_some(lost)
    }

    fn take(&self, used: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(used);
    }
}

impl Attempts<'_> {
    /// Makes one try, which ends when patience does.
    ///
    /// # Errors
    /// The try's own, or [`Error::RetryBudgetSpent`] when time ran out before or during it.
    pub async fn within<T>(&mut self, attempt: impl Future<Output = Result<T>>) -> Result<T> {
        let left = self.retry_budget.left();
        if left.is_zero() {
            return Err(self.spent());
        }
        let started = Instant::now();
        self.tries += 1;
        let result = timeout(left, attempt).await;
        match result {
            Ok(Ok(_)) => self.retry_budget.answered.store(true, Ordering::Relaxed),
            _ => self.retry_budget.take(started.elapsed()),
        }
        match result {
            Ok(result) => result,
            Err(_) => Err(self.spent()),
        }
    }

    /// Waits for the next try, if the error may pass; tells it at `notice`.
    ///
    /// # Errors
    /// The error itself if it is permanent, [`Error::RetryBudgetSpent`] if no time is left.
    pub async fn pause(&mut self, error: Error) -> Result<()> {
        self.pause_for(error, Duration::ZERO).await
    }

    /// The same, for a target that has said itself how long to wait at least.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    pub async fn pause_for(&mut self, error: Error, least: Duration) -> Result<()> {
        if !error.is_transient() {
            return Err(error);
        }
        let pause = self.pauses.next_backoff().unwrap_or(LONGEST_PAUSE);
        let pause = pause.max(least);
        let left = self.retry_budget.left();
        self.tries = self.tries.max(1);
        if pause >= left || *self.retry_budget.given_up.borrow() {
            self.last = Some(Box::new(error));
            return Err(self.spent());
        }
        // What changes stands first: it is seen on a narrow terminal, too.
        self.ctx.retry(format!(
            "try {} follows in {:.1} s, {:.0} s of patience are left: could not {}: {error}",
            self.tries + 1,
            pause.as_secs_f64(),
            left.as_secs_f64(),
            self.what,
        ));
        self.told = true;
        self.last = Some(Box::new(error));
        tokio::select! {
            () = wait(pause) => {}
            () = self.retry_budget.is_given_up() => return Err(self.spent()),
        }
        self.retry_budget.take(pause);
        Ok(())
    }

    /// What the last try ended with, for another error that follows from it.
    pub(crate) fn take_last_error(&mut self) -> Option<Box<Error>> {
        self.last.take()
    }

    /// Counts time that was lost outside of [`within`](Self::within).
    pub(crate) fn lost(&self, time: Duration) {
        self.retry_budget.take(time);
    }

    /// Ends the run's patience with this target, even if a little is left that is too short for
    /// another try.
    fn spent(&mut self) -> Error {
        let left = self.retry_budget.left();
        self.retry_budget.take(left);
        let last_error = self.last.take();
        let last = match &last_error {
            Some(error) => error.to_string(),
            None => "no answer".to_owned(),
        };
        Error::RetryBudgetSpent(Box::new(RetryBudgetSpent {
            what: self.what.clone(),
            tries: self.tries,
            waited: self.retry_budget.limit - left,
            logins: self.retry_budget.in_vain(),
            last,
            last_error,
        }))
    }
}

impl Drop for Attempts<'_> {
    fn drop(&mut self) {
        if self.told {
            self.ctx.settled();
        }
    }
}

/// Looks again and again for the end of work that a target does; `None` where it has none within
/// `limit`. Waiting for a target to recover is [`RetryBudget`]'s.
///
/// # Errors
/// The look's own.
pub(crate) async fn look<T, F: Future<Output = Result<Option<T>>>>(
    limit: Duration,
    mut look: impl FnMut() -> F,
) -> Result<Option<T>> {
    let deadline = Instant::now() + limit;
    let mut pauses = pauses();
    loop {
        match timeout_at(deadline, look()).await {
            Ok(Ok(None)) => {}
            Ok(seen) => return seen,
            Err(_) => return Ok(None),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let pause = pauses.next_backoff().unwrap_or(LONGEST_PAUSE);
        wait(pause.min(left)).await;
    }
}

fn pauses() -> ExponentialBackoff {
    ExponentialBackoff {
        current_interval: FIRST_PAUSE,
        initial_interval: FIRST_PAUSE,
        max_interval: LONGEST_PAUSE,
        max_elapsed_time: None,
        ..ExponentialBackoff::default()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the clock is waited for"
)]
pub(crate) async fn wait(pause: Duration) {
    sleep(pause).await;
}
