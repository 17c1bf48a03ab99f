//! Turns at a device: limits the concurrent tasks on one device, over all runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use devgate_core::lock::locked;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::inventory::DeviceKey;

/// The devices on which tasks act or wait.
#[derive(Debug, Default)]
pub(crate) struct DeviceTurns(Mutex<HashMap<DeviceKey, Arc<Semaphore>>>);

/// The right to act on a device, until it is dropped.
#[derive(Debug)]
pub(crate) struct DeviceTurn<'t> {
    turns: &'t DeviceTurns,
    device_key: DeviceKey,
    /// The permit, until it is returned.
    permit: Option<OwnedSemaphorePermit>,
}

impl DeviceTurns {
    /// Waits for a turn at a device, in the order of the requests. `at_once` turns are possible at the same time; while
    /// there are turns, the number of the first request applies.
    pub(crate) async fn take(&self, device_key: DeviceKey, at_once: usize) -> DeviceTurn<'_> {
        let semaphore = Arc::clone(
            locked(&self.0)
                .entry(device_key)
                .or_insert_with(|| Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS)))),
        );
        // Created before the wait, so that a cancelled wait leaves nothing behind.
        let mut turn = DeviceTurn {
            turns: self,
            device_key,
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
        // Everyone who waits or acts has a reference.
        let is_last = |semaphore: &Arc<Semaphore>| Arc::strong_count(semaphore) == 1;
        if devices.get(&self.device_key).is_some_and(is_last) {
            devices.remove(&self.device_key);
        }
    }
}
