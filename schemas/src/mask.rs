//! Taking a run's secrets out of what comes back from devices and children.

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value as Json;

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

    /// Keeps a text, and how it is spelled inside a text of JSON: a program may print its whole input.
    fn keep(&mut self, text: &str) {
        self.keep_spelling(text);
        let spelled = Json::from(text).to_string();
        let spelled = &spelled[1..spelled.len() - 1];
        if spelled != text {
            self.keep_spelling(spelled);
        }
        if !text.is_ascii() {
            self.keep_spelling(&in_ascii(spelled));
        }
    }

    fn keep_spelling(&mut self, text: &str) {
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

    /// JSON without the secrets; all else stays as it is, numbers of any size too.
    pub fn json(&self, json: Json) -> Json {
        match json {
            Json::String(text) => match self.text(&text) {
                Cow::Borrowed(same) if same == text => Json::String(text),
                masked => Json::String(masked.into_owned()),
            },
            Json::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Json::Object(members) => {
                let members = members.into_iter();
                let masked = members.map(|(key, member)| (key, self.json(member)));
                Json::Object(masked.collect())
            }
            other => other,
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

/// Text of JSON with its other characters as `\u` escapes, as many programs print it.
fn in_ascii(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            spelled.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            spelled.push_str(&format!("\\u{unit:04x}"));
        }
    }
    spelled
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
    fn secrets_are_replaced_in_json_however_it_spells_them() {
        let mask = mask(&["pa\"ss\\word", "geheim\u{e4}\u{1f511}"]);
        for text in [
            r#"{"password": "pa\"ss\\word"}"#,
            r#"{"password": "geheim\u00e4\ud83d\udd11"}"#,
            "{\"password\": \"geheim\u{e4}\u{1f511}\"}",
        ] {
            assert_eq!(mask.text(text), r#"{"password": "********"}"#);
        }
    }

    #[test]
    fn json_keeps_what_is_no_secret_to_the_letter() {
        let text = r#"{"canary1":[18446744073709551615,1e300],"x":"a canary1"}"#;
        let json: Json = serde_json::from_str(text).expect("JSON");
        let masked = mask(&["canary1"]).json(json).to_string();
        assert!(masked.contains("18446744073709551615"), "{masked}");
        assert!(masked.ends_with(r#""x":"a ********"}"#), "{masked}");
    }

    #[test]
    fn the_lines_of_a_key_are_replaced_one_by_one() {
        let mask = mask(&["-----BEGIN-----\nAAAAcanaryAAAABBBBBBBB\n"]);
        assert_eq!(mask.text("> AAAAcanaryAAAABBBBBBBB"), "> ********");
    }
}
