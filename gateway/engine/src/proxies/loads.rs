//! How many tasks run on each proxy, over all runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use crate::inventory::DeviceKey;
use devgate_core::lock::locked;

/// The proxies that some run knows.
#[derive(Debug, Default)]
pub(crate) struct ProxyLoads {
    proxies: Mutex<Proxies>,
    /// Wakes those who wait for room on one.
    changed: Arc<Notify>,
    /// How many have waited so far.
    tickets: AtomicU64,
}

#[derive(Debug, Default)]
struct Proxies {
    known: HashMap<DeviceKey, Weak<ProxyLoad>>,
    /// At this many, those that nobody has any more are taken out.
    many: usize,
}

/// How many tasks run on one proxy, and who waits for room there.
#[derive(Debug, Default)]
pub(crate) struct ProxyLoad {
    tasks: AtomicUsize,
    /// The tickets of those who wait, of each run one.
    queue: Mutex<BTreeSet<u64>>,
}

/// A place among those who wait for room on proxies, until it is dropped: first come, first served, whichever runs they
/// are of.
#[derive(Debug)]
pub(crate) struct Ticket {
    number: u64,
    /// Where it waits.
    queues: Mutex<Vec<Arc<ProxyLoad>>>,
    changed: Arc<Notify>,
}

impl ProxyLoads {
    /// The load of a proxy: one for all who ask, as long as somebody has it.
    pub(crate) fn of(&self, place: DeviceKey) -> Arc<ProxyLoad> {
        let mut proxies = locked(&self.proxies);
        if let Some(load) = proxies.known.get(&place).and_then(Weak::upgrade) {
            return load;
        }
        if proxies.known.len() >= proxies.many {
            proxies.known.retain(|_, load| load.strong_count() > 0);
            proxies.many = 2 * proxies.known.len() + 16;
        }
        let load = Arc::default();
        proxies.known.insert(place, Arc::downgrade(&load));
        load
    }

    /// A place behind all who wait now.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket {
            number: self.tickets.fetch_add(1, Ordering::Relaxed),
            queues: Mutex::default(),
            changed: self.changed(),
        }
    }

    /// What tells those who wait for room that something has changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }
}

impl ProxyLoad {
    /// How many tasks run there.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.load(Ordering::Relaxed)
    }

    /// One more runs there.
    pub(crate) fn add(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    /// One has ended.
    pub(crate) fn take_off(&self) {
        self.tasks.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Ticket {
    /// Waits for room on this proxy from now on; whether nobody came before who still waits for it.
    pub(crate) fn is_next_for(&self, load: &Arc<ProxyLoad>) -> bool {
        let mut queue = locked(&load.queue);
        if queue.insert(self.number) {
            locked(&self.queues).push(Arc::clone(load));
        }
        queue.first() == Some(&self.number)
    }

    /// Waits no more for room on this proxy: its run cannot use it.
    pub(crate) fn leave(&self, load: &Arc<ProxyLoad>) {
        locked(&self.queues).retain(|queue| !Arc::ptr_eq(queue, load));
        locked(&load.queue).remove(&self.number);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        for load in locked(&self.queues).drain(..) {
            locked(&load.queue).remove(&self.number);
        }
        // Who came behind may be the next now.
        self.changed.notify_waiters();
    }
}
