//! What all runs of an engine share.

use std::sync::Arc;
use std::time::Duration;

use devgate_transports::Environment;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::proxies::{DeviceTurns, ProxyLoads};
use crate::session::{DeviceLocks, SessionPool};
use crate::store::Store;
use devgate_core::budget;
use devgate_core::cancel::Reason;
use devgate_core::redactor::Sink;

/// How many files a target may need at once: the pipes of a task, while it is started; the socket of
/// the session that it is lent, one client of it, and the session.
const FILES: usize = 10;

/// How many files are open whatever is worked on.
const OWN_FILES: usize = 20;

/// The configuration of an engine.
#[derive(Debug)]
pub struct EngineConfig {
    /// Takes messages about sessions that no run uses.
    pub log: Arc<dyn Sink>,
    /// How long a session is kept that nobody is known to come for.
    pub idle: Duration,
    /// What is lent to all runs.
    pub environment: Arc<Environment>,
    /// What is stored beyond a run.
    pub store: Arc<dyn Store>,
    /// Why its runs are to end, where somebody has said so whom none of them may have heard yet.
    pub asked: fn() -> Option<Reason>,
}

/// What all runs of an engine share.
#[derive(Debug)]
pub struct Services {
    /// The sessions with devices.
    pub sessions: SessionPool,
    /// The devices that this process has locked.
    pub(crate) device_locks: DeviceLocks,
    /// Whose turn it is at a device.
    pub(crate) turns: DeviceTurns,
    /// How many tasks run on a proxy.
    pub(crate) loads: ProxyLoads,
    /// What is lent to all runs.
    pub environment: Arc<Environment>,
    /// What is stored beyond a run.
    pub store: Arc<dyn Store>,
    /// One for each target that may be worked on at once, for the files that it needs.
    room: Arc<Semaphore>,
    /// Takes messages about sessions that no run uses.
    pub(crate) log: Arc<dyn Sink>,
    /// Why runs are to end, where somebody has said so whom none of them may have heard yet.
    asked: fn() -> Option<Reason>,
}

impl Services {
    /// Those of an engine that works on no more than so many targets at once, whichever runs they are of.
    pub(crate) fn new(config: EngineConfig, targets: usize) -> Self {
        let EngineConfig {
            log,
            idle,
            environment,
            store,
            asked,
        } = config;
        Self {
            sessions: SessionPool::keeping(idle),
            device_locks: DeviceLocks::default(),
            turns: DeviceTurns::default(),
            loads: ProxyLoads::default(),
            environment,
            store,
            room: Arc::new(Semaphore::new(targets.min(Semaphore::MAX_PERMITS))),
            log,
            asked,
        }
    }

    /// Room for the work on one target, until it is dropped.
    pub(super) async fn room(&self) -> OwnedSemaphorePermit {
        let room = Arc::clone(&self.room).acquire_owned().await;
        room.expect("nobody closes it")
    }

    /// Why a run is to end that may not have heard it.
    pub(super) fn asked(&self) -> Option<Reason> {
        (self.asked)()
    }
}

#[cfg(test)]
impl EngineConfig {
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

/// How many targets can be worked on at once, in all: no more than files can be open for.
pub fn affordable() -> usize {
    (budget::files().saturating_sub(OWN_FILES) / FILES).max(1)
}
