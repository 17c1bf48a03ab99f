//! Removes a run's secrets from the output of devices and child processes.
//!
//! A secret of [`INSIDE_FROM`] or more characters is hidden wherever it occurs. A shorter secret is hidden
//! where it is a whole word in text for people (log lines, errors, output), and where it is the whole value
//! of a member whose name indicates a secret (`password`). It stays in other data: a password `cisco` must
//! not hide the vendor of the device. Escaped and encoded forms in which servers echo a secret are hidden
//! too: see [`spelling`].
//!
//! Code that truncates a text puts [`CUT`] at its end. The beginning of a secret directly before that mark
//! is hidden too.

mod cut;
mod decoded;
mod finder;
mod spelling;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value as Json;

use crate::{Key, REDACTED, Value, is_secret_name};
use cut::cuts;
pub use cut::{CUT, shortened};
use decoded::{Decoded, MARKS};
use finder::{Finder, Stands};

/// Secrets of this many characters or more are hidden wherever they occur. Shorter ones would break up
/// innocent words.
const INSIDE_FROM: usize = 6;

/// Secrets of this many characters or more are hidden where they are a whole word.
const WORD_FROM: usize = 3;

/// The number of nested levels of escapes that are undone: a JSON text may contain JSON, HTML or a URL.
const MAX_DEPTH: usize = 2;

/// The replacement for a secret within a longer text.
const STARS: &str = "********";

/// Members of results that hold text for people, whatever their content.
const TEXTS: [&str; 8] = [
    "_error", "_output", "message", "msg", "output", "stderr", "stdout", "text",
];

/// The secrets of one target or of a whole run, which are removed from texts and data.
///
/// Numbers and the empty text are never hidden. The cost does not grow with the number of targets, whose
/// secrets are added and removed as targets come and go.
#[derive(Clone, Default)]
pub struct Mask(Finder);

/// The kind of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretPosition {
    /// Text for people, or the value of a member whose name indicates a secret.
    Text,
    /// A key, or any other value.
    Value,
}

impl Mask {
    /// Creates a mask that hides every text in these values.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut mask = Self::default();
        mask.add(secrets);
        mask
    }

    /// Also hides every text in these values.
    pub fn add<'a>(&mut self, secrets: impl IntoIterator<Item = &'a Value>) {
        secrets.into_iter().for_each(|secret| self.collect(secret));
    }

    /// Also hides everything that another mask hides.
    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// Stops hiding what a mask hides that has [merged](Self::merge), unless another merged mask hides it
    /// too.
    pub fn remove(&mut self, other: &Self) {
        self.0.remove(&other.0);
    }

    fn collect(&mut self, secret: &Value) {
        match secret {
            Value::String(text) if !text.is_empty() => {
                // A secret of several lines (a key) may be echoed one line at a time.
                self.keep(text);
                let lines = text.lines().filter(|line| line.chars().count() >= 16);
                lines.for_each(|line| self.keep(line));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Hash(hash) => hash.iter().for_each(|(_, value)| self.collect(value)),
            Value::Sensitive(secret) => self.collect(secret.reveal()),
            _ => {}
        }
    }

    fn keep(&mut self, text: &str) {
        let stands = match text.chars().count() {
            INSIDE_FROM.. => Stands::Anywhere,
            WORD_FROM.. => Stands::AsWord,
            _ => Stands::Whole,
        };
        for spelled in spelling::of(text) {
            self.0.add(&spelled, stands);
        }
        for spelled in spelling::in_base64(text) {
            self.0.add(&spelled, Stands::InBase64);
        }
    }

    /// Returns a text for people without the secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, SecretPosition::Text)
    }

    fn masked<'t>(&self, text: &'t str, place: SecretPosition) -> Cow<'t, str> {
        let (whole, inside) = match place {
            SecretPosition::Text => (Stands::Whole, Stands::AsWord),
            SecretPosition::Value => (Stands::InBase64, Stands::InBase64),
        };
        if self.0.complete(text).is_some_and(|stands| stands >= whole) {
            return Cow::Borrowed(REDACTED);
        }
        let places = self.places(text.as_bytes(), inside, MAX_DEPTH);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
        for place in places {
            // A place that includes a neighbouring character may begin before the end of the previous
            // place.
            if end > 0 && place.end <= end {
                continue;
            }
            masked.push_str(text.get(end..place.start).unwrap_or_default());
            masked.push_str(STARS);
            end = place.end;
        }
        masked.push_str(&text[end..]);
        Cow::Owned(masked)
    }

    /// Returns the places of secrets, escaped or not, from left to right.
    fn places(&self, text: &[u8], least: Stands, deepest: usize) -> Vec<Range<usize>> {
        let mut places = self.0.places(text, least);
        if least == Stands::AsWord {
            places.extend(cuts(text).filter_map(|cut| self.begun(&text[..cut])));
        }
        if deepest > 0 && !self.0.is_empty() {
            for decoded in MARKS.into_iter().filter_map(|mark| Decoded::of(text, mark)) {
                let there = self.places(&decoded.bytes, least, deepest - 1);
                places.extend(there.iter().map(|place| decoded.source(place)));
            }
        }
        places.sort_by_key(|place| place.start);
        places
    }

    /// Returns the place of a secret's beginning at the end of a truncated text, even within an escape.
    fn begun(&self, text: &[u8]) -> Option<Range<usize>> {
        let whole = self.0.begun(text);
        whole.or_else(|| {
            let from = text.len().saturating_sub(decoded::MAX_ESCAPE_LENGTH);
            let escape = text[from..].iter().rposition(|byte| MARKS.contains(byte))?;
            let begun = self.0.begun(&text[..from + escape])?;
            Some(begun.start..text.len())
        })
    }

    /// Returns JSON without the secrets, in keys and values. Everything else is unchanged, including
    /// numbers of any size.
    pub fn json(&self, json: Json) -> Json {
        let place = match json {
            Json::String(_) => SecretPosition::Text,
            _ => SecretPosition::Value,
        };
        self.json_at(json, place)
    }

    fn json_at(&self, json: Json, place: SecretPosition) -> Json {
        match json {
            Json::String(text) => Json::String(self.owned(text, place)),
            Json::Array(items) => {
                let items = items.into_iter();
                items.map(|item| self.json_at(item, place)).collect()
            }
            Json::Object(members) => {
                let mut masked = serde_json::Map::with_capacity(members.len());
                for (key, member) in members {
                    let member = self.json_at(member, place.of(&key));
                    let other = self.other_key(&key, |key| masked.contains_key(key));
                    masked.insert(other.unwrap_or(key), member);
                }
                Json::Object(masked)
            }
            other => other,
        }
    }

    /// Returns a value without the secrets, in keys and values.
    pub fn value(&self, value: Value) -> Value {
        let place = match value {
            Value::String(_) => SecretPosition::Text,
            _ => SecretPosition::Value,
        };
        self.value_at(value, place)
    }

    fn value_at(&self, value: Value, place: SecretPosition) -> Value {
        match value {
            Value::String(text) => Value::String(self.owned(text, place)),
            Value::Array(items) => {
                let items = items.into_iter();
                Value::Array(items.map(|item| self.value_at(item, place)).collect())
            }
            Value::Hash(hash) => {
                let mut masked = crate::Hash::new();
                for (key, member) in hash {
                    let (other, member) = match &key {
                        Key::String(key) => {
                            let member = self.value_at(member, place.of(key));
                            (self.other_key(key, |key| masked.get(key).is_some()), member)
                        }
                        Key::Integer(_) => (None, self.value_at(member, place)),
                    };
                    masked.insert(other.map_or(key, Key::from), member);
                }
                Value::Hash(masked)
            }
            other => other,
        }
    }

    fn owned(&self, text: String, place: SecretPosition) -> String {
        match self.masked(&text, place) {
            Cow::Borrowed(same) if same.len() == text.len() => text,
            masked => masked.into_owned(),
        }
    }

    /// Returns the key to use in place of one that contains secrets. Two keys that differ only in secrets stay distinct.
    fn other_key(&self, key: &str, is_taken: impl Fn(&str) -> bool) -> Option<String> {
        // The names of a result's members are devgate's own.
        if key.starts_with('_') || TEXTS.contains(&key) {
            return None;
        }
        let masked = self.masked(key, SecretPosition::Value);
        if !is_taken(&masked) {
            return (masked != key).then(|| masked.into_owned());
        }
        let mut numbered = (2_u64..).map(|number| format!("{masked} ({number})"));
        let free = numbered.find(|key| !is_taken(key));
        Some(free.expect("numbers do not end"))
    }
}

impl SecretPosition {
    /// Returns the kind of text that a member of this name holds.
    fn of(self, key: &str) -> Self {
        if self == Self::Text || TEXTS.contains(&key) || is_secret_name(key) {
            Self::Text
        } else {
            Self::Value
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask of {} texts", self.0.len())
    }
}
