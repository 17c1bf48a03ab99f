//! When waiting for something to come is given up.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

/// A session's alarm clock.
///
/// The time of giving up is put off with everything that comes, mostly a few bytes. To set a timer for each
/// of them costs as much as to read them, so this one rings too early at times, and is then set anew.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// What comes of this, or `None` if it has not come by then.
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
