//! The mark of a child: an environment variable that everything it starts inherits.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that marks a task and all its descendants. Its value is the task's mark, behind the marks of the tasks
/// in which this devgate runs.
pub(super) const MARK: &str = "DEVGATE_TASK";

/// Returns a unique mark.
pub(super) fn mark() -> String {
    static RUN: LazyLock<[u64; 2]> =
        LazyLock::new(|| [0, 1].map(|part| RandomState::new().hash_one(part)));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let [high, low] = *RUN;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{high:016x}{low:016x}-{count}.")
}

/// Returns the value of the variable for a child with this mark.
pub(super) fn marked(mark: &str) -> String {
    static OUTER: LazyLock<String> = LazyLock::new(|| std::env::var(MARK).unwrap_or_default());
    format!("{}{mark}", *OUTER)
}
