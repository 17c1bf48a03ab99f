//! The pool: the only place that lends sessions with devices, to all runs of a process.
//!
//! A session is opened for one target and its credentials, and lent to one user at a time. Different names in an
//! inventory that mean the same target share it. A [`SessionLease`] is held by everybody who may need a session again. A
//! session that nobody can need any more is closed at once, so that a run over ten thousand targets keeps open only the
//! sessions that it works with. [`SessionPool::maintain`] is a future that runs beside the work and maintains the idle
//! sessions; there is no other process or task.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use devgate_core::redactor::Sink;
use devgate_transports::Context;
use futures_util::future::join_all;
use tokio::time::timeout;

use super::ConnectionSpec;
use super::device::{Device, SessionAccess, SessionTurn};
use crate::inventory::DeviceKey;
use crate::job::RunId;

/// How often idle sessions are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The longest time that all sessions together may take to close when the pool is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Lends sessions, for as long as its process lives.
#[derive(Default)]
pub struct SessionPool {
    devices: RefCell<HashMap<DeviceKey, Rc<Device>>>,
    /// The number of unfinished targets of each run, for devices with several targets of one run.
    expected: RefCell<HashMap<DeviceKey, HashMap<RunId, usize>>>,
    /// How long a session may be idle when no run is known to need it.
    idle: Duration,
}

/// The unfinished targets of a run, for devices with several of them. When this is dropped, the run needs their
/// sessions no more.
#[derive(Debug)]
pub(crate) struct ExpectedTargets<'p> {
    pool: &'p SessionPool,
    run: RunId,
    /// The devices of the targets.
    device_keys: HashSet<DeviceKey>,
}

/// The right to request sessions with one target. While it is held, the sessions of its device are kept.
pub(super) struct SessionLease<'p> {
    pool: &'p SessionPool,
    device: DeviceRef,
    spec: &'p ConnectionSpec<'p>,
}

/// Keeps a device in the pool while it is used, checked, or its sessions are being closed.
struct DeviceRef(Rc<Device>);

impl SessionPool {
    /// Creates a pool that keeps a session which no run is known to need for at most `idle`, and no longer than its
    /// target allows.
    pub(crate) fn with_idle_limit(idle: Duration) -> Self {
        Self {
            idle,
            ..Self::default()
        }
    }

    /// Announces the targets of a run by their devices. Where several targets share a device, its sessions are kept
    /// until the last of them is [`done`](ExpectedTargets::done).
    pub(crate) fn expect(&self, run: RunId, device_keys: &[DeviceKey]) -> ExpectedTargets<'_> {
        let mut counts = HashMap::new();
        for device_key in device_keys {
            *counts.entry(*device_key).or_insert(0) += 1;
        }
        counts.retain(|_, count| *count > 1);
        let device_keys = counts.keys().copied().collect();
        let mut expected = self.expected.borrow_mut();
        for (device_key, count) in counts {
            expected.entry(device_key).or_default().insert(run, count);
        }
        ExpectedTargets {
            pool: self,
            run,
            device_keys,
        }
    }

    /// Returns the right to request sessions with a target.
    pub(super) fn lease<'p>(&'p self, spec: &'p ConnectionSpec<'p>) -> SessionLease<'p> {
        let mut devices = self.devices.borrow_mut();
        let device = devices.entry(spec.device_key);
        let device = device.or_insert_with(|| Rc::new(Device::new(spec.limits.limit)));
        SessionLease {
            pool: self,
            device: DeviceRef::new(device),
            spec,
        }
    }

    /// Maintains idle sessions. It tests them, so that nothing on the way takes them for dead, and it closes those that
    /// have been idle for too long, are broken, or that nobody can need.
    pub async fn maintain(&self, log: &dyn Sink) -> Infallible {
        loop {
            let _ = timeout(CHECK_INTERVAL, std::future::pending::<()>()).await;
            let devices: Vec<DeviceRef> =
                self.devices.borrow().values().map(DeviceRef::new).collect();
            // Each device is held only for its own test, so that one that does not answer keeps no other's sessions
            // open.
            let checks = devices
                .into_iter()
                .map(|device_ref| async move { device_ref.0.maintain(log).await });
            join_all(checks).await;
            self.close_unwanted(log).await;
        }
    }

    /// Closes all sessions. Those that take too long are dropped.
    pub(crate) async fn close(&self, log: &dyn Sink) {
        let devices = self.devices.take();
        close_all(devices.values(), log).await;
    }

    /// Closes the sessions that no run is known to need and that have been idle for long enough.
    async fn close_unwanted(&self, log: &dyn Sink) {
        let expired: Vec<DeviceRef> = {
            let devices = self.devices.borrow();
            let expired = devices.iter().filter(|(device_key, device)| {
                self.is_unwanted(device_key, device) && device.is_idle_for(self.idle)
            });
            expired.map(|(_, device)| DeviceRef::new(device)).collect()
        };
        close_all(expired.iter().map(|device_ref| &device_ref.0), log).await;
        drop(expired);
        let mut devices = self.devices.borrow_mut();
        devices.retain(|device_key, device| {
            !self.is_unwanted(device_key, device) || device.has_sessions()
        });
    }

    /// Whether no run is known to need a device.
    fn is_unwanted(&self, device_key: &DeviceKey, device: &Device) -> bool {
        let expected = self.expected.borrow();
        let mut runs = expected.get(device_key).into_iter().flatten();
        device.leases.get() == 0 && runs.all(|(_, targets)| *targets == 0)
    }

    /// Closes the sessions of a device, unless somebody other than the requesting target can need them.
    async fn release(&self, spec: &ConnectionSpec<'_>, ctx: &Context<'_>) {
        let device_key = spec.device_key;
        let is_last = |device: &&Rc<Device>| {
            let expected = self.expected.borrow();
            let mut runs = expected.get(&device_key).into_iter().flatten();
            // The requesting target is one of those of its run.
            let nobody = runs.all(|(run, targets)| *run == spec.run && *targets <= 1);
            device.leases.get() == 0 && nobody && device.is_idle_for(self.idle)
        };
        let last = self
            .devices
            .borrow()
            .get(&device_key)
            .filter(is_last)
            .map(DeviceRef::new);
        if let Some(device_ref) = last {
            device_ref.0.close_for(ctx).await;
            drop(device_ref);
            let mut devices = self.devices.borrow_mut();
            let is_left = |device: &Rc<Device>| device.leases.get() == 0 && !device.has_sessions();
            if devices.get(&device_key).is_some_and(is_left) {
                devices.remove(&device_key);
            }
        }
    }
}

impl DeviceRef {
    fn new(device: &Rc<Device>) -> Self {
        device.leases.set(device.leases.get() + 1);
        Self(Rc::clone(device))
    }
}

impl Drop for DeviceRef {
    fn drop(&mut self) {
        self.0.leases.set(self.0.leases.get() - 1);
    }
}

impl ExpectedTargets<'_> {
    /// Records that one target of the run is done. Only devices with several targets matter.
    pub(crate) fn done(&self, device_key: DeviceKey) {
        if self.device_keys.is_empty() {
            return;
        }
        let mut expected = self.pool.expected.borrow_mut();
        let count = expected
            .get_mut(&device_key)
            .and_then(|runs| runs.get_mut(&self.run));
        if let Some(count) = count {
            *count = count.saturating_sub(1);
        }
    }

    /// Ends the run: closes the sessions that nobody can need any more. Those that take too long to close are dropped.
    pub(crate) async fn end(self, log: &dyn Sink) {
        let pool = self.pool;
        drop(self);
        pool.close_unwanted(log).await;
    }
}

impl Drop for ExpectedTargets<'_> {
    fn drop(&mut self) {
        // Credentials that were refused in this run may be accepted in another.
        let devices = self.pool.devices.borrow();
        devices
            .values()
            .for_each(|device| device.forget_refusals(self.run));
        let mut expected = self.pool.expected.borrow_mut();
        for device_key in &self.device_keys {
            if let Entry::Occupied(mut runs) = expected.entry(*device_key) {
                runs.get_mut().remove(&self.run);
                if runs.get().is_empty() {
                    runs.remove();
                }
            }
        }
    }
}

/// Closes the sessions of these devices.
async fn close_all(devices: impl Iterator<Item = &Rc<Device>>, log: &dyn Sink) {
    let all = join_all(devices.map(|device| device.close(log)));
    // A session that does not close in time ends with its connection.
    let _ = timeout(CLOSE_TIMEOUT, all).await;
}

impl SessionLease<'_> {
    /// Returns how the target is reached.
    pub(super) fn spec(&self) -> &ConnectionSpec<'_> {
        self.spec
    }

    /// Waits for a turn with a session, in the order of the requests.
    pub(super) async fn turn(&self, access: SessionAccess) -> SessionTurn<'_> {
        self.device.0.turn(self.spec, access).await
    }

    /// Releases the lease, and closes the sessions if nobody else can need them.
    pub(super) async fn release(self, ctx: &Context<'_>) {
        let (pool, spec) = (self.pool, self.spec);
        drop(self);
        pool.release(spec, ctx).await;
    }
}

impl std::fmt::Debug for SessionPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionPool").finish_non_exhaustive()
    }
}
