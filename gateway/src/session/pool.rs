//! The pool: the one place that lends sessions with devices, to all runs of a process.
//!
//! A session is opened for one target and its credentials, and lent to one at a time; names in an
//! inventory that mean the same share it. Who may come again holds a [`Lease`]. A session that nobody
//! can come for any more is closed at once, so that a run over ten thousand targets holds open only
//! what it works on. Those that are idle are looked after by [`Pool::keep`], a future beside the
//! work: no process and no task of its own is behind it.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use devgate_transports::Context;
use futures_util::future::{join, join_all};
use tokio::time::timeout;

use super::Reach;
use super::device::{Access, Device, Turn};
use crate::engine::RunId;
use crate::inventory::Place;
use crate::listen::Sink;
use crate::run::Run;

/// How often idle sessions are looked after.
const ROUND: Duration = Duration::from_secs(1);

/// How long all sessions together may take to say goodbye when the pool is closed.
const GOODBYE: Duration = Duration::from_secs(5);

/// Lends sessions, for as long as its process lives.
#[derive(Default)]
pub(crate) struct Pool {
    devices: RefCell<HashMap<Place, Rc<Device>>>,
    /// How many targets of each run are still to be done, where it has several in one place.
    coming: RefCell<HashMap<Place, HashMap<RunId, usize>>>,
    /// How long a session may be idle that nobody is known to come for.
    idle: Duration,
}

/// The targets that a run is still to come for, where several are in one place; nobody comes for them any more when
/// it is dropped.
#[derive(Debug)]
pub(crate) struct Expected<'p> {
    pool: &'p Pool,
    run: RunId,
    /// Where they are.
    places: HashSet<Place>,
}

/// The right to ask for sessions with one target: as long as it is held, those of its device are
/// kept.
pub(super) struct Lease<'p> {
    pool: &'p Pool,
    device: Rc<Device>,
    reach: &'p Reach<'p>,
}

impl Pool {
    /// A pool that keeps a session which nobody is known to come for at most for `idle`, and no longer than its target
    /// allows.
    pub(crate) fn keeping(idle: Duration) -> Self {
        Self {
            idle,
            ..Self::default()
        }
    }

    /// The targets of a run, each by its place: where several are in one, its sessions are kept until
    /// the last of them is [`done`](Expected::done).
    pub(crate) fn expect(&self, run: RunId, places: impl Iterator<Item = Place>) -> Expected<'_> {
        let mut counts = HashMap::new();
        for place in places {
            *counts.entry(place).or_insert(0) += 1;
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

    /// The right to ask for sessions with a target.
    pub(super) fn lease<'p>(&'p self, reach: &'p Reach<'p>) -> Lease<'p> {
        let mut devices = self.devices.borrow_mut();
        let device = devices.entry(reach.place);
        let device = Rc::clone(device.or_insert_with(|| Rc::new(Device::new(reach.terms.limit))));
        device.leases.set(device.leases.get() + 1);
        Lease {
            pool: self,
            device,
            reach,
        }
    }

    /// Looks after sessions that are idle: tests them, so that nothing takes them for dead, and
    /// closes those that were idle for too long, are broken, or that nobody can come for.
    pub(crate) async fn keep(&self, log: &dyn Sink) -> Infallible {
        loop {
            let _ = timeout(ROUND, std::future::pending::<()>()).await;
            let over = self.take_unwanted();
            let kept: Vec<_> = self.devices.borrow().values().cloned().collect();
            join(
                join_all(over.iter().map(|device| device.close(log))),
                join_all(kept.iter().map(|device| device.look_after(log))),
            )
            .await;
        }
    }

    /// Closes all sessions. Those that take too long are dropped.
    pub(crate) async fn close(&self, log: &dyn Sink) {
        let devices = self.devices.take();
        close_all(devices.values(), log).await;
    }

    /// Who was refused in a run may be let in in another.
    fn forget_refused(&self, run: RunId) {
        let devices = self.devices.borrow();
        devices
            .values()
            .for_each(|device| device.forget_refused(run));
    }

    /// The devices that nobody is known to come for, and whose sessions have been idle for long enough.
    fn take_unwanted(&self) -> Vec<Rc<Device>> {
        let (mut devices, coming) = (self.devices.borrow_mut(), self.coming.borrow());
        let unwanted = devices.extract_if(|place, device| {
            let runs = coming.get(place).into_iter().flatten();
            let nobody = runs.map(|(_, targets)| targets).sum::<usize>() == 0;
            device.leases.get() == 0 && nobody && device.is_idle_for(self.idle)
        });
        unwanted.map(|(_, device)| device).collect()
    }

    /// Closes the sessions of a place, if nobody but the target that asks can come for them.
    async fn release(&self, reach: &Reach<'_>, ctx: &Context<'_>) {
        let place = reach.place;
        let is_last = |device: &Device| {
            let coming = self.coming.borrow();
            let mut runs = coming.get(&place).into_iter().flatten();
            // Who asks is one of its run's.
            let nobody = runs.all(|(run, targets)| *run == reach.run && *targets <= 1);
            device.leases.get() == 0 && nobody && device.is_idle_for(self.idle)
        };
        let device = {
            let mut devices = self.devices.borrow_mut();
            if !devices.get(&place).is_some_and(|device| is_last(device)) {
                return;
            }
            devices.remove(&place)
        };
        if let Some(device) = device {
            device.close_with(ctx).await;
        }
    }
}

impl Expected<'_> {
    /// One target of the run is done; its place is asked for only where it matters.
    pub(crate) fn done(&self, place: impl FnOnce() -> Place) {
        if self.places.is_empty() {
            return;
        }
        let mut coming = self.pool.coming.borrow_mut();
        let count = coming
            .get_mut(&place())
            .and_then(|runs| runs.get_mut(&self.run));
        if let Some(count) = count {
            *count = count.saturating_sub(1);
        }
    }

    /// The run is over: closes the sessions that nobody can come for any more. Those that take too long are dropped.
    pub(crate) async fn end(self, run: &Run) {
        let pool = self.pool;
        drop(self);
        pool.forget_refused(run.id());
        let over = pool.take_unwanted();
        close_all(over.iter(), run.sink()).await;
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
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
    // What does not hear a goodbye ends with its connection.
    let _ = timeout(GOODBYE, all).await;
}

impl Lease<'_> {
    /// How the target is reached.
    pub(super) fn reach(&self) -> &Reach<'_> {
        self.reach
    }

    /// Waits for a turn with a session: first come, first served.
    pub(super) async fn turn(&self, access: Access) -> Turn<'_> {
        self.device.turn(self.reach, access).await
    }

    /// Gives the right back, and closes the sessions if nobody else can come for them.
    pub(super) async fn end(self, ctx: &Context<'_>) {
        let (pool, reach) = (self.pool, self.reach);
        drop(self);
        pool.release(reach, ctx).await;
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.device.leases.set(self.device.leases.get() - 1);
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
