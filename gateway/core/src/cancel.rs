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
const HOLD_CHECK: Duration = Duration::from_millis(100);

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
struct CancelState {
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
    state: watch::Sender<CancelState>,
    /// Each receiver belongs to work that must not end by time alone.
    holds: watch::Sender<()>,
    /// The number of requests, and the last reason.
    requests: watch::Sender<(u32, Option<Reason>)>,
    /// The time limit of the run, and its deadline.
    limit: Option<(Duration, Instant)>,
    progress: Cell<Progress>,
}

/// The progress of the cancellation.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    stage: Stage,
    /// When the next stage begins by itself.
    until: Option<Instant>,
    /// The number of handled requests.
    handled: u32,
}

/// Observes the cancellation of a run.
#[derive(Clone, Debug)]
pub struct CancelToken {
    state: watch::Receiver<CancelState>,
    holds: watch::Sender<()>,
}

/// While it exists, time alone does not end running work: a device could stay half changed.
#[derive(Debug)]
pub struct CancelHold {
    _counted: watch::Receiver<()>,
}

impl CancelSource {
    /// Creates the source for a run with this time limit.
    pub fn with_limit(limit: Option<Duration>) -> Self {
        Self {
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            ..Self::default()
        }
    }

    /// Requests the end of the run: first gracefully, the second time at once; the third time without waiting.
    pub fn cancel(&self, reason: Reason) {
        self.requests.send_modify(|(count, last)| {
            *count += 1;
            *last = Some(reason);
        });
    }

    /// Waits for the next stage, and raises it. `None`: nothing is waited for any more.
    pub async fn next(&self) -> Option<Stage> {
        let request = self.request_or_due().await;
        let mut progress = self.progress.get();
        let (stage, wait) = match (progress.stage, &request) {
            (Stage::Go, _) => (Stage::Finish, GRACE),
            (Stage::Finish, None) => (Stage::End, ENDING),
            (Stage::Finish | Stage::End, _) => (Stage::Kill, ENDING),
            (Stage::Kill, _) => return None,
        };
        progress.stage = stage;
        progress.until = Some(Instant::now() + wait);
        self.progress.set(progress);
        self.raise(stage, request);
        Some(stage)
    }

    /// Waits for a request, which has a reason, or until the next stage is due. A held token delays that stage.
    async fn request_or_due(&self) -> Option<Reason> {
        let Progress { stage, until, .. } = self.progress.get();
        let Some(until) = until else {
            return Some(self.next_request().await);
        };
        let mut next = pin!(self.next_request());
        let mut request = timeout_at(until, &mut next).await;
        while request.is_err() && stage == Stage::Finish && self.is_held() {
            request = timeout_at(Instant::now() + HOLD_CHECK, &mut next).await;
        }
        request.ok()
    }

    /// Waits for a request that was not handled yet, or for the deadline.
    async fn next_request(&self) -> Reason {
        let progress = self.progress.get();
        let mut requests = self.requests.subscribe();
        let deadline_passed = async {
            // The deadline does not hurry work that is ending already: a device may be rolled back.
            match self.limit.filter(|_| progress.stage == Stage::Go) {
                Some((_, end)) => drop(timeout_at(end, pending::<()>()).await),
                None => pending().await,
            }
        };
        let request = tokio::select! {
            request = requests.wait_for(|(count, _)| *count > progress.handled) => {
                request.ok().and_then(|request| request.1.clone())
            }
            () = deadline_passed => None,
        };
        self.progress.set(Progress {
            handled: progress.handled + u32::from(request.is_some()),
            ..progress
        });
        request.unwrap_or_else(|| {
            let limit = self.limit.map_or(0, |(limit, _)| limit.as_secs());
            Reason::Deadline(format!("{limit} s"))
        })
    }

    /// The token for all work of the run.
    pub fn token(&self) -> CancelToken {
        CancelToken {
            state: self.state.subscribe(),
            holds: self.holds.clone(),
        }
    }

    /// Whether a token is held.
    pub fn is_held(&self) -> bool {
        self.holds.receiver_count() > 0
    }

    /// Raises the stage, which never falls. The first reason counts.
    pub fn raise(&self, to: Stage, reason: Option<Reason>) {
        self.state.send_if_modified(|state| {
            let raised = to > state.stage;
            if raised {
                state.stage = to;
                state.reason = state.reason.take().or(reason);
            }
            raised
        });
    }
}

impl CancelToken {
    /// The current stage.
    pub fn stage(&self) -> Stage {
        self.state.borrow().stage
    }

    /// Why the run was cancelled, if it was.
    pub fn reason(&self) -> Option<Reason> {
        self.state.borrow().reason.clone()
    }

    /// The end of the run for messages: `interrupted`, or that it timed out.
    pub fn message(&self) -> String {
        let reason = self.reason();
        reason.map_or_else(|| INTERRUPTED.to_owned(), |reason| reason.to_string())
    }

    /// The end of work in the run, for messages: `was interrupted`, or that it timed out.
    pub fn message_for_part(&self) -> String {
        match self.reason() {
            Some(deadline_passed @ Reason::Deadline(_)) => deadline_passed.to_string(),
            Some(reason) => format!("was {reason}"),
            None => format!("was {INTERRUPTED}"),
        }
    }

    /// Holds the token: time alone does not end running work until the returned value is dropped.
    pub fn hold(&self) -> CancelHold {
        CancelHold {
            _counted: self.holds.subscribe(),
        }
    }

    /// Waits until a stage is reached; forever if the source does not exist any more.
    pub async fn reaches(&self, stage: Stage) {
        let mut requests = self.state.clone();
        if requests
            .wait_for(|state| state.stage >= stage)
            .await
            .is_err()
        {
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
        let deadline_passed = Reason::Deadline("1 s".to_owned());
        cancel_source.raise(Stage::Finish, Some(deadline_passed.clone()));
        cancel_source.raise(Stage::Kill, Some(Reason::Signal(Signal::SIGINT)));
        assert_eq!(stop.reason(), Some(deadline_passed));
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_and_time_itself_raise_the_stage() {
        let cancel_source = CancelSource::with_limit(Some(Duration::from_secs(60)));
        let begun = Instant::now();
        // First the deadline, then the end of the grace period, then a request.
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
    async fn a_deadline_does_not_hurry_work_that_is_ending() {
        let cancel_source = CancelSource::with_limit(Some(Duration::from_secs(5)));
        let holds = cancel_source.token().hold();
        cancel_source.cancel(Reason::Signal(Signal::SIGINT));
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        let next = tokio::time::timeout(GRACE * 6, cancel_source.next()).await;
        assert!(next.is_err(), "a device is on its way back");
        drop(holds);
        assert_eq!(cancel_source.next().await, Some(Stage::End));
        assert_eq!(cancel_source.token().message(), "interrupted");
    }

    #[tokio::test(start_paused = true)]
    async fn two_simultaneous_requests_count_as_two() {
        let cancel_source = CancelSource::default();
        cancel_source.cancel(Reason::User("ann".to_owned()));
        cancel_source.cancel(Reason::ClientGone);
        let begun = Instant::now();
        assert_eq!(cancel_source.next().await, Some(Stage::Finish));
        assert_eq!(cancel_source.next().await, Some(Stage::Kill));
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[test]
    fn reasons_are_formatted_for_messages() {
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
    fn a_token_is_held_until_the_last_hold_is_dropped() {
        let cancel_source = CancelSource::default();
        let holds = cancel_source.token().hold();
        let other = cancel_source.token().hold();
        drop(holds);
        assert!(cancel_source.is_held());
        drop(other);
        assert!(!cancel_source.is_held());
    }

    #[tokio::test]
    async fn without_a_source_no_stage_is_reached() {
        let stop = CancelSource::default().token();
        let waited = futures_util::FutureExt::now_or_never(stop.reaches(Stage::Finish));
        assert!(waited.is_none());
    }
}
