//! The tries of one request, within the retry budget of its run.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use backoff::ExponentialBackoff;
use backoff::backoff::Backoff;
use tokio::time::{Instant, timeout};

use crate::error::RetryBudgetSpent;
use crate::pauses::{MAX_PAUSE, pauses, wait};
use crate::{Context, Error, Result, RetryBudget};

/// The tries of one request. It counts them and pauses between them.
pub struct Attempts<'a> {
    ctx: Context<'a>,
    retry_budget: &'a RetryBudget,
    what: String,
    tries: u32,
    last: Option<Box<Error>>,
    pauses: ExponentialBackoff,
    reported: bool,
}

impl RetryBudget {
    /// Starts the tries of a request. `what` completes the sentence "could not …".
    pub fn attempts<'a>(&'a self, ctx: &Context<'a>, what: impl Into<String>) -> Attempts<'a> {
        Attempts {
            ctx: *ctx,
            retry_budget: self,
            what: what.into(),
            tries: 0,
            last: None,
            pauses: pauses(),
            reported: false,
        }
    }

    /// Tries until success, as long as the errors are transient and the retry budget lasts.
    ///
    /// # Errors
    /// Fails with the error of a try if that is permanent, otherwise with [`Error::RetryBudgetSpent`].
    pub async fn retry<T, F: Future<Output = Result<T>>>(
        &self,
        ctx: &Context<'_>,
        what: impl Into<String>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T> {
        let mut attempts = self.attempts(ctx, what);
        loop {
            match attempts.attempt(attempt()).await {
                Ok(value) => return Ok(value),
                Err(error) => attempts.pause(error).await?,
            }
        }
    }
}

impl Attempts<'_> {
    /// Makes one try, which the remaining retry budget limits.
    ///
    /// # Errors
    /// Fails with the error of the try, or with [`Error::RetryBudgetSpent`] when the time runs out before or during it.
    pub async fn attempt<T>(&mut self, attempt: impl Future<Output = Result<T>>) -> Result<T> {
        let left = self.retry_budget.left();
        if left.is_zero() {
            return Err(self.spent());
        }
        let started = Instant::now();
        self.tries += 1;
        let result = timeout(left, attempt).await;
        match result {
            Ok(Ok(_)) => self.retry_budget.answered.store(true, Ordering::Relaxed),
            _ => self.retry_budget.deduct(started.elapsed()),
        }
        match result {
            Ok(result) => result,
            Err(_) => Err(self.spent()),
        }
    }

    /// Waits for the next try if the error is transient, and logs that at `notice`.
    ///
    /// # Errors
    /// Fails with the error itself if it is permanent, or with [`Error::RetryBudgetSpent`] if no time is left.
    pub async fn pause(&mut self, error: Error) -> Result<()> {
        self.pause_for(error, Duration::ZERO).await
    }

    /// Does the same for a target that asked for a minimum wait.
    ///
    /// # Errors
    /// Fails as [`pause`](Self::pause) does.
    pub async fn pause_for(&mut self, error: Error, min_pause: Duration) -> Result<()> {
        if !error.is_transient() {
            return Err(error);
        }
        let pause = self.pauses.next_backoff().unwrap_or(MAX_PAUSE);
        let pause = pause.max(min_pause);
        let left = self.retry_budget.left();
        self.tries = self.tries.max(1);
        if pause >= left || *self.retry_budget.given_up.borrow() {
            self.last = Some(Box::new(error));
            return Err(self.spent());
        }
        // The changing part comes first, so that it is visible on a narrow terminal, too.
        self.ctx.retry(format!(
            "try {} follows in {:.1} s ({:.0} s left): could not {}: {error}",
            self.tries + 1,
            pause.as_secs_f64(),
            left.as_secs_f64(),
            self.what,
        ));
        self.reported = true;
        self.last = Some(Box::new(error));
        tokio::select! {
            () = wait(pause) => {}
            () = self.retry_budget.wait_until_given_up() => return Err(self.spent()),
        }
        self.retry_budget.deduct(pause);
        Ok(())
    }

    /// Takes the error of the last try, to add it to a subsequent error.
    pub(crate) fn take_last_error(&mut self) -> Option<Box<Error>> {
        self.last.take()
    }

    /// Deducts time that was lost outside of [`attempt`](Self::attempt).
    pub(crate) fn deduct(&self, time: Duration) {
        self.retry_budget.deduct(time);
    }

    /// Spends the rest of the retry budget, even if a little time is left that is too short for another
    /// try.
    fn spent(&mut self) -> Error {
        let left = self.retry_budget.left();
        self.retry_budget.deduct(left);
        let last_error = self.last.take();
        let last = match &last_error {
            Some(error) => error.to_string(),
            None => "no answer: check `host`, or wait longer with `--patience`".to_owned(),
        };
        Error::RetryBudgetSpent(Box::new(RetryBudgetSpent {
            what: self.what.clone(),
            tries: self.tries,
            waited: self.retry_budget.limit - left,
            logins: self.retry_budget.exhausted_logins(),
            last,
            last_error,
        }))
    }
}

impl Drop for Attempts<'_> {
    fn drop(&mut self) {
        if self.reported {
            self.ctx.settled();
        }
    }
}
