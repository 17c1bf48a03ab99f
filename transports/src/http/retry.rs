//! Retries: when they are allowed, and how long a server may ask to wait.

use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use devgate_schemas::Value;
use reqwest::StatusCode;
use tokio::time::{Instant, timeout};

use super::client::Http;
use super::http_request::{HttpRequest, Repeat};
use super::http_response::HttpResponse;
use crate::error::Interruption;
use crate::{Context, Error, Result, RetryBudget};

/// The key in the details of a transient refusal with the number of seconds that the server asks to wait.
const RETRY_AFTER: &str = "retry_after";

impl Http {
    /// Retries until success, as long as retries are allowed and the retry budget lasts. Without a request,
    /// this is a login.
    pub(super) async fn retry<T, F: Future<Output = Result<T>>>(
        &self,
        ctx: &Context<'_>,
        http_request: Option<&HttpRequest>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T> {
        let what = match http_request {
            Some(http_request) => format!("ask `{}` of {}", http_request.shown(), self.peer()),
            None => format!("log in at {}", self.peer()),
        };
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        let (mut retried, mut may_have_changed) = (false, false);
        loop {
            // Fails if the retry budget is spent already.
            attempts.attempt(async { Ok(()) }).await?;
            let started = Instant::now();
            let error = match attempt().await {
                Err(error) => error,
                done => return done,
            };
            let (was_begun, wait) = begun_and_wait(&error);
            attempts.deduct(if retried || !was_begun {
                started.elapsed()
            } else {
                // The first wait for an answer may have been legitimate.
                unacknowledged_time(&error).min(started.elapsed())
            });
            let ended = Instant::now();
            let error = self.explain_closed(ctx, error).await;
            attempts.deduct(ended.elapsed());
            let never = was_begun
                && http_request.is_some_and(|http_request| http_request.repeat == Repeat::Never);
            if never || !error.is_transient() {
                return Err(error);
            }
            retried = true;
            may_have_changed |= was_begun && http_request.is_some_and(HttpRequest::changes_target);
            let mut exhausted = match attempts.pause_for(error, wait).await {
                Ok(()) => continue,
                Err(error) => error,
            };
            if let (Error::RetryBudgetSpent(spent), true) = (&mut exhausted, may_have_changed) {
                spent.last += "; whether it took effect is not known: check first";
            }
            return Err(exhausted);
        }
    }

    /// Returns the client, and its limit for connecting. The client waits for a silent server no longer than the
    /// retry budget lasts.
    pub(super) fn client(&self, retry_budget: &RetryBudget) -> Result<(Duration, reqwest::Client)> {
        let most = retry_budget.left().min(self.settings.max_silence());
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.0 != most {
            *client = (most, self.settings.client(most)?);
        }
        Ok((most.min(self.settings.timeout), client.1.clone()))
    }

    /// Replaces the error by a better one, if the server has never answered and a further connection shows why it
    /// closed this one. The server would refuse a retry, too, and nothing was begun.
    async fn explain_closed(&self, ctx: &Context<'_>, error: Error) -> Error {
        let is_open = match &error {
            // Only HTTP has such limits.
            Error::Interrupted(interrupted) => {
                !matches!(interrupted.why, Interruption::TooMuchOf(_))
            }
            Error::Closed { .. } | Error::Protocol { .. } => true,
            Error::Unreachable { cause, .. } => matches!(
                cause.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::Other
            ),
            _ => false,
        };
        if !is_open || self.answered.load(Ordering::Relaxed) {
            return error;
        }
        let problem = timeout(ctx.retry_budget().left(), self.settings.probe_problem(ctx)).await;
        problem.ok().flatten().unwrap_or(error)
    }
}

/// Returns how long sent data went unacknowledged. That was not a wait for an answer.
fn unacknowledged_time(error: &Error) -> Duration {
    match error {
        Error::Interrupted(interrupted) => match interrupted.why {
            Interruption::Unacknowledged(time) => time,
            _ => Duration::ZERO,
        },
        _ => Duration::ZERO,
    }
}

/// Returns whether the server has begun to process the failed request, and how long it asks to wait.
fn begun_and_wait(error: &Error) -> (bool, Duration) {
    match error {
        Error::Interrupted(_) => (true, Duration::ZERO),
        Error::Refused(refused) => {
            let details = refused.details.as_ref().and_then(Value::as_hash);
            let seconds = details.and_then(|details| details.get(RETRY_AFTER)?.as_integer());
            let seconds = u64::try_from(seconds.unwrap_or_default()).unwrap_or_default();
            let too_many = StatusCode::TOO_MANY_REQUESTS.to_string();
            (refused.status != too_many, Duration::from_secs(seconds))
        }
        _ => (false, Duration::ZERO),
    }
}

/// Returns the error for a busy server: transient, or permanent if it asks to wait longer than the retry budget.
pub(super) fn busy_error(retry_budget: &RetryBudget, busy: Error, answer: &HttpResponse) -> Error {
    let Error::Refused(mut refused) = busy else {
        return busy;
    };
    let (wait, left) = (
        answer.retry_after().unwrap_or_default(),
        retry_budget.left(),
    );
    if wait < left {
        refused.busy = true;
        if let Some(Value::Hash(details)) = &mut refused.details {
            let seconds = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
            details.insert(RETRY_AFTER, Value::from(seconds));
        }
    } else {
        refused.hint = format!(
            "it asks to wait {} s, and this run may wait {} s more for it: try later",
            wait.as_secs(),
            left.as_secs()
        );
    }
    Error::Refused(refused)
}
