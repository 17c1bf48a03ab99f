//! The engine: what all runs of a process share, so that many can go on at once.
//!
//! Sessions, the turns at a device, the load of a proxy and the files that may be open belong to the engine, since
//! the devices and this node are the same for all runs. Secrets, patience, limits, events and the end belong to each
//! run ([`Run`]).

mod loads;
mod request;
#[cfg(test)]
mod tests;
mod turns;
mod under_way;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use devgate_schemas::Level;
use devgate_transports::{Environment, RetryBudget};
use futures_util::FutureExt;
use indexmap::IndexMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::registry::Registry;
use crate::run::Run;
use crate::session::{Claims, Pool};
use crate::store::Store;
use devgate_core::budget;
use devgate_core::cancel::Reason;
use devgate_core::events::Events;
use devgate_core::redactor::Sink;

pub(crate) use loads::{Load, Loads, Ticket};
pub use request::Key;
pub use request::{Principal, Request, RunHandle};
pub(crate) use turns::{Turn, Turns};
use under_way::UnderWay;

/// How many targets a run works on at once when nobody says, as in Bolt.
pub const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(100).expect("it is not zero");

/// How many files a target may need at once: the pipes of a task, while it is started; the socket of
/// the session that it is lent, one client of it, and the session.
const FILES: usize = 10;

/// How many files are open whatever is worked on.
const OWN_FILES: usize = 20;

/// What all runs share.
#[derive(Debug)]
pub struct Engine {
    /// The sessions with devices.
    pub sessions: Pool,
    /// Which devices this process has claimed.
    pub(crate) claims: Claims,
    /// Whose turn it is at a device.
    pub(crate) turns: Turns,
    /// How many tasks run on a proxy.
    pub(crate) loads: Loads,
    /// What is lent to all runs.
    pub environment: Arc<Environment>,
    /// What is kept beyond a run.
    pub store: Arc<dyn Store>,
    /// One for each target that may be worked on at once, for the files that it needs.
    room: Arc<Semaphore>,
    /// Hears what is said of sessions that no run uses.
    log: Arc<dyn Sink>,
    /// Why runs are to end, where somebody has said so whom none of them may have heard yet.
    asked: fn() -> Option<Reason>,
    runs: Cell<u64>,
    /// The runs that were submitted.
    under_way: UnderWay,
    /// The runs that requests with a key have become.
    keys: RefCell<Keys>,
}

/// Runs by who has asked for them under which key, with the digests of the requests.
type Keys = IndexMap<(Principal, String), ([u8; 32], RunHandle)>;

/// What an engine is given.
#[derive(Debug)]
pub struct Means {
    /// Hears what is said of sessions that no run uses.
    pub log: Arc<dyn Sink>,
    /// How long a session is kept that nobody is known to come for.
    pub idle: Duration,
    /// What is lent to all runs.
    pub environment: Arc<Environment>,
    /// What is kept beyond a run.
    pub store: Arc<dyn Store>,
    /// Why its runs are to end, where somebody has said so whom none of them may have heard yet.
    pub asked: fn() -> Option<Reason>,
}

/// A run's number, within its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunId(u64);

/// How much a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many targets it works on at once.
    pub concurrency: NonZeroUsize,
    /// How long each target is waited for that does not answer.
    pub retry_budget: Duration,
    /// Messages below this level are not told.
    pub least: Level,
    /// How many events are kept for those who come later.
    pub kept: usize,
    /// How long it may take in all.
    pub deadline: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: CONCURRENCY,
            retry_budget: RetryBudget::LIMIT,
            least: Level::Notice,
            kept: 0,
            deadline: None,
        }
    }
}

#[cfg(test)]
impl Means {
    /// Nothing is lent, nothing is heard, and what is kept is gone with the engine.
    pub(crate) fn for_tests(idle: Duration) -> Self {
        Self {
            log: devgate_core::events::silence(),
            idle,
            environment: Arc::default(),
            store: Arc::new(crate::store::Memory::default()),
            asked: || None,
        }
    }
}

impl Engine {
    /// An engine without runs.
    pub fn new(means: Means) -> Rc<Self> {
        Self::with_room(means, affordable())
    }

    /// An engine that works on no more than so many targets at once, whichever runs they are of.
    fn with_room(means: Means, targets: usize) -> Rc<Self> {
        let Means {
            log,
            idle,
            environment,
            store,
            asked,
        } = means;
        Rc::new(Self {
            sessions: Pool::keeping(idle),
            claims: Claims::default(),
            turns: Turns::default(),
            loads: Loads::default(),
            environment,
            store,
            room: Arc::new(Semaphore::new(targets.min(Semaphore::MAX_PERMITS))),
            log,
            asked,
            runs: Cell::new(0),
            under_way: UnderWay::default(),
            keys: RefCell::default(),
        })
    }

    /// A new run, with the transports and types that it is to know.
    pub fn begin(self: &Rc<Self>, registry: &Rc<Registry>, limits: Limits) -> Run {
        let id = RunId(self.runs.get());
        self.runs.set(id.0 + 1);
        let events = Events::new(limits.least, limits.kept, Some(Arc::clone(&self.log)));
        Run::new(id, Rc::clone(self), Rc::clone(registry), events, limits)
    }

    /// Room for the work on one target, until it is dropped.
    pub async fn room(&self) -> OwnedSemaphorePermit {
        let room = Arc::clone(&self.room).acquire_owned().await;
        room.expect("nobody closes it")
    }

    /// Somebody does not want to wait until all is closed. While there is work, this does nothing.
    pub fn hurry(&self) {
        self.under_way.hurry();
    }

    /// Who hears what belongs to no run.
    pub fn log(&self) -> &dyn Sink {
        &*self.log
    }

    /// Why a run is to end that may not have heard it.
    pub fn asked(&self) -> Option<Reason> {
        (self.asked)()
    }

    /// Does work in which there are runs, looks after the sessions that they leave, and closes all behind it: also
    /// when the work panics. Runs that it leaves under way end by stages, as in a shutdown.
    pub async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(work).catch_unwind() => outcome,
            never = self.sessions.keep(&*self.log) => match never {},
        };
        self.under_way.end().await;
        let hurries = self.under_way.hurries();
        tokio::select! {
            () = self.sessions.close(&*self.log) => {}
            () = self.under_way.is_hurried(hurries + 1) => {}
        }
        // Each of their runs has its engine.
        self.keys.take();
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// How many targets can be worked on at once, in all: no more than files can be open for.
pub fn affordable() -> usize {
    (budget::files().saturating_sub(OWN_FILES) / FILES).max(1)
}
