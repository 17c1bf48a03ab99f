//! A process-wide limit for the bytes of incoming answers. Each protocol limits the answer of one target; this
//! limits those of all targets together.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Interruption;

/// The maximum number of bytes in all answers that are incomplete or not processed yet.
const MOST: usize = 512 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes held for one answer. Dropping this releases them.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    /// Adds bytes.
    ///
    /// # Errors
    /// Fails when the process exceeds its limit. Then the bytes are not added.
    pub(crate) fn more(&mut self, bytes: usize) -> Result<(), Interruption> {
        if HELD.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST {
            HELD.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Interruption::TooMuchAtOnce(MOST));
        }
        self.0 += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_share_what_the_process_holds_and_give_it_back() {
        let (mut one, mut other) = (Held::default(), Held::default());
        assert_eq!(one.more(MOST - 1000), Ok(()));
        let much = Err(Interruption::TooMuchAtOnce(MOST));
        assert_eq!(other.more(MOST / 2), much);
        drop(one);
        assert_eq!(other.more(MOST / 2), Ok(()));
    }
}
