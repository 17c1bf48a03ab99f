//! Random numbers from a seed.

/// A generator (SplitMix64). The same seed gives the same numbers on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// Creates the generator of one try: tries do not depend on one another.
    pub(crate) fn of(seed: u64, subject: &str, number: usize) -> Self {
        // FNV-1a, so that each type has other numbers.
        let hashed = subject.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Self(seed ^ hashed);
        random.0 = random.next().wrapping_add(number as u64);
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number of this range, which includes both ends. Every third one is at or near an end.
    pub(crate) fn between(&mut self, from: i64, to: i64) -> i64 {
        let size = (i128::from(to) - i128::from(from) + 1) as u128;
        let offset = match self.next() % 6 {
            0 => 0,
            1 => size - 1,
            _ => u128::from(self.next()) % size,
        };
        (i128::from(from) + offset as i128) as i64
    }

    /// Returns a number below this one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Whether something happens that happens in so many cases of a hundred.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns one of these.
    pub(crate) fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
