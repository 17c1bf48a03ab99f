//! The pool: the only place that lends sessions with devices, to all runs of a process.
//!
//! A session is opened for one target and its credentials, and lent to one user at a time. Different names in an
//! inventory that mean the same target share it. A [`Lease`] is held by everybody who may need a session again. A
//! session that nobody can need any more is closed at once, so that a run over ten thousand targets keeps open only the
//! sessions that it works with. [`SessionPool::keep`] is a future that runs beside the work and maintains the idle
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
const ROUND: Duration = Duration::from_secs(1);

/// The longest time that all sessions together may take to close when the pool is closed.
const GOODBYE: Duration = Duration::from_secs(5);

/// Lends sessions, for as long as its process lives.
#[derive(Default)]
pub struct SessionPool {
    devices: RefCell<HashMap<DeviceKey, Rc<Device>>>,
    /// The number of unfinished targets of each run, for devices with several targets of one run.
    coming: RefCell<HashMap<DeviceKey, HashMap<RunId, usize>>>,
    /// How long a session may be idle when no run is known to need it.
    idle: Duration,
}

/// The unfinished targets of a run, for devices with several of them. When this is dropped, the run needs their
/// sessions no more.
#[derive(Debug)]
pub(crate) struct Expected<'p> {
    pool: &'p SessionPool,
    run: RunId,
    /// The devices of the targets.
    places: HashSet<DeviceKey>,
}

/// The right to request sessions with one target. While it is held, the sessions of its device are kept.
pub(super) struct Lease<'p> {
    pool: &'p SessionPool,
    device: Held,
    spec: &'p ConnectionSpec<'p>,
}

/// Keeps a device in the pool while it is used, checked, or its sessions are being closed.
struct Held(Rc<Device>);

impl SessionPool {
    /// Creates a pool that keeps a session which no run is known to need for at most `idle`, and no longer than its
    /// target allows.
    pub(crate) fn keeping(idle: Duration) -> Self {
        Self {
            idle,
            ..Self::default()
        }
    }

    /// Announces the targets of a run by their devices. Where several targets share a device, its sessions are kept
    /// until the last of them is [`done`](Expected::done).
    pub(crate) fn expect(&self, run: RunId, places: &[DeviceKey]) -> Expected<'_> {
        let mut counts = HashMap::new();
        for place in places {
            *counts.entry(*place).or_insert(0) += 1;
        }
        counts.retain(|_, count| *count > 1);
        let places = counts.keys().copied().collect();
        let mut coming = self.coming.borrow_mut();
        for (place, count) in counts {
            coming.entry(place).or_default().insert(run, count);
        }
        Expected {
            pool: self,
            run,
            places,
        }
    }

    /// Returns the right to request sessions with a target.
    pub(super) fn lease<'p>(&'p self, spec: &'p ConnectionSpec<'p>) -> Lease<'p> {
        let mut devices = self.devices.borrow_mut();
        let device = devices.entry(spec.place);
        let device = device.or_insert_with(|| Rc::new(Device::new(spec.limits.limit)));
        Lease {
            pool: self,
            device: Held::new(device),
            spec,
        }
    }

    /// Maintains idle sessions. It tests them, so that nothing on the way takes them for dead, and it closes those that
    /// have been idle for too long, are broken, or that nobody can need.
    pub async fn keep(&self, log: &dyn Sink) -> Infallible {
        loop {
            let _ = timeout(ROUND, std::future::pending::<()>()).await;
            let kept: Vec<Held> = self.devices.borrow().values().map(Held::new).collect();
            // Each device is held only for its own test, so that one that does not answer keeps no other's sessions
            // open.
            let looks = kept
                .into_iter()
                .map(|held| async move { held.0.look_after(log).await });
            join_all(looks).await;
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
        let over: Vec<Held> = {
            let devices = self.devices.borrow();
            let over = devices.iter().filter(|(place, device)| {
                self.is_unwanted(place, device) && device.is_idle_for(self.idle)
            });
            over.map(|(_, device)| Held::new(device)).collect()
        };
        close_all(over.iter().map(|held| &held.0), log).await;
        drop(over);
        let mut devices = self.devices.borrow_mut();
        devices.retain(|place, device| !self.is_unwanted(place, device) || device.has_sessions());
    }

    /// Whether no run is known to need a device.
    fn is_unwanted(&self, place: &DeviceKey, device: &Device) -> bool {
        let coming = self.coming.borrow();
        let mut runs = coming.get(place).into_iter().flatten();
        device.leases.get() == 0 && runs.all(|(_, targets)| *targets == 0)
    }

    /// Closes the sessions of a device, unless somebody other than the requesting target can need them.
    async fn release(&self, spec: &ConnectionSpec<'_>, ctx: &Context<'_>) {
        let place = spec.place;
        let is_last = |device: &&Rc<Device>| {
            let coming = self.coming.borrow();
            let mut runs = coming.get(&place).into_iter().flatten();
            // The requesting target is one of those of its run.
            let nobody = runs.all(|(run, targets)| *run == spec.run && *targets <= 1);
            device.leases.get() == 0 && nobody && device.is_idle_for(self.idle)
        };
        let last = self
            .devices
            .borrow()
            .get(&place)
            .filter(is_last)
            .map(Held::new);
        if let Some(held) = last {
            held.0.close_with(ctx).await;
            drop(held);
            let mut devices = self.devices.borrow_mut();
            let is_left = |device: &Rc<Device>| device.leases.get() == 0 && !device.has_sessions();
            if devices.get(&place).is_some_and(is_left) {
                devices.remove(&place);
            }
        }
    }
}

impl Held {
    fn new(device: &Rc<Device>) -> Self {
        device.leases.set(device.leases.get() + 1);
        Self(Rc::clone(device))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.leases.set(self.0.leases.get() - 1);
    }
}

impl Expected<'_> {
    /// Records that one target of the run is done. Only devices with several targets matter.
    pub(crate) fn done(&self, place: DeviceKey) {
        if self.places.is_empty() {
            return;
        }
        let mut coming = self.pool.coming.borrow_mut();
        let count = coming
            .get_mut(&place)
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

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        // Credentials that were refused in this run may be accepted in another.
        let devices = self.pool.devices.borrow();
        devices
            .values()
            .for_each(|device| device.forget_refused(self.run));
        let mut coming = self.pool.coming.borrow_mut();
        for place in &self.places {
            if let Entry::Occupied(mut runs) = coming.entry(*place) {
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
    let _ = timeout(GOODBYE, all).await;
}

impl Lease<'_> {
    /// Returns how the target is reached.
    pub(super) fn spec(&self) -> &ConnectionSpec<'_> {
        self.spec
    }

    /// Waits for a turn with a session, in the order of the requests.
    pub(super) async fn turn(&self, access: SessionAccess) -> SessionTurn<'_> {
        self.device.0.turn(self.spec, access).await
    }

    /// Releases the lease, and closes the sessions if nobody else can need them.
    pub(super) async fn end(self, ctx: &Context<'_>) {
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
