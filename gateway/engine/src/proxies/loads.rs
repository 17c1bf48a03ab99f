//! The number of tasks on each proxy, over all runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use devgate_core::lock::locked;
use tokio::sync::Notify;

use crate::inventory::DeviceKey;

/// The loads of the proxies that runs use.
#[derive(Debug, Default)]
pub(crate) struct ProxyLoads {
    proxies: Mutex<Proxies>,
    /// Notifies those who wait for a slot.
    changed: Arc<Notify>,
    /// The number of the next ticket.
    tickets: AtomicU64,
}

#[derive(Debug, Default)]
struct Proxies {
    loads: HashMap<DeviceKey, Weak<ProxyLoad>>,
    /// When this many are known, those that are no longer in use are removed.
    prune_at: usize,
}

/// The number of tasks on one proxy, and the queue for its slots.
#[derive(Debug, Default)]
pub(crate) struct ProxyLoad {
    tasks: AtomicUsize,
    /// The tickets in the queue, one for each run.
    queue: Mutex<BTreeSet<u64>>,
}

/// A ticket in the queues for slots on proxies, until it is dropped. Tickets are served in their order, over all runs.
#[derive(Debug)]
pub(crate) struct Ticket {
    number: u64,
    /// The queues that contain the ticket.
    queues: Mutex<Vec<Arc<ProxyLoad>>>,
    changed: Arc<Notify>,
}

impl ProxyLoads {
    /// Returns the load of a proxy. It is shared as long as it is in use.
    pub(crate) fn load_of(&self, device_key: DeviceKey) -> Arc<ProxyLoad> {
        let mut proxies = locked(&self.proxies);
        if let Some(load) = proxies.loads.get(&device_key).and_then(Weak::upgrade) {
            return load;
        }
        if proxies.loads.len() >= proxies.prune_at {
            proxies.loads.retain(|_, load| load.strong_count() > 0);
            proxies.prune_at = 2 * proxies.loads.len() + 16;
        }
        let load = Arc::default();
        proxies.loads.insert(device_key, Arc::downgrade(&load));
        load
    }

    /// Returns a ticket behind all others.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket {
            number: self.tickets.fetch_add(1, Ordering::Relaxed),
            queues: Mutex::default(),
            changed: self.changed(),
        }
    }

    /// Returns the notification of changes.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }
}

impl ProxyLoad {
    /// Returns the number of tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.load(Ordering::Relaxed)
    }

    /// Adds a task.
    pub(crate) fn add(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a task.
    pub(crate) fn remove(&self) {
        self.tasks.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Ticket {
    /// Adds the ticket to the queue of a proxy. Returns whether it is the first.
    pub(crate) fn is_next_for(&self, load: &Arc<ProxyLoad>) -> bool {
        let mut queue = locked(&load.queue);
        if queue.insert(self.number) {
            locked(&self.queues).push(Arc::clone(load));
        }
        queue.first() == Some(&self.number)
    }

    /// Removes the ticket from the queue of a proxy, which the run cannot use.
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
        // The next ticket may be the first now.
        self.changed.notify_waiters();
    }
}
