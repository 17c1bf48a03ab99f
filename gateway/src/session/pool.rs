//! The pool: the one place that lends sessions with devices, within one process.
//!
//! A session is opened for one target and its credentials, and lent to one at a time; names in an
//! inventory that mean the same share it. Who may come again holds a [`Lease`]. A session that nobody
//! can come for any more is closed at once, so that a run over ten thousand targets holds open only
//! what it works on. Those that are idle are looked after by [`Pool::keep`], a future beside the
//! work: no process and no task of its own is behind it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

use devgate_transports::Context;
use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use tokio::time::timeout;

use super::Reach;
use super::device::{Access, Device, Turn};
use crate::inventory::Place;
use crate::voice::Voice;

/// How often idle sessions are looked after.
const ROUND: Duration = Duration::from_secs(1);

/// How long all sessions together may take to say goodbye when the pool is closed.
const GOODBYE: Duration = Duration::from_secs(5);

/// Lends sessions, for as long as its process lives.
#[derive(Default)]
pub(crate) struct Pool {
    devices: RefCell<HashMap<Place, Rc<Device>>>,
    /// How many targets of the run are still to be done, where several are in one place.
    coming: RefCell<HashMap<Place, usize>>,
}

/// The right to ask for sessions with one target: as long as it is held, those of its device are
/// kept.
pub(super) struct Lease<'p> {
    pool: &'p Pool,
    device: Rc<Device>,
    reach: &'p Reach<'p>,
}

impl Pool {
    /// The targets of a run, each by its place: where several are in one, its sessions are kept until
    /// the last of them is [`done`](Self::done).
    pub(crate) fn expect(&self, places: impl Iterator<Item = Place>) {
        let mut coming = HashMap::new();
        for place in places {
            *coming.entry(place).or_insert(0) += 1;
        }
        coming.retain(|_, count| *count > 1);
        coming.shrink_to_fit();
        self.coming.replace(coming);
    }

    /// One target of the run is done; its place is asked for only where it matters.
    pub(crate) fn done(&self, place: impl FnOnce() -> Place) {
        let mut coming = self.coming.borrow_mut();
        if coming.is_empty() {
            return;
        }
        let place = place();
        if let Some(count) = coming.get_mut(&place) {
            *count -= 1;
            if *count == 0 {
                coming.remove(&place);
            }
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
    pub(crate) async fn keep(&self, voice: &Voice) -> Infallible {
        loop {
            let _ = timeout(ROUND, std::future::pending::<()>()).await;
            let over = self.take_unwanted(|place, device| {
                device.leases.get() == 0 && !self.coming.borrow().contains_key(place)
            });
            let kept: Vec<_> = self.devices.borrow().values().cloned().collect();
            join(
                join_all(over.iter().map(|device| device.close(voice))),
                join_all(kept.iter().map(|device| device.look_after(voice))),
            )
            .await;
        }
    }

    /// Closes all sessions, and forgets who was refused: at the end of a run. Those that take too
    /// long are dropped.
    pub(crate) async fn close(&self, voice: &Voice) {
        self.coming.take();
        let devices = self.devices.take();
        let all = join_all(devices.values().map(|device| device.close(voice)));
        // What does not hear a goodbye ends with its connection.
        let _ = timeout(GOODBYE, all).await;
    }

    /// Does work that uses sessions, looks after them meanwhile, and closes all behind it: also when
    /// the work panics.
    pub(crate) async fn beside<T>(&self, voice: &Voice, work: impl Future<Output = T>) -> T {
        let outcome = tokio::select! {
            outcome = AssertUnwindSafe(work).catch_unwind() => outcome,
            never = self.keep(voice) => match never {},
        };
        self.close(voice).await;
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn take_unwanted(&self, is_unwanted: impl Fn(&Place, &Device) -> bool) -> Vec<Rc<Device>> {
        let mut devices = self.devices.borrow_mut();
        let unwanted = devices.extract_if(|place, device| is_unwanted(place, device));
        unwanted.map(|(_, device)| device).collect()
    }

    /// Closes the sessions of a place, if nobody but the target that asks can come for them.
    async fn release(&self, place: Place, ctx: &Context<'_>) {
        let is_last = |device: &Device| {
            let coming = self.coming.borrow().get(&place).copied();
            device.leases.get() == 0 && coming.is_none_or(|targets| targets <= 1)
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
        let (pool, place) = (self.pool, self.reach.place);
        drop(self);
        pool.release(place, ctx).await;
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
