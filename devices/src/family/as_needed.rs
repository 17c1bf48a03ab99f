//! A part of a family that is read when it is first needed: a run needs few of a family's facts and types.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

/// Something that is read when it is first needed, or was read before.
pub(super) struct AsNeeded<T>(LazyLock<T, Box<dyn FnOnce() -> T + Send + Sync>>);

impl<T: Send + Sync + 'static> AsNeeded<T> {
    /// What `read` reads.
    pub(super) fn new(read: impl FnOnce() -> T + Send + Sync + 'static) -> Self {
        Self(LazyLock::new(Box::new(read)))
    }
}

impl<T: Send + Sync + 'static> From<T> for AsNeeded<T> {
    fn from(value: T) -> Self {
        Self::new(|| value)
    }
}

impl<T> Deref for AsNeeded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for AsNeeded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
