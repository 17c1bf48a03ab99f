//! The services that all runs of an engine share.

use std::sync::Arc;
use std::time::Duration;

use devgate_core::budget;
use devgate_core::cancel::Reason;
use devgate_core::redactor::Sink;
use devgate_transports::Environment;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::proxies::{DeviceTurns, ProxyLoads};
use crate::session::{DeviceLocks, SessionPool};
use crate::store::Store;

/// The number of files that a target may need at once: the pipes of a task while it is started, the socket of the
/// session that is lent to it, one client of that socket, and the session.
const FILES: usize = 10;

/// The number of files that are open independently of targets.
const OWN_FILES: usize = 20;

/// The configuration of an engine.
#[derive(Debug)]
pub struct EngineConfig {
    /// The sink for messages about sessions that no run uses.
    pub log: Arc<dyn Sink>,
    /// How long a session stays open when no run is known to need it.
    pub idle: Duration,
    /// The environment that all runs share.
    pub environment: Arc<Environment>,
    /// The store for data that outlives a run.
    pub store: Arc<dyn Store>,
    /// Returns why runs are to end, including a request that none of them may have received yet.
    pub cancel_reason: fn() -> Option<Reason>,
}

/// The services that all runs of an engine share.
#[derive(Debug)]
pub struct Services {
    /// The sessions with devices.
    pub sessions: SessionPool,
    /// The locks on devices that this process holds.
    pub(crate) device_locks: DeviceLocks,
    /// The turns of runs at each device.
    pub(crate) turns: DeviceTurns,
    /// The number of tasks that run on each proxy.
    pub(crate) loads: ProxyLoads,
    /// The environment that all runs share.
    pub environment: Arc<Environment>,
    /// The store for data that outlives a run.
    pub store: Arc<dyn Store>,
    /// One permit for each target that may be worked on at once, because each needs open files.
    permits: Arc<Semaphore>,
    /// The sink for messages about sessions that no run uses.
    pub(crate) log: Arc<dyn Sink>,
    /// Returns why runs are to end, including a request that none of them may have received yet.
    cancel_reason: fn() -> Option<Reason>,
}

impl Services {
    /// Creates the services of an engine that works on at most `targets` targets at once, over all runs.
    pub(crate) fn new(config: EngineConfig, targets: usize) -> Self {
        let EngineConfig {
            log,
            idle,
            environment,
            store,
            cancel_reason,
        } = config;
        Self {
            sessions: SessionPool::with_idle_limit(idle),
            device_locks: DeviceLocks::default(),
            turns: DeviceTurns::default(),
            loads: ProxyLoads::default(),
            environment,
            store,
            permits: Arc::new(Semaphore::new(targets.min(Semaphore::MAX_PERMITS))),
            log,
            cancel_reason,
        }
    }

    /// Waits for a permit to work on one target. Dropping the permit returns it.
    pub(super) async fn permit(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.expect("nobody closes it")
    }

    /// Returns why a run is to end, even if the run has not received the request yet.
    pub(super) fn cancel_reason(&self) -> Option<Reason> {
        (self.cancel_reason)()
    }
}

#[cfg(test)]
impl EngineConfig {
    /// Creates a configuration with an empty environment, a silent log, and a store in memory.
    pub(crate) fn for_tests(idle: Duration) -> Self {
        Self {
            log: devgate_core::events::silence(),
            idle,
            environment: Arc::default(),
            store: Arc::new(crate::store::MemoryStore::default()),
            cancel_reason: || None,
        }
    }
}

/// Returns the number of targets that can be worked on at once, as the limit of open files allows.
pub fn max_targets() -> usize {
    (budget::files().saturating_sub(OWN_FILES) / FILES).max(1)
}
