//! A process-wide limit for the bytes of incoming answers. Each protocol limits the answer of one target; this
//! limits those of all targets together.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Interruption;

/// The maximum number of bytes in all answers that are incomplete or not processed yet.
const MAX_HELD: usize = 512 << 20;

static TOTAL_HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes held for one answer. Dropping this releases them.
#[derive(Debug, Default)]
pub(crate) struct HeldBytes(usize);

impl HeldBytes {
    /// Adds bytes.
    ///
    /// # Errors
    /// Fails when the process exceeds its limit. Then the bytes are not added.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Interruption> {
        if TOTAL_HELD.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_HELD {
            TOTAL_HELD.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Interruption::TooMuchAtOnce(MAX_HELD));
        }
        self.0 += bytes;
        Ok(())
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        TOTAL_HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
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
