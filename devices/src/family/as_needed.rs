//! A part of a family that is read when it is first needed: a run needs few of a family's facts and types.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use crate::Result;
use crate::file_node::Problems;

/// Something that is read when it is first needed, or was read before.
pub(super) struct AsNeeded<T>(LazyLock<T, Box<dyn FnOnce() -> T + Send + Sync>>);

impl<T: Send + Sync + 'static> AsNeeded<T> {
    /// What `read` reads of a built-in family.
    ///
    /// # Panics
    /// Panics, when it is needed, if there is a problem, which the tests of all families would reveal.
    pub(super) fn of_built_in(
        read: impl FnOnce(&mut Problems) -> Result<T> + Send + Sync + 'static,
    ) -> Self {
        Self(LazyLock::new(Box::new(|| {
            let mut problems = Problems::new();
            let part = read(&mut problems).expect("the files are built in");
            assert!(
                problems.is_empty(),
                "a built-in family is valid: {problems:?}"
            );
            part
        })))
    }
}

impl<T: Send + Sync + 'static> From<T> for AsNeeded<T> {
    fn from(value: T) -> Self {
        Self(LazyLock::new(Box::new(|| value)))
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
