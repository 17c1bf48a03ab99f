//! The events of a run: numbered, without secrets, and kept for later followers.
//!
//! The secrets of all targets are masked in everything that leaves a run: messages and task output here, results in
//! [`Redactor::masked`](crate::redactor::Redactor::masked). A lossless follower slows the run down: no target starts
//! while it is far behind. Other followers learn how many events they have missed.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex};

use devgate_schemas::{self as schemas, Level, Mask};
use tokio::sync::Notify;

use crate::cancel::{Reason, Stage};
use crate::lock::locked;
use crate::redactor::Sink;
use crate::results::{Action, TargetResult};

/// How many events a lossless follower may be behind before no new target starts.
const MAX_BACKLOG: u64 = 256;

/// The minimum number of events to keep until there is a follower.
const MIN_KEPT: usize = 256;

/// An event of a run.
#[derive(Debug)]
pub enum Event {
    /// The work on targets begins.
    Begun {
        /// The action on them.
        action: Action,
        /// How many there are.
        targets: usize,
    },
    /// The work on one target begins.
    Started {
        /// Its name.
        target: String,
    },
    /// A message about a target, or about none.
    Message(schemas::Event),
    /// The retries for a target have ended.
    RetriesEnded {
        /// Its name.
        target: String,
    },
    /// A task has written a line, including its line end.
    Output {
        /// The output, after the name of the target.
        line: String,
    },
    /// A target is done.
    Finished {
        /// Its name.
        target: String,
        /// The result.
        result: Box<TargetResult>,
        /// How many targets are running now.
        running: usize,
        /// How many have failed so far.
        failed: usize,
    },
    /// The run was cancelled, or its stage was raised.
    Stopping {
        /// The stage.
        stage: Stage,
        /// The end of the run: `interrupted`.
        message: String,
        /// How many targets are running.
        running: usize,
        /// Whether time alone does not end running work.
        is_held: bool,
    },
    /// The work on targets has ended.
    Ended {
        /// Why it was interrupted, if it was.
        reason: Option<Reason>,
    },
}

/// The events of one run, from the first on.
#[derive(Debug)]
pub struct Events {
    /// Events below this level are dropped.
    min_level: Level,
    /// How many events to keep after all followers have read them.
    kept_events: usize,
    /// The secrets of all targets, and those learnt from current targets.
    mask: Mutex<Mask>,
    log: Mutex<Log>,
    changed: Notify,
    /// The sink for events that belong to no run.
    outer: Option<Arc<dyn Sink>>,
}

tokio::task_local! {
    /// The current run. Log messages of libraries belong to it.
    pub static RUN: Arc<Events>;
}

#[derive(Debug, Default)]
struct Log {
    /// The number of the first kept event.
    first: u64,
    events: VecDeque<Arc<Event>>,
    is_closed: bool,
    /// The number of the next event of each lossless follower.
    lossless_positions: HashMap<u64, u64>,
    followers: u64,
}

/// A follower of the events of a run.
#[derive(Debug)]
pub struct Follower {
    events: Arc<Events>,
    next: u64,
    /// Its number in [`Log::lossless_positions`], if it is lossless.
    lossless_id: Option<u64>,
}

/// What a follower receives.
#[derive(Clone, Debug)]
pub enum Received {
    /// An event, and its number.
    Event(u64, Arc<Event>),
    /// The follower has missed this number of events.
    Missed(u64),
}

impl Events {
    /// The events of a new run, of this level and above. `kept_events` of them stay after all followers have read them.
    pub fn new(min_level: Level, kept_events: usize, outer: Option<Arc<dyn Sink>>) -> Arc<Self> {
        Arc::new(Self {
            min_level,
            kept_events,
            mask: Mutex::default(),
            log: Mutex::default(),
            changed: Notify::new(),
            outer,
        })
    }

    /// Records an event. Nothing is masked here: the caller has removed all secrets from it, as [`accept`](Sink::accept)
    /// and [`record_output`](Self::record_output) do.
    pub fn record(&self, event: Event) {
        let mut log = locked(&self.log);
        log.events.push_back(Arc::new(event));
        log.prune(self.kept_events);
        drop(log);
        self.changed.notify_waiters();
    }

    /// Records a line of task output, with the secrets of all current targets masked.
    pub fn record_output(&self, line: &str) {
        let line = locked(&self.mask).text(line).into_owned();
        self.record(Event::Output { line });
    }

    /// Ends the events.
    pub fn close(&self) {
        locked(&self.log).is_closed = true;
        self.changed.notify_waiters();
    }

    /// Waits until no lossless follower is far behind.
    pub async fn wait_for_followers(&self) {
        self.until(|log| {
            let slowest = log.lossless_positions.values().min();
            let is_far = slowest.is_some_and(|next| log.end().saturating_sub(*next) > MAX_BACKLOG);
            (!is_far).then_some(())
        })
        .await;
    }

    /// A lossless follower from this number on: the run waits for it. Older events may be missing.
    pub fn follow(self: &Arc<Self>, from: u64) -> Follower {
        let mut log = locked(&self.log);
        let lossless_id = log.followers;
        log.followers += 1;
        let next = from.clamp(log.first, log.end());
        log.lossless_positions.insert(lossless_id, next);
        drop(log);
        Follower {
            events: Arc::clone(self),
            next: from.min(next),
            lossless_id: Some(lossless_id),
        }
    }

    /// A follower for which the run does not wait. It learns how many events it has missed.
    pub fn watch(self: &Arc<Self>, from: u64) -> Follower {
        let next = from.min(locked(&self.log).end());
        Follower {
            events: Arc::clone(self),
            next,
            lossless_id: None,
        }
    }

    /// Waits until `poll` returns a value.
    async fn until<T>(&self, mut poll: impl FnMut(&mut Log) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on, no change is missed.
            changed.as_mut().enable();
            if let Some(found) = poll(&mut locked(&self.log)) {
                return found;
            }
            changed.await;
        }
    }
}

/// A sink that drops everything.
pub fn silence() -> Arc<dyn Sink> {
    Events::new(Level::Err, 0, None)
}

impl Sink for Events {
    fn is_enabled(&self, level: Level) -> bool {
        level >= self.min_level
    }

    fn accept(&self, event: schemas::Event) {
        let mask = locked(&self.mask);
        let message = mask.text(&event.message).into_owned();
        let subject = event
            .subject
            .map(|subject| mask.text(&subject).into_owned());
        drop(mask);
        self.record(Event::Message(schemas::Event {
            message,
            subject,
            ..event
        }));
    }

    fn retries_ended(&self, target: &str) {
        self.record(Event::RetriesEnded {
            target: target.to_owned(),
        });
    }

    fn mask(&self) -> &Mutex<Mask> {
        &self.mask
    }

    fn outer(&self) -> Option<&dyn Sink> {
        self.outer.as_deref()
    }
}

impl Log {
    /// The number of the next event.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// Drops events that no follower needs and that are not kept.
    fn prune(&mut self, kept_events: usize) {
        let first_needed = self.lossless_positions.values().min().copied();
        let kept_events = if self.followers == 0 {
            kept_events.max(MIN_KEPT)
        } else {
            kept_events
        };
        while self.events.len() > kept_events
            && first_needed.is_none_or(|first_needed| self.first < first_needed)
        {
            self.events.pop_front();
            self.first += 1;
        }
    }
}

impl Follower {
    /// Waits for the next event; `None` when there are no more.
    pub async fn next(&mut self) -> Option<Received> {
        let events = Arc::clone(&self.events);
        events.until(|log| self.poll(log, events.kept_events)).await
    }

    /// The next event, if it is available.
    pub fn try_next(&mut self) -> Option<Received> {
        let events = Arc::clone(&self.events);
        let mut log = locked(&events.log);
        self.poll(&mut log, events.kept_events).flatten()
    }

    /// The next event, or the end of the events; `None` if the follower has to wait.
    fn poll(&mut self, log: &mut Log, kept_events: usize) -> Option<Option<Received>> {
        if let Some(missed @ 1..) = log.first.checked_sub(self.next) {
            self.next = log.first;
            return Some(Some(Received::Missed(missed)));
        }
        let index = usize::try_from(self.next - log.first).ok()?;
        let Some(event) = log.events.get(index).map(Arc::clone) else {
            return log.is_closed.then_some(None);
        };
        let number = self.next;
        self.next += 1;
        if let Some(lossless_id) = self.lossless_id {
            log.lossless_positions.insert(lossless_id, self.next);
            log.prune(kept_events);
            // The run may wait for this follower.
            self.events.changed.notify_waiters();
        }
        Some(Some(Received::Event(number, event)))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(lossless_id) = self.lossless_id {
            let mut log = locked(&self.events.log);
            log.lossless_positions.remove(&lossless_id);
            log.prune(self.events.kept_events);
            drop(log);
            self.events.changed.notify_waiters();
        }
    }
}
