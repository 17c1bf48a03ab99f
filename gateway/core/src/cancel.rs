//! Cancellation: how running work learns that it has to end, and why.
//!
//! A run has one [`CancelSource`]. All its work has a [`CancelToken`] and checks it.

use std::cell::Cell;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The grace period after the first request: how long running work may take to finish.
pub const GRACE: Duration = Duration::from_secs(10);

/// How long to wait for processes and sessions to end, and again after they were killed.
const ENDING: Duration = Duration::from_secs(5);

/// How often to check whether the token is still held.
const LOOK: Duration = Duration::from_millis(100);

const INTERRUPTED: &str = "interrupted";

/// The stage of cancellation. Each stage includes the previous ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The run goes on.
    #[default]
    Go,
    /// No new work starts. Running work may finish.
    Finish,
    /// Running work is terminated, and killed if it does not end.
    End,
    /// Running work is killed.
    Kill,
}

/// Why a run was cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A user with this name cancelled it.
    User(String),
    /// This process received a signal.
    Signal(Signal),
    /// The client of the run has disconnected.
    ClientGone,
    /// This process is shutting down.
    Shutdown,
    /// It exceeded its time limit: ``60 s (configuration `limits.time`)``.
    Deadline(String),
}

/// The stage of a run, and the reason.
#[derive(Clone, Debug, Default)]
struct Wish {
    stage: Stage,
    /// The first reason.
    reason: Option<Reason>,
}

/// Cancels a run.
///
/// Each request and the passing of time raise the stage. After the first request, running work may finish within the
/// grace period, or without a limit if it holds the token (a device is rolled back). The second request kills it. The
/// third one waits for nothing.
#[derive(Debug, Default)]
pub struct CancelSource {
    wish: watch::Sender<Wish>,
    /// Each receiver belongs to work that must not end by time alone.
    held: watch::Sender<()>,
    /// The number of requests, and the last reason.
    wished: watch::Sender<(u32, Option<Reason>)>,
    /// The time limit of the run, and its deadline.
    limit: Option<(Duration, Instant)>,
    course: Cell<Course>,
}

/// The progress of the cancellation.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    stage: Stage,
    /// When the next stage begins by itself.
    until: Option<Instant>,
    /// The number of handled requests.
    taken: u32,
}

/// Observes the cancellation of a run.
#[derive(Clone, Debug)]
pub struct CancelToken {
    wish: watch::Receiver<Wish>,
    held: watch::Sender<()>,
}

/// While it exists, time alone does not end running work: a device could stay half changed.
#[derive(Debug)]
pub struct Held {
    _counted: watch::Receiver<()>,
}

impl CancelSource {
    /// Creates the source for a run with this time limit.
    pub fn within(limit: Option<Duration>) -> Self {
        Self {
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            ..Self::default()
        }
    }

    /// Requests the end of the run: first gracefully, the second time at once; the third time without waiting.
    pub fn cancel(&self, reason: Reason) {
        self.wished.send_modify(|(count, last)| {
            *count += 1;
            *last = Some(reason);
        });
    }

    /// Waits for the next stage, and raises it. `None`: nothing is waited for any more.
    pub async fn next(&self) -> Option<Stage> {
        let wished = self.wished_or_due().await;
        let mut course = self.course.get();
        let (stage, wait) = match (course.stage, &wished) {
            (Stage::Go, _) => (Stage::Finish, GRACE),
            (Stage::Finish, None) => (Stage::End, ENDING),
            (Stage::Finish | Stage::End, _) => (Stage::Kill, ENDING),
            (Stage::Kill, _) => return None,
        };
        course.stage = stage;
        course.until = Some(Instant::now() + wait);
        self.course.set(course);
        self.raise(stage, wished);
        Some(stage)
    }

    /// Waits for a request, which has a reason, or until the next stage is due. A held token delays that stage.
    async fn wished_or_due(&self) -> Option<Reason> {
        let Course { stage, until, .. } = self.course.get();
        let Some(until) = until else {
            return Some(self.wish().await);
        };
        let mut wish = pin!(self.wish());
        let mut wished = timeout_at(until, &mut wish).await;
        while wished.is_err() && stage == Stage::Finish && self.is_held() {
            wished = timeout_at(Instant::now() + LOOK, &mut wish).await;
        }
        wished.ok()
    }

    /// Waits for a request that was not handled yet, or for the deadline.
    async fn wish(&self) -> Reason {
        let course = self.course.get();
        let mut wishes = self.wished.subscribe();
        let late = async {
            // The deadline does not hurry work that is ending already: a device may be rolled back.
            match self.limit.filter(|_| course.stage == Stage::Go) {
                Some((_, end)) => drop(timeout_at(end, pending::<()>()).await),
                None => pending().await,
            }
        };
        let wished = tokio::select! {
            wished = wishes.wait_for(|(count, _)| *count > course.taken) => {
                wished.ok().and_then(|wished| wished.1.clone())
            }
            () = late => None,
        };
        self.course.set(Course {
            taken: course.taken + u32::from(wished.is_some()),
            ..course
        });
        wished.unwrap_or_else(|| {
            let limit = self.limit.map_or(0, |(limit, _)| limit.as_secs());
            Reason::Deadline(format!("{limit} s"))
        })
    }

    /// The token for all work of the run.
    pub fn token(&self) -> CancelToken {
        CancelToken {
            wish: self.wish.subscribe(),
            held: self.held.clone(),
        }
    }

    /// Whether a token is held.
    pub fn is_held(&self) -> bool {
        self.held.receiver_count() > 0
    }

    /// Raises the stage, which never falls. The first reason counts.
    pub fn raise(&self, to: Stage, reason: Option<Reason>) {
        self.wish.send_if_modified(|wish| {
            let raised = to > wish.stage;
            if raised {
                wish.stage = to;
                wish.reason = wish.reason.take().or(reason);
            }
            raised
        });
    }
}

impl CancelToken {
    /// The current stage.
    pub fn stage(&self) -> Stage {
        self.wish.borrow().stage
    }

    /// Why the run was cancelled, if it was.
    pub fn reason(&self) -> Option<Reason> {
        self.wish.borrow().reason.clone()
    }

    /// The end of the run for messages: `interrupted`, or that it timed out.
    pub fn message(&self) -> String {
        let reason = self.reason();
        reason.map_or_else(|| INTERRUPTED.to_owned(), |reason| reason.to_string())
    }

    /// The end of work in the run, for messages: `was interrupted`, or that it timed out.
    pub fn message_for_part(&self) -> String {
        match self.reason() {
            Some(late @ Reason::Deadline(_)) => late.to_string(),
            Some(reason) => format!("was {reason}"),
            None => format!("was {INTERRUPTED}"),
        }
    }

    /// Holds the token: time alone does not end running work until the returned value is dropped.
    pub fn hold(&self) -> Held {
        Held {
            _counted: self.held.subscribe(),
        }
    }

    /// Waits until a stage is reached; forever if the source does not exist any more.
    pub async fn reaches(&self, stage: Stage) {
        let mut wishes = self.wish.clone();
        if wishes.wait_for(|wish| wish.stage >= stage).await.is_err() {
            pending().await
        }
    }
}

/// The end of the run: `interrupted`, `timed out after 60 s (configuration `limits.time`)`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(_) => f.write_str(INTERRUPTED),
            Self::User(name) => write!(f, "cancelled by {name}"),
            Self::ClientGone => write!(f, "{INTERRUPTED}, because its client has disconnected"),
            Self::Shutdown => write!(f, "{INTERRUPTED} by a shutdown"),
            Self::Deadline(limit) => write!(f, "timed out after {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stages_only_rise_and_are_waited_for() {
        let cancel_source = CancelSource::default();
        let stop = cancel_source.token();
        assert_eq!(stop.stage(), Stage::Go);
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move { stop.reaches(Stage::End).await }
        });
        cancel_source.raise(Stage::Finish, None);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        cancel_source.raise(Stage::Kill, None);
        waiting.await.expect("it was reached");
        cancel_source.raise(Stage::Finish, None);
        assert_eq!(stop.stage(), Stage::Kill);
    }

    #[test]
    fn the_first_reason_counts() {
        let cancel_source = CancelSource::default();
        let stop = cancel_source.token();
        assert_eq!(stop.reason(), None);
        let late = Reason::Deadline("1 s".to_owned());
        cancel_source.raise(Stage::Finish, Some(late.clone()));
        cancel_source.raise(Stage::Kill, Some(Reason::Signal(Signal::SIGINT)));
        assert_eq!(stop.reason(), Some(late));
    }

    #[tokio::test(start_paused = true)]
    async fn each_wish_and_time_itself_raise_the_stage() {
        let cancel_source = CancelSource::within(Some(Duration::from_secs(60)));
        let begun = Instant::now();
        // Its time first; then what ends in peace has its grace; then somebody is in a hurry.
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        assert_eq!(begun.elapsed(), Duration::from_secs(60));
        assert_eq!(cancel_source.next().await, Some(Stage::End));
        assert_eq!(begun.elapsed(), Duration::from_secs(60) + GRACE);
        cancel_source.cancel(Reason::User("ann".to_owned()));
        assert_eq!(cancel_source.next().await, Some(Stage::Kill));
        cancel_source.cancel(Reason::Shutdown);
        assert_eq!(cancel_source.next().await, None);
        assert_eq!(cancel_source.token().message(), "timed out after 60 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_does_not_hurry_who_is_to_end_already() {
        let cancel_source = CancelSource::within(Some(Duration::from_secs(5)));
        let held = cancel_source.token().hold();
        cancel_source.cancel(Reason::Signal(Signal::SIGINT));
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        let next = tokio::time::timeout(GRACE * 6, cancel_source.next()).await;
        assert!(next.is_err(), "a device is on its way back");
        drop(held);
        assert_eq!(cancel_source.next().await, Some(Stage::End));
        assert_eq!(cancel_source.token().message(), "interrupted");
    }

    #[tokio::test(start_paused = true)]
    async fn two_wishes_that_come_together_are_two() {
        let cancel_source = CancelSource::default();
        cancel_source.cancel(Reason::User("ann".to_owned()));
        cancel_source.cancel(Reason::ClientGone);
        let begun = Instant::now();
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        assert_eq!(cancel_source.next().await, Some(Stage::Kill));
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[test]
    fn a_reason_is_told_in_words() {
        for (reason, run, part) in [
            (
                Reason::Signal(Signal::SIGINT),
                "interrupted",
                "was interrupted",
            ),
            (
                Reason::User("ann".to_owned()),
                "cancelled by ann",
                "was cancelled by ann",
            ),
            (
                Reason::Deadline("5 s".to_owned()),
                "timed out after 5 s",
                "timed out after 5 s",
            ),
            (
                Reason::ClientGone,
                "interrupted, because its client has disconnected",
                "was interrupted, because its client has disconnected",
            ),
        ] {
            let cancel_source = CancelSource::default();
            cancel_source.raise(Stage::Finish, Some(reason));
            let stop = cancel_source.token();
            assert_eq!(
                (stop.message().as_str(), stop.message_for_part().as_str()),
                (run, part)
            );
        }
    }

    #[test]
    fn a_run_is_held_as_long_as_somebody_holds_it() {
        let cancel_source = CancelSource::default();
        let held = cancel_source.token().hold();
        let other = cancel_source.token().hold();
        drop(held);
        assert!(cancel_source.is_held());
        drop(other);
        assert!(!cancel_source.is_held());
    }

    #[tokio::test]
    async fn what_nobody_can_stop_is_never_stopped() {
        let stop = CancelSource::default().token();
        let waited = futures_util::FutureExt::now_or_never(stop.reaches(Stage::Finish));
        assert!(waited.is_none());
    }
}
