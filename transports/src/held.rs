//! How many bytes of answers this process holds while they come in: of one target's answer its protocol
//! knows the limit, of those of all targets only this.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Interruption;

/// So many bytes all answers may have that are being received, or not yet read.
const MOST: usize = 512 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);

/// What is held of one answer; it is given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    /// Holds more of it.
    ///
    /// # Errors
    /// That all of this process are too much: nothing more is held.
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
