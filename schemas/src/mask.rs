//! Taking a run's secrets out of what comes back from devices and children.

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::{Key, REDACTED, Sensitive, Value};

/// From this many characters on, a secret is also replaced inside longer texts: a shorter one would
/// tear innocent words apart.
const INSIDE_FROM: usize = 6;

/// What stands in a longer text where a secret stood.
const STARS: &str = "********";

/// The secrets of one run, to be taken out of texts and values.
///
/// A whole text that equals a secret of any length is replaced; inside longer texts, secrets of six
/// characters and more are. Keys, numbers and the empty text stay.
#[derive(Clone, Default)]
pub struct Mask {
    secrets: Vec<Sensitive<String>>,
    /// What finds the long ones in a text: made when the first long text comes, for many masks never
    /// see one.
    inside: OnceLock<Option<AhoCorasick>>,
}

impl Mask {
    /// A mask for every text in these values.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut mask = Self::default();
        mask.add(secrets);
        mask
    }

    /// From now on also for every text in these values.
    pub fn add<'a>(&mut self, secrets: impl IntoIterator<Item = &'a Value>) {
        let known = self.secrets.len();
        for secret in secrets {
            self.collect(secret);
        }
        if self.secrets.len() > known {
            self.inside = OnceLock::new();
        }
    }

    fn inside(&self) -> Option<&AhoCorasick> {
        let make = || {
            let long = self.secrets.iter().map(Sensitive::reveal);
            let long: Vec<&String> = long
                .filter(|secret| secret.chars().count() >= INSIDE_FROM)
                .collect();
            if long.is_empty() {
                return None;
            }
            // Of two secrets that begin at one place the longer is taken, or its rest would show.
            // A mask is made for each target: the kind that is made fastest serves best.
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .match_kind(MatchKind::LeftmostLongest)
                .build(long)
                .ok()
        };
        self.inside.get_or_init(make).as_ref()
    }

    fn keep(&mut self, text: &str) {
        if !self.secrets.iter().any(|secret| secret.reveal() == text) {
            self.secrets.push(Sensitive::new(text.to_owned()));
        }
    }

    fn collect(&mut self, secret: &Value) {
        match secret {
            Value::String(text) if !text.is_empty() => {
                // A secret of several lines (a key) may come back a line at a time.
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

    /// A text without the secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.secrets.iter().any(|secret| secret.reveal() == text) {
            return Cow::Borrowed(REDACTED);
        }
        // Bytes are no fewer than characters.
        if text.len() < INSIDE_FROM {
            return Cow::Borrowed(text);
        }
        match self.inside() {
            Some(inside) if inside.is_match(text) => {
                let stars = vec![STARS; inside.patterns_len()];
                Cow::Owned(inside.replace_all(text, &stars))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// A value without the secrets.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => match self.text(&text) {
                Cow::Borrowed(same) if same == text => Value::String(text),
                masked => Value::String(masked.into_owned()),
            },
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.value(item)).collect())
            }
            Value::Hash(hash) => Value::Hash(
                hash.into_iter()
                    .map(|(key, value): (Key, _)| (key, self.value(value)))
                    .collect(),
            ),
            other => other,
        }
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask of {} secrets", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(secrets: &[&str]) -> Mask {
        let secrets: Vec<Value> = secrets
            .iter()
            .map(|&secret| Value::from(secret).into_sensitive())
            .collect();
        Mask::new(&secrets)
    }

    #[test]
    fn a_whole_text_is_replaced_at_any_length() {
        assert_eq!(mask(&["abc"]).text("abc"), REDACTED);
        assert_eq!(mask(&["abc"]).text("abcd"), "abcd");
    }

    #[test]
    fn a_long_secret_is_replaced_inside_texts_the_longest_first() {
        let mask = mask(&["canary", "canary-long"]);
        assert_eq!(
            mask.text("user me password canary-long!"),
            "user me password ********!"
        );
    }

    #[test]
    fn keys_numbers_and_empty_texts_stay() {
        let value = Value::from(serde_json::json!({"canary1": "canary1", "n": 123_456, "e": ""}));
        let masked = mask(&["canary1", "123456", ""]).value(value);
        assert_eq!(
            masked.to_json(),
            serde_json::json!({"canary1": REDACTED, "n": 123_456, "e": ""})
        );
    }

    #[test]
    fn the_lines_of_a_key_are_replaced_one_by_one() {
        let mask = mask(&["-----BEGIN-----\nAAAAcanaryAAAABBBBBBBB\n"]);
        assert_eq!(mask.text("> AAAAcanaryAAAABBBBBBBB"), "> ********");
    }
}
