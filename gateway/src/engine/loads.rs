//! How many tasks run on each proxy, whichever runs they are of.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use crate::inventory::Place;
use crate::lock::locked;

/// The proxies that some run knows.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    proxies: Mutex<Proxies>,
    /// Wakes those who wait for room on one.
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Proxies {
    known: HashMap<Place, Weak<Load>>,
    /// At this many, those that nobody has any more are taken out.
    many: usize,
}

/// How many tasks run on one proxy.
#[derive(Debug, Default)]
pub(crate) struct Load(AtomicUsize);

impl Loads {
    /// The load of a proxy: one for all who ask, as long as somebody has it.
    pub(crate) fn of(&self, place: Place) -> Arc<Load> {
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

    /// What tells those who wait for room that something has changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }
}

impl Load {
    /// How many tasks run there.
    pub(crate) fn tasks(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One more runs there.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One has ended.
    pub(crate) fn take_off(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
