//! Locks that are held for a few statements and never across a wait.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a lock guards, also after a panic of whoever held it: what is left of a run must still be
/// told and closed.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
