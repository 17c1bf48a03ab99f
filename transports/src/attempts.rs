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
use crate::pauses::{LONGEST_PAUSE, pauses, wait};
use crate::{Context, Error, Result, RetryBudget};

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

impl RetryBudget {
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
