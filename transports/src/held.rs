//! A process-wide limit for the bytes of incoming answers. Each protocol limits the answer of one target; this
//! limits those of all targets together.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Interruption;

/// The maximum number of bytes in all answers that are incomplete or not processed yet.
pub(crate) const MAX_HELD: usize = 512 << 20;

#[cfg(not(test))]
static TOTAL_HELD: AtomicUsize = AtomicUsize::new(0);

#[cfg(test)]
std::thread_local! {
    /// Each test has its own total.
    static TOTAL_HELD: AtomicUsize = const { AtomicUsize::new(0) };
}

/// The bytes held for one answer. Dropping this releases them.
#[derive(Debug, Default)]
pub(crate) struct HeldBytes(usize);

impl HeldBytes {
    /// Adds bytes.
    ///
    /// # Errors
    /// Fails when the process exceeds its limit. Then the bytes are not added.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Interruption> {
        with_total(|total| {
            if total.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_HELD {
                total.fetch_sub(bytes, Ordering::Relaxed);
                return Err(Interruption::TooMuchAtOnce(MAX_HELD));
            }
            self.0 += bytes;
            Ok(())
        })
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        with_total(|total| total.fetch_sub(self.0, Ordering::Relaxed));
    }
}

#[cfg(not(test))]
fn with_total<T>(f: impl FnOnce(&AtomicUsize) -> T) -> T {
    f(&TOTAL_HELD)
}

#[cfg(test)]
fn with_total<T>(f: impl FnOnce(&AtomicUsize) -> T) -> T {
    TOTAL_HELD.with(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_share_one_limit_and_release_their_bytes() {
        let (mut one, mut other) = (HeldBytes::default(), HeldBytes::default());
        assert_eq!(one.reserve(MAX_HELD - 1000), Ok(()));
        let exceeded = Err(Interruption::TooMuchAtOnce(MAX_HELD));
        assert_eq!(other.reserve(MAX_HELD / 2), exceeded);
        drop(one);
        assert_eq!(other.reserve(MAX_HELD / 2), Ok(()));
    }
}
