//! Pauses between polls.

use std::future::Future;
use std::time::Duration;

use backoff::ExponentialBackoff;
use backoff::backoff::Backoff;
use tokio::time::{Instant, sleep, timeout_at};

use crate::Result;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(3);

/// Polls until the work of a target has ended. Returns `None` if it does not end within `limit`. To wait for a
/// target to recover, use [`RetryBudget`] instead.
///
/// # Errors
/// Fails with the error of a poll.
pub(crate) async fn poll<T, F: Future<Output = Result<Option<T>>>>(
    limit: Duration,
    mut poll: impl FnMut() -> F,
) -> Result<Option<T>> {
    let deadline = Instant::now() + limit;
    let mut pauses = pauses();
    loop {
        match timeout_at(deadline, poll()).await {
            Ok(Ok(None)) => {}
            Ok(result) => return result,
            Err(_) => return Ok(None),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let pause = pauses.next_backoff().unwrap_or(MAX_PAUSE);
        wait(pause.min(left)).await;
    }
}

pub(crate) fn pauses() -> ExponentialBackoff {
    ExponentialBackoff {
        current_interval: FIRST_PAUSE,
        initial_interval: FIRST_PAUSE,
        max_interval: MAX_PAUSE,
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
