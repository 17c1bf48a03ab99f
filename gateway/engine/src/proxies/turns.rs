//! Turns at a device: tasks that act on the same device wait for each other, over all runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::inventory::DeviceKey;
use devgate_core::lock::locked;

/// The devices that somebody acts on, or waits for.
#[derive(Debug, Default)]
pub(crate) struct DeviceTurns(Mutex<HashMap<DeviceKey, Arc<Semaphore>>>);

/// The right to act on a device, until it is dropped.
#[derive(Debug)]
pub(crate) struct DeviceTurn<'t> {
    turns: &'t DeviceTurns,
    place: DeviceKey,
    /// There until it is given back.
    permit: Option<OwnedSemaphorePermit>,
}

impl DeviceTurns {
    /// Waits for a turn at a device, first come, first served. `at_once` can have one at a time; while there are
    /// others, what the first of them said counts.
    pub(crate) async fn take(&self, place: DeviceKey, at_once: usize) -> DeviceTurn<'_> {
        let semaphore = Arc::clone(
            locked(&self.0)
                .entry(place)
                .or_insert_with(|| Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS)))),
        );
        // There from here on: who stops waiting leaves nothing behind either.
        let mut turn = DeviceTurn {
            turns: self,
            place,
            permit: None,
        };
        let permit = semaphore.acquire_owned().await;
        turn.permit = Some(permit.expect("nobody closes the semaphores of devices"));
        turn
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        locked(&self.0).len()
    }
}

impl Drop for DeviceTurn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut devices = locked(&self.turns.0);
        // Each who waits or acts has one, too.
        let is_last = |semaphore: &Arc<Semaphore>| Arc::strong_count(semaphore) == 1;
        if devices.get(&self.place).is_some_and(is_last) {
            devices.remove(&self.place);
        }
    }
}
