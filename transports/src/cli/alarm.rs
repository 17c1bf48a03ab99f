//! The timer for giving up waiting.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

/// A session's timer.
///
/// Each arrival of data, mostly a few bytes, postpones the deadline. Resetting a timer each time would cost as much
/// as reading the data, so this timer sometimes fires too early and is reset only then.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Returns the output of `coming`, or `None` if it is not ready by then.
    pub(super) async fn before<T>(
        &mut self,
        until: Instant,
        coming: impl Future<Output = T>,
    ) -> Option<T> {
        let mut coming = pin!(coming);
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(until)));
        poll_fn(|cx| {
            if let Poll::Ready(came) = coming.as_mut().poll(cx) {
                return Poll::Ready(Some(came));
            }
            if sleep.deadline() > until {
                sleep.as_mut().reset(until);
            }
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() < until {
                sleep.as_mut().reset(until);
                ready!(sleep.as_mut().poll(cx));
            }
            Poll::Ready(None)
        })
        .await
    }
}
