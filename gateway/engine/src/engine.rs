//! The engine: the state that all runs of a process share, so that many runs can go on at once.
//!
//! Sessions, the turns at a device, the load of a proxy and the limit of open files belong to the engine, because the
//! devices and this node are the same for all runs. Secrets, retry budgets, limits, events and cancellation belong to
//! each run ([`Run`]).

mod active_runs;
mod request;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use devgate_core::events::Events;
use futures_util::FutureExt;
use indexmap::IndexMap;

use crate::job::RunId;
use crate::registry::Registry;
use crate::run::{Run, Services};

pub use crate::job::{CONCURRENCY, RunLimits};
pub use crate::run::{EngineConfig, max_targets};
use active_runs::ActiveRuns;
pub use request::IdempotencyKey;
pub use request::{Principal, RunHandle, RunRequest};

/// The runs of a process, and the services that they share.
#[derive(Debug)]
pub struct Engine {
    /// The services that all runs share.
    pub services: Rc<Services>,
    runs: Cell<u64>,
    /// The submitted runs that have not ended.
    active_runs: ActiveRuns,
    /// The runs of requests with an idempotency key.
    keys: RefCell<KeyedRuns>,
}

/// The runs by principal and idempotency key, each with the digest of its request.
type KeyedRuns = IndexMap<(Principal, String), ([u8; 32], RunHandle)>;

impl Engine {
    /// Creates an engine without runs.
    pub fn new(config: EngineConfig) -> Rc<Self> {
        Self::with_target_limit(config, max_targets())
    }

    /// Creates an engine that works on at most `targets` targets at once, over all runs.
    fn with_target_limit(config: EngineConfig, targets: usize) -> Rc<Self> {
        Rc::new(Self {
            services: Rc::new(Services::new(config, targets)),
            runs: Cell::new(0),
            active_runs: ActiveRuns::default(),
            keys: RefCell::default(),
        })
    }

    /// Creates a run with the given transports, resource types and limits.
    pub fn begin(self: &Rc<Self>, registry: &Rc<Registry>, limits: RunLimits) -> Run {
        let id = RunId(self.runs.get());
        self.runs.set(id.0 + 1);
        let log = Arc::clone(&self.services.log);
        let events = Events::new(limits.min_level, limits.kept_events, Some(log));
        let services = Rc::clone(&self.services);
        Run::new(id, services, Rc::clone(registry), events, limits)
    }

    /// Shortens the shutdown: the caller does not want to wait until everything is closed. Before the shutdown begins,
    /// this does nothing.
    pub fn hurry(&self) {
        self.active_runs.hurry();
    }

    /// Drives `work` and the runs in it, maintains the sessions that they leave in the pool, and closes everything at
    /// the end, even if `work` panics. Runs that are still active then end in stages, as in a shutdown.
    pub async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let Services { sessions, log, .. } = &*self.services;
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(work).catch_unwind() => outcome,
            never = sessions.maintain(&**log) => match never {},
        };
        self.active_runs.end().await;
        let hurries = self.active_runs.hurries();
        tokio::select! {
            () = sessions.close(&**log) => {}
            () = self.active_runs.hurried(hurries + 1) => {}
        }
        // All runs with keys have ended.
        self.keys.take();
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
