//! The engine: what all runs of a process share, so that many can go on at once.
//!
//! Sessions, the turns at a device, the load of a proxy and the files that may be open belong to the engine, since
//! the devices and this node are the same for all runs. Secrets, patience, limits, events and the end belong to each
//! run ([`Run`]).

mod active_runs;
mod request;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;
use indexmap::IndexMap;

use crate::job::RunId;
use crate::registry::Registry;
use crate::run::{Run, Services};
use devgate_core::events::Events;

pub use crate::job::{CONCURRENCY, RunLimits};
pub use crate::run::{EngineConfig, affordable};
use active_runs::ActiveRuns;
pub use request::IdempotencyKey;
pub use request::{Principal, RunHandle, RunRequest};

/// The runs of a process, and what they share.
#[derive(Debug)]
pub struct Engine {
    /// What they share.
    pub services: Rc<Services>,
    runs: Cell<u64>,
    /// The runs that were submitted.
    under_way: ActiveRuns,
    /// The runs that requests with a key have become.
    keys: RefCell<Keys>,
}

/// Runs by who has asked for them under which key, with the digests of the requests.
type Keys = IndexMap<(Principal, String), ([u8; 32], RunHandle)>;

impl Engine {
    /// An engine without runs.
    pub fn new(config: EngineConfig) -> Rc<Self> {
        Self::with_room(config, affordable())
    }

    /// An engine that works on no more than so many targets at once, whichever runs they are of.
    fn with_room(config: EngineConfig, targets: usize) -> Rc<Self> {
        Rc::new(Self {
            services: Rc::new(Services::new(config, targets)),
            runs: Cell::new(0),
            under_way: ActiveRuns::default(),
            keys: RefCell::default(),
        })
    }

    /// A new run, with the transports and types that it is to know.
    pub fn begin(self: &Rc<Self>, registry: &Rc<Registry>, limits: RunLimits) -> Run {
        let id = RunId(self.runs.get());
        self.runs.set(id.0 + 1);
        let log = Arc::clone(&self.services.log);
        let events = Events::new(limits.least, limits.kept, Some(log));
        let services = Rc::clone(&self.services);
        Run::new(id, services, Rc::clone(registry), events, limits)
    }

    /// Somebody does not want to wait until all is closed. While there is work, this does nothing.
    pub fn hurry(&self) {
        self.under_way.hurry();
    }

    /// Does work in which there are runs, looks after the sessions that they leave, and closes all behind it: also
    /// when the work panics. Runs that it leaves under way end by stages, as in a shutdown.
    pub async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let Services { sessions, log, .. } = &*self.services;
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(work).catch_unwind() => outcome,
            never = sessions.keep(&**log) => match never {},
        };
        self.under_way.end().await;
        let hurries = self.under_way.hurries();
        tokio::select! {
            () = sessions.close(&**log) => {}
            () = self.under_way.is_hurried(hurries + 1) => {}
        }
        // Their runs are over.
        self.keys.take();
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
