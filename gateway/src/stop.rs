//! Being stopped: how whoever runs things learns that somebody wants them to end, and why.
//!
//! A run has one [`Stopper`]; everything that it does carries a [`Stop`] and asks it.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long what runs may take to come to its end after the first wish.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How long processes and sessions that were asked to end, and then killed, are waited for.
const ENDING: Duration = Duration::from_secs(5);

/// How often it is looked whether something is still not to be ended.
const LOOK: Duration = Duration::from_millis(100);

const INTERRUPTED: &str = "interrupted";

/// How urgently a run is to end; each stage includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
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
pub(crate) enum Reason {
    /// This process was sent a signal.
    Signal(Signal),
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

/// How the stages follow each other: with each wish, and with time.
///
/// The first wish lets what runs come to its end, but not for ever, unless something holds it (a device that is to be
/// brought back); the second kills it; at the third nobody waits any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Escalation {
    stage: Stage,
    /// When the next stage begins by itself.
    until: Option<Instant>,
}

/// Tells a run how urgently it is to end.
#[derive(Debug, Default)]
pub(crate) struct Stopper {
    wish: watch::Sender<Wish>,
    /// Each receiver is held by something that is not to be ended by time alone.
    held: watch::Sender<()>,
}

/// Hears how urgently a run is to end.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    wish: watch::Receiver<Wish>,
    held: watch::Sender<()>,
}

/// While there is one, time alone does not end what runs: a device would be left half changed.
#[derive(Debug)]
pub(crate) struct Held {
    _counted: watch::Receiver<()>,
}

impl Escalation {
    /// Waits for a wish, or until the next stage begins by itself; as long as something is held, it does not.
    pub(crate) async fn wish<T>(
        &self,
        wish: impl Future<Output = T>,
        is_held: impl Fn() -> bool,
    ) -> Option<T> {
        let Some(until) = self.until else {
            return Some(wish.await);
        };
        let mut wish = pin!(wish);
        let mut wished = timeout_at(until, &mut wish).await;
        while wished.is_err() && self.stage == Stage::Finish && is_held() {
            wished = timeout_at(Instant::now() + LOOK, &mut wish).await;
        }
        wished.ok()
    }

    /// The next stage, where somebody has wished it or its time has come; none is that nothing is waited for any more.
    pub(crate) fn next(&mut self, is_wished: bool) -> Option<Stage> {
        let (stage, wait) = match (self.stage, is_wished) {
            (Stage::Go, _) => (Stage::Finish, GRACE),
            (Stage::Finish, false) => (Stage::End, ENDING),
            (Stage::Finish | Stage::End, _) => (Stage::Kill, ENDING),
            (Stage::Kill, _) => return None,
        };
        self.stage = stage;
        self.until = Some(Instant::now() + wait);
        Some(stage)
    }
}

impl Stopper {
    /// What is to be carried by everything that the run does.
    pub(crate) fn stop(&self) -> Stop {
        Stop {
            wish: self.wish.subscribe(),
            held: self.held.clone(),
        }
    }

    /// Whether somebody holds it.
    pub(crate) fn is_held(&self) -> bool {
        self.held.receiver_count() > 0
    }

    /// Raises the stage; a run is never told to go on. The first reason counts.
    pub(crate) fn raise(&self, to: Stage, reason: Option<Reason>) {
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

impl Stop {
    /// The stage that is reached now.
    pub(crate) fn stage(&self) -> Stage {
        self.wish.borrow().stage
    }

    /// Why the run is to end, if it is.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.wish.borrow().reason.clone()
    }

    /// What became of the run, for messages: `interrupted`, or that it took too long.
    pub(crate) fn told(&self) -> String {
        let reason = self.reason();
        reason.map_or_else(|| INTERRUPTED.to_owned(), |reason| reason.to_string())
    }

    /// What became of something in it: `was interrupted`, or that it took too long.
    pub(crate) fn told_of_part(&self) -> String {
        match self.reason() {
            Some(late @ Reason::Deadline(_)) => late.to_string(),
            Some(Reason::Signal(_)) | None => format!("was {INTERRUPTED}"),
        }
    }

    /// From now on time alone does not end what runs, until what this gives is dropped.
    pub(crate) fn hold(&self) -> Held {
        Held {
            _counted: self.held.subscribe(),
        }
    }

    /// Waits until a stage is reached; for ever, where nobody can stop the run any more.
    pub(crate) async fn reaches(&self, stage: Stage) {
        let mut wishes = self.wish.clone();
        if wishes.wait_for(|wish| wish.stage >= stage).await.is_err() {
            std::future::pending().await
        }
    }
}

/// What became of the run: `interrupted`, `timed out after 60 s (configuration `limits.time`)`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(_) => f.write_str(INTERRUPTED),
            Self::Deadline(limit) => write!(f, "timed out after {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stages_only_rise_and_are_waited_for() {
        let stopper = Stopper::default();
        let stop = stopper.stop();
        assert_eq!(stop.stage(), Stage::Go);
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move { stop.reaches(Stage::End).await }
        });
        stopper.raise(Stage::Finish, None);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        stopper.raise(Stage::Kill, None);
        waiting.await.expect("it was reached");
        stopper.raise(Stage::Finish, None);
        assert_eq!(stop.stage(), Stage::Kill);
    }

    #[test]
    fn the_first_reason_counts() {
        let stopper = Stopper::default();
        let stop = stopper.stop();
        assert_eq!(stop.reason(), None);
        let late = Reason::Deadline("1 s".to_owned());
        stopper.raise(Stage::Finish, Some(late.clone()));
        stopper.raise(Stage::Kill, Some(Reason::Signal(Signal::SIGINT)));
        assert_eq!(stop.reason(), Some(late));
    }

    #[test]
    fn a_run_is_held_as_long_as_somebody_holds_it() {
        let stopper = Stopper::default();
        let held = stopper.stop().hold();
        let other = stopper.stop().hold();
        drop(held);
        assert!(stopper.is_held());
        drop(other);
        assert!(!stopper.is_held());
    }

    #[tokio::test]
    async fn what_nobody_can_stop_is_never_stopped() {
        let stop = Stopper::default().stop();
        let waited = futures_util::FutureExt::now_or_never(stop.reaches(Stage::Finish));
        assert!(waited.is_none());
    }
}
