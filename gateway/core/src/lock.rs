//! Locks that are held for a few statements and never across a wait.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even after a panic of its holder: the rest of a run must still be reported and closed.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
