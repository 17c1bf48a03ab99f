//! Being stopped: how whoever runs things learns that somebody wants them to end, and why.
//!
//! A run has one [`CancelSource`]; everything that it does carries a [`CancelToken`] and asks it.

use std::cell::Cell;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long what runs may take to come to its end after the first wish.
pub const GRACE: Duration = Duration::from_secs(10);

/// How long processes and sessions that were asked to end, and then killed, are waited for.
const ENDING: Duration = Duration::from_secs(5);

/// How often it is looked whether something is still not to be ended.
const LOOK: Duration = Duration::from_millis(100);

const INTERRUPTED: &str = "interrupted";

/// How urgently a run is to end; each stage includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Nobody wants it to end.
    #[default]
    Go,
    /// Nothing new is begun; what runs may come to its end.
    Finish,
    /// What runs is asked to end, and killed when it does not.
    End,
    /// What runs is killed.
    Kill,
}

/// Why a run is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody of this name wants it to.
    User(String),
    /// This process was sent a signal.
    Signal(Signal),
    /// Whoever asked for it has gone, and wanted it only as long.
    ClientGone,
    /// This process is to end.
    Shutdown,
    /// It took longer than it may: ``60 s (configuration `limits.time`)``.
    Deadline(String),
}

/// How urgently a run is to end, and why.
#[derive(Clone, Debug, Default)]
struct Wish {
    stage: Stage,
    /// The first who wanted it to.
    reason: Option<Reason>,
}

/// Tells a run how urgently it is to end.
///
/// The stages follow each other with each wish, and with time. The first wish lets what runs come to its end, but not for
/// ever, unless something holds it (a device that is to be brought back); the second kills it; at the third nobody waits
/// any more.
#[derive(Debug, Default)]
pub struct CancelSource {
    wish: watch::Sender<Wish>,
    /// Each receiver is held by something that is not to be ended by time alone.
    held: watch::Sender<()>,
    /// How often somebody has wished that it end, and who last.
    wished: watch::Sender<(u32, Option<Reason>)>,
    /// How long it may take in all, and when that is over.
    limit: Option<(Duration, Instant)>,
    course: Cell<Course>,
}

/// How far stopping has come.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    stage: Stage,
    /// When the next stage begins by itself.
    until: Option<Instant>,
    /// How many wishes it has taken in.
    taken: u32,
}

/// Hears how urgently a run is to end.
#[derive(Clone, Debug)]
pub struct CancelToken {
    wish: watch::Receiver<Wish>,
    held: watch::Sender<()>,
}

/// While there is one, time alone does not end what runs: a device would be left half changed.
#[derive(Debug)]
pub struct Held {
    _counted: watch::Receiver<()>,
}

impl CancelSource {
    /// For a run that may take so long in all.
    pub fn within(limit: Option<Duration>) -> Self {
        Self {
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            ..Self::default()
        }
    }

    /// Wishes that it end: the first time in peace, the second at once; the third time nothing is waited for.
    pub fn cancel(&self, reason: Reason) {
        self.wished.send_modify(|(count, last)| {
            *count += 1;
            *last = Some(reason);
        });
    }

    /// Waits for the next stage, and raises it; none is that nothing is waited for any more.
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

    /// Waits for a wish, which has a reason, or until the next stage begins by itself; as long as something is held, it
    /// does not.
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

    /// Waits for a wish that was not taken in yet: somebody's, or that the time is over.
    async fn wish(&self) -> Reason {
        let course = self.course.get();
        let mut wishes = self.wished.subscribe();
        let late = async {
            // Whoever is to end already is not hurried by it: a device may be on its way back.
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

    /// What is to be carried by everything that the run does.
    pub fn stop(&self) -> CancelToken {
        CancelToken {
            wish: self.wish.subscribe(),
            held: self.held.clone(),
        }
    }

    /// Whether somebody holds it.
    pub fn is_held(&self) -> bool {
        self.held.receiver_count() > 0
    }

    /// Raises the stage; a run is never told to go on. The first reason counts.
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
    /// The stage that is reached now.
    pub fn stage(&self) -> Stage {
        self.wish.borrow().stage
    }

    /// Why the run is to end, if it is.
    pub fn reason(&self) -> Option<Reason> {
        self.wish.borrow().reason.clone()
    }

    /// What became of the run, for messages: `interrupted`, or that it took too long.
    pub fn told(&self) -> String {
        let reason = self.reason();
        reason.map_or_else(|| INTERRUPTED.to_owned(), |reason| reason.to_string())
    }

    /// What became of something in it: `was interrupted`, or that it took too long.
    pub fn told_of_part(&self) -> String {
        match self.reason() {
            Some(late @ Reason::Deadline(_)) => late.to_string(),
            Some(reason) => format!("was {reason}"),
            None => format!("was {INTERRUPTED}"),
        }
    }

    /// From now on time alone does not end what runs, until what this gives is dropped.
    pub fn hold(&self) -> Held {
        Held {
            _counted: self.held.subscribe(),
        }
    }

    /// Waits until a stage is reached; for ever, where nobody can stop the run any more.
    pub async fn reaches(&self, stage: Stage) {
        let mut wishes = self.wish.clone();
        if wishes.wait_for(|wish| wish.stage >= stage).await.is_err() {
            pending().await
        }
    }
}

/// What became of the run: `interrupted`, `timed out after 60 s (configuration `limits.time`)`.
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
        let stop = cancel_source.stop();
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
        let stop = cancel_source.stop();
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
        assert_eq!(cancel_source.stop().told(), "timed out after 60 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_does_not_hurry_who_is_to_end_already() {
        let cancel_source = CancelSource::within(Some(Duration::from_secs(5)));
        let held = cancel_source.stop().hold();
        cancel_source.cancel(Reason::Signal(Signal::SIGINT));
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        let next = tokio::time::timeout(GRACE * 6, cancel_source.next()).await;
        assert!(next.is_err(), "a device is on its way back");
        drop(held);
        assert_eq!(cancel_source.next().await, Some(Stage::End));
        assert_eq!(cancel_source.stop().told(), "interrupted");
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
            let stop = cancel_source.stop();
            assert_eq!(
                (stop.told().as_str(), stop.told_of_part().as_str()),
                (run, part)
            );
        }
    }

    #[test]
    fn a_run_is_held_as_long_as_somebody_holds_it() {
        let cancel_source = CancelSource::default();
        let held = cancel_source.stop().hold();
        let other = cancel_source.stop().hold();
        drop(held);
        assert!(cancel_source.is_held());
        drop(other);
        assert!(!cancel_source.is_held());
    }

    #[tokio::test]
    async fn what_nobody_can_stop_is_never_stopped() {
        let stop = CancelSource::default().stop();
        let waited = futures_util::FutureExt::now_or_never(stop.reaches(Stage::Finish));
        assert!(waited.is_none());
    }
}
