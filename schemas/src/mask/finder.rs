//! Finds any of many texts within a text: at each place the longest, from the left.
//!
//! Texts come and go with the targets of a run. They are kept in a sorted set without a derived automaton,
//! so adding and removing are cheap, and searching a line costs the same for any number of targets.

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::{Bound, Range};

use zeroize::Zeroizing;

/// The texts to find, with the number of holders of each.
#[derive(Clone)]
pub(super) struct Finder {
    texts: BTreeMap<Text, Held>,
    /// Filters of the beginnings of short and of long texts. They spare a lookup at most places of a line.
    short: Begins,
    long: Begins,
}

/// A hash filter of the first bytes of texts.
#[derive(Clone)]
struct Begins {
    /// The number of bytes that are hashed.
    length: usize,
    /// Empty until the first text is added.
    bits: Vec<u64>,
    texts: usize,
}

/// Where a text must occur to count as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stands {
    /// As the whole value.
    Whole,
    /// With no letter, digit or underscore beside it.
    AsWord,
    /// Inside Base64: the character on either side may hold some of its bits.
    InBase64,
    /// Anywhere.
    Anywhere,
}

#[derive(Clone, Copy)]
struct Held {
    stands: Stands,
    holders: usize,
}

#[derive(Clone, PartialEq, Eq)]
struct Text(Zeroizing<String>);

/// The minimum number of bits per text: about one place in sixteen is then looked up in vain.
const BITS: usize = 16;

/// The minimum number of bits of a filter.
const MIN_BITS: usize = 1 << 14;

/// The minimum length of a text that is searched for inside others.
const MIN_LENGTH: usize = 3;

/// The length in bytes from which a text is long.
const LONG_LENGTH: usize = 6;

/// The minimum number of bytes at a cut that count as the beginning of a text.
const MIN_PREFIX: usize = 4;

/// How far before a cut the beginning of a text may lie. The lines of keys and almost everything that
/// servers echo are shorter.
const MAX_PREFIX: usize = 4096;

impl Finder {
    /// Adds a text to find.
    pub(super) fn add(&mut self, text: &str, stands: Stands) {
        self.hold(Text(Zeroizing::new(text.to_owned())), stands);
    }

    fn hold(&mut self, text: Text, stands: Stands) {
        let begins = if text.0.len() < LONG_LENGTH {
            &mut self.short
        } else {
            &mut self.long
        };
        let held = match self.texts.entry(text) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(free) => {
                begins.note(free.key().borrow());
                free.insert(Held { stands, holders: 0 })
            }
        };
        held.stands = held.stands.max(stands);
        held.holders += 1;
        if begins.is_full() {
            begins.grow(&self.texts);
        }
    }

    /// Adds all texts of another finder.
    pub(super) fn merge(&mut self, other: &Self) {
        for (text, held) in &other.texts {
            self.hold(text.clone(), held.stands);
        }
    }

    /// Removes the texts of a finder that has [merged](Self::merge), unless another one holds them too.
    pub(super) fn remove(&mut self, other: &Self) {
        for text in other.texts.keys() {
            if let Entry::Occupied(mut held) = self.texts.entry(text.clone()) {
                held.get_mut().holders -= 1;
                if held.get().holders == 0 {
                    held.remove();
                }
            }
        }
        // Beginnings of removed texts stay in the filters. They cause needless lookups, but no wrong
        // results.
        if self.texts.is_empty() {
            *self = Self::default();
        }
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts to find inside others.
    pub(super) fn is_empty(&self) -> bool {
        self.short.bits.is_empty() && self.long.bits.is_empty()
    }

    /// Whether a text may begin here.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        self.short.may_be(bytes) || self.long.may_be(bytes)
    }

    /// Returns the place at the end of a truncated text that holds the beginning of one of the texts.
    pub(super) fn begun(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let last = bytes.len().checked_sub(MIN_PREFIX)?;
        if self.is_empty() {
            return None;
        }
        let mut starts = last.saturating_sub(MAX_PREFIX)..=last;
        starts.find_map(|at| {
            let rest = &bytes[at..];
            // The filter knows nothing about fewer bytes than a long text's hashed beginning.
            if rest.len() >= LONG_LENGTH && !self.may_begin(rest) {
                return None;
            }
            let range = (Bound::Included(rest), Bound::Unbounded);
            self.texts
                .range::<[u8], _>(range)
                .take_while(|(text, _)| {
                    let text: &[u8] = (*text).borrow();
                    text.starts_with(rest)
                })
                .find_map(|(_, held)| held.stands.place(bytes, at..bytes.len()))
        })
    }

    /// Returns where a text must occur, if it is one of the texts to find.
    pub(super) fn complete(&self, text: &str) -> Option<Stands> {
        self.texts.get(text.as_bytes()).map(|held| held.stands)
    }

    /// Returns the places of texts from left to right. Each text occurs as it must, and its requirement is
    /// at least `least`.
    pub(super) fn places(&self, bytes: &[u8], least: Stands) -> Vec<Range<usize>> {
        let (mut places, mut at) = (Vec::new(), 0);
        if self.is_empty() {
            return places;
        }
        while at + MIN_LENGTH <= bytes.len() {
            let may_begin = self.may_begin(&bytes[at..]);
            let place = may_begin.then(|| self.longest(bytes, at, least)).flatten();
            match place {
                Some(place) => {
                    at = place.end;
                    places.push(place);
                }
                None => at += 1,
            }
        }
        places
    }

    /// Returns the place of the longest text that begins here.
    fn longest(&self, bytes: &[u8], at: usize, least: Stands) -> Option<Range<usize>> {
        let mut rest = &bytes[at..];
        loop {
            let range = (Bound::Unbounded, Bound::Included(rest));
            let (text, held) = self.texts.range::<[u8], _>(range).next_back()?;
            let text: &[u8] = text.borrow();
            let same = text.iter().zip(rest).take_while(|(a, b)| a == b).count();
            // A text that sorts before the rest and is a prefix of it is at most as long as their common
            // prefix.
            if same < text.len() {
                rest = &rest[..same];
            } else if let Some(place) = held.stands.place(bytes, at..at + same)
                && held.stands >= least
            {
                return Some(place);
            } else {
                rest = &rest[..same - 1];
            }
            if rest.len() < MIN_LENGTH {
                return None;
            }
        }
    }
}

impl Stands {
    /// Returns the place to hide for an occurrence, or `None` if the text must not occur like this.
    fn place(self, bytes: &[u8], found: Range<usize>) -> Option<Range<usize>> {
        let before = bytes[..found.start].last();
        let behind = bytes.get(found.end);
        // A non-ASCII byte is part of a letter.
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        match self {
            Self::Whole => None,
            Self::AsWord if [before, behind].into_iter().flatten().any(is_word) => None,
            Self::AsWord | Self::Anywhere => Some(found),
            Self::InBase64 => {
                let before = usize::from(before.is_some_and(is_base64));
                let behind = usize::from(behind.is_some_and(is_base64));
                Some(found.start - before..found.end + behind)
            }
        }
    }
}

impl Default for Finder {
    fn default() -> Self {
        Self {
            texts: BTreeMap::new(),
            short: Begins::of(MIN_LENGTH),
            long: Begins::of(LONG_LENGTH),
        }
    }
}

impl Begins {
    fn of(length: usize) -> Self {
        Self {
            length,
            bits: Vec::new(),
            texts: 0,
        }
    }

    /// Returns the bit of a text, or `None` if the text is too short. The number of bits is a power of two.
    fn bit(&self, text: &[u8]) -> Option<usize> {
        let mut begin = [0; 8];
        begin[..self.length].copy_from_slice(text.get(..self.length)?);
        let hash = u64::from_le_bytes(begin).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some((hash >> 32) as usize & (self.bits.len() * 64 - 1))
    }

    fn may_be(&self, text: &[u8]) -> bool {
        !self.bits.is_empty() && {
            let bit = self.bit(text);
            bit.is_some_and(|bit| self.bits[bit / 64] & (1 << (bit % 64)) != 0)
        }
    }

    fn note(&mut self, text: &[u8]) {
        if text.len() < self.length {
            return;
        }
        if self.bits.is_empty() {
            self.bits.resize(MIN_BITS / 64, 0);
        }
        if let Some(bit) = self.bit(text) {
            self.bits[bit / 64] |= 1 << (bit % 64);
        }
        self.texts += 1;
    }

    fn is_full(&self) -> bool {
        self.texts * BITS > self.bits.len() * 64
    }

    /// Rebuilds the filter with room for twice as many texts, which drops the texts that were removed.
    fn grow(&mut self, texts: &BTreeMap<Text, Held>) {
        let is_long = self.length == LONG_LENGTH;
        let own = || {
            texts
                .keys()
                .filter(|text| (text.0.len() >= LONG_LENGTH) == is_long)
        };
        let bits = (2 * BITS * own().count()).next_power_of_two();
        let mut anew = Self::of(self.length);
        anew.bits.resize(bits.max(MIN_BITS) / 64, 0);
        own().for_each(|text| anew.note(text.borrow()));
        *self = anew;
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.as_bytes().cmp(other.0.as_bytes())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
