//! What a run tells: numbered, without secrets, kept for those who come later, handed to all who follow.
//!
//! All that leaves a run loses the secrets of all its targets: what is said, and what tasks write, here; a result where
//! it comes from ([`Redactor::masked`](crate::redactor::Redactor::masked)). A follower that must miss nothing holds the run
//! back: no target is begun while it is far behind. Others are told what they have missed.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex};

use devgate_schemas::{self as schemas, Level, Mask};
use tokio::sync::Notify;

use crate::cancel::{Reason, Stage};
use crate::lock::locked;
use crate::redactor::Sink;
use crate::results::{Action, TargetResult};

/// How many events a follower that must miss nothing may be behind before no target is begun.
const BEHIND: u64 = 256;

/// How many events are kept at least until somebody follows.
const EARLY: usize = 256;

/// One thing that a run tells.
#[derive(Debug)]
pub enum Event {
    /// The work on targets begins.
    Begun {
        /// What is done with them.
        action: Action,
        /// How many there are.
        targets: usize,
    },
    /// The work on one target begins.
    Started {
        /// Its name.
        target: String,
    },
    /// Something was said, of a target or of none.
    Said(schemas::Event),
    /// What was tried again on a target has come to its end.
    Settled {
        /// Its name.
        target: String,
    },
    /// A task has written a line; it has its end.
    Wrote {
        /// What it wrote, behind the target's name.
        line: String,
    },
    /// A target is done.
    Finished {
        /// Its name.
        target: String,
        /// What became of it.
        answer: Box<TargetResult>,
        /// How many targets are worked on now.
        running: usize,
        /// How many have failed so far.
        failed: usize,
    },
    /// The run is to end, more urgently than before.
    Stopping {
        /// How urgently.
        stage: Stage,
        /// What becomes of the run: `interrupted`.
        told: String,
        /// How many targets are worked on.
        running: usize,
        /// Whether time alone does not end what runs.
        held: bool,
    },
    /// The work on targets has ended; where it was cut short, why.
    Ended {
        /// Why it was cut short.
        reason: Option<Reason>,
    },
}

/// The events of one run, from the first on.
#[derive(Debug)]
pub struct Events {
    /// Events below this level are not told.
    least: Level,
    /// How many events are kept that everybody has heard.
    kept: usize,
    /// The secrets of all targets, and what has been learnt of those that are worked on.
    mask: Mutex<Mask>,
    log: Mutex<Log>,
    changed: Notify,
    /// Who hears what belongs to no run.
    outer: Option<Arc<dyn Sink>>,
}

tokio::task_local! {
    /// The run that is worked on: what libraries log belongs to it.
    pub static RUN: Arc<Events>;
}

#[derive(Debug, Default)]
struct Log {
    /// The number of the first event that is there.
    first: u64,
    events: VecDeque<Arc<Event>>,
    is_closed: bool,
    /// The number of the next event of each follower that must miss nothing.
    following: HashMap<u64, u64>,
    followers: u64,
}

/// Who hears the events of a run.
#[derive(Debug)]
pub struct Follower {
    events: Arc<Events>,
    next: u64,
    /// Its number in [`Log::following`], if it must miss nothing.
    faithful: Option<u64>,
}

/// What a follower hears.
#[derive(Clone, Debug)]
pub enum Heard {
    /// An event, and its number.
    Event(u64, Arc<Event>),
    /// So many events were there and are not any more.
    Missed(u64),
}

impl Events {
    /// The events of a new run: those of this level and above, of which so many are kept when all have heard them.
    pub fn new(least: Level, kept: usize, outer: Option<Arc<dyn Sink>>) -> Arc<Self> {
        Arc::new(Self {
            least,
            kept,
            mask: Mutex::default(),
            log: Mutex::default(),
            changed: Notify::new(),
            outer,
        })
    }

    /// Tells something that holds no secret.
    pub fn tell(&self, event: Event) {
        let mut log = locked(&self.log);
        log.events.push_back(Arc::new(event));
        log.forget(self.kept);
        drop(log);
        self.changed.notify_waiters();
    }

    /// Tells a line that a task has written, without the secrets of all targets that are worked on.
    pub fn wrote(&self, line: &str) {
        let line = locked(&self.mask).text(line).into_owned();
        self.tell(Event::Wrote { line });
    }

    /// Nothing more will be told.
    pub fn close(&self) {
        locked(&self.log).is_closed = true;
        self.changed.notify_waiters();
    }

    /// Waits until nobody who must miss nothing is far behind.
    pub async fn room(&self) {
        self.until(|log| {
            let slowest = log.following.values().min();
            let is_far = slowest.is_some_and(|next| log.end().saturating_sub(*next) > BEHIND);
            (!is_far).then_some(())
        })
        .await;
    }

    /// Somebody who hears every event from this number on, as far as it is still there, and misses nothing from then
    /// on: the run waits for him.
    pub fn follow(self: &Arc<Self>, from: u64) -> Follower {
        let mut log = locked(&self.log);
        let faithful = log.followers;
        log.followers += 1;
        let next = from.clamp(log.first, log.end());
        log.following.insert(faithful, next);
        drop(log);
        Follower {
            events: Arc::clone(self),
            next: from.min(next),
            faithful: Some(faithful),
        }
    }

    /// Somebody for whom the run does not wait; what he has missed he is told.
    pub fn watch(self: &Arc<Self>, from: u64) -> Follower {
        let next = from.min(locked(&self.log).end());
        Follower {
            events: Arc::clone(self),
            next,
            faithful: None,
        }
    }

    /// Waits until a look at the log gives something.
    async fn until<T>(&self, mut look: impl FnMut(&mut Log) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on no change is overlooked.
            changed.as_mut().enable();
            if let Some(found) = look(&mut locked(&self.log)) {
                return found;
            }
            changed.await;
        }
    }
}

/// Nobody hears what goes here.
pub fn silence() -> Arc<dyn Sink> {
    Events::new(Level::Err, 0, None)
}

impl Sink for Events {
    fn says(&self, level: Level) -> bool {
        level >= self.least
    }

    fn take(&self, event: schemas::Event) {
        let mask = locked(&self.mask);
        let message = mask.text(&event.message).into_owned();
        let subject = event
            .subject
            .map(|subject| mask.text(&subject).into_owned());
        drop(mask);
        self.tell(Event::Said(schemas::Event {
            message,
            subject,
            ..event
        }));
    }

    fn settled(&self, target: &str) {
        self.tell(Event::Settled {
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

    /// Forgets what is not to be kept and nobody still waits for.
    fn forget(&mut self, kept: usize) {
        let wanted = self.following.values().min().copied();
        let kept = if self.followers == 0 {
            kept.max(EARLY)
        } else {
            kept
        };
        while self.events.len() > kept && wanted.is_none_or(|wanted| self.first < wanted) {
            self.events.pop_front();
            self.first += 1;
        }
    }
}

impl Follower {
    /// Waits for the next event; there is none when the run has told all.
    pub async fn next(&mut self) -> Option<Heard> {
        let events = Arc::clone(&self.events);
        events.until(|log| self.look(log, events.kept)).await
    }

    /// The next event, where it is there already.
    pub fn waiting(&mut self) -> Option<Heard> {
        let events = Arc::clone(&self.events);
        let mut log = locked(&events.log);
        self.look(&mut log, events.kept).flatten()
    }

    /// What is there for it: an event, or that there are no more; nothing, where it has to wait.
    fn look(&mut self, log: &mut Log, kept: usize) -> Option<Option<Heard>> {
        if let Some(missed @ 1..) = log.first.checked_sub(self.next) {
            self.next = log.first;
            return Some(Some(Heard::Missed(missed)));
        }
        let at = usize::try_from(self.next - log.first).ok()?;
        let Some(event) = log.events.get(at).map(Arc::clone) else {
            return log.is_closed.then_some(None);
        };
        let number = self.next;
        self.next += 1;
        if let Some(faithful) = self.faithful {
            log.following.insert(faithful, self.next);
            log.forget(kept);
            // The run may wait for us.
            self.events.changed.notify_waiters();
        }
        Some(Some(Heard::Event(number, event)))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(faithful) = self.faithful {
            let mut log = locked(&self.events.log);
            log.following.remove(&faithful);
            log.forget(self.events.kept);
            drop(log);
            self.events.changed.notify_waiters();
        }
    }
}
