//! Taking a run's secrets out of what comes back from devices and children.
//!
//! The rule: a secret of [`INSIDE_FROM`] characters and more is hidden wherever it stands. A shorter one
//! is hidden where it stands as a word in text for people (log lines, errors, output), and as the whole
//! value of a member whose name speaks of secrets (`password`); in other data it stays, for a password
//! `cisco` must not hide who made the device. What servers make of a secret when they echo it is hidden
//! as it is: see [`spelling`].
//!
//! What cuts a text puts [`CUT`] where the rest was: what a secret begins with is hidden before it, too.

mod cut;
mod decoded;
mod finder;
mod spelling;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value as Json;

use crate::{Key, REDACTED, Value, is_secret_name};
use cut::cuts;
pub use cut::{CUT, shortened};
use decoded::{Decoded, MARKS};
use finder::{Finder, Stands};

/// From this many characters on, a secret is hidden wherever it stands: a shorter one would tear
/// innocent words apart.
const INSIDE_FROM: usize = 6;

/// From this many characters on, a secret is hidden where it stands as a word.
const WORD_FROM: usize = 3;

/// So often escapes are undone: a text of JSON may hold one of JSON, HTML or an address.
const DEEPEST: usize = 2;

/// What stands in a longer text where a secret stood.
const STARS: &str = "********";

/// Members of results that hold text for people, whatever lies in them.
const TEXTS: [&str; 8] = [
    "_error", "_output", "message", "msg", "output", "stderr", "stdout", "text",
];

/// The secrets of one target or of a whole run, to be taken out of texts and data.
///
/// Numbers and the empty text stay. It costs no more with the secrets of many targets than with those
/// of one, and takes and forgets them as targets come and go.
#[derive(Clone, Default)]
pub struct Mask(Finder);

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Text for people, or what a name that speaks of secrets stands for.
    Text,
    /// A key, or any other value.
    Value,
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
        secrets.into_iter().for_each(|secret| self.collect(secret));
    }

    /// From now on also for what another mask hides.
    pub fn join(&mut self, other: &Self) {
        self.0.join(&other.0);
    }

    /// No more for what a mask hides that has [joined](Self::join), and that no other one hides.
    pub fn leave(&mut self, other: &Self) {
        self.0.leave(&other.0);
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

    /// A text for people without the secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, Place::Text)
    }

    fn masked<'t>(&self, text: &'t str, place: Place) -> Cow<'t, str> {
        let (whole, inside) = match place {
            Place::Text => (Stands::Whole, Stands::AsWord),
            Place::Value => (Stands::InBase64, Stands::InBase64),
        };
        if self.0.whole(text).is_some_and(|stands| stands >= whole) {
            return Cow::Borrowed(REDACTED);
        }
        let places = self.places(text.as_bytes(), inside, DEEPEST);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
        for place in places {
            // What hides a character beside it, too, may begin before the end of the last.
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

    /// Where secrets stand, whatever of them is escaped; from the left.
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

    /// What a secret begins with at the end of a text that was cut off there, be it within an escape.
    fn begun(&self, text: &[u8]) -> Option<Range<usize>> {
        let whole = self.0.begun(text);
        whole.or_else(|| {
            let from = text.len().saturating_sub(decoded::LONGEST);
            let escape = text[from..].iter().rposition(|byte| MARKS.contains(byte))?;
            let begun = self.0.begun(&text[..from + escape])?;
            Some(begun.start..text.len())
        })
    }

    /// JSON without the secrets, in keys and values; all else stays as it is, numbers of any size too.
    pub fn json(&self, json: Json) -> Json {
        let place = match json {
            Json::String(_) => Place::Text,
            _ => Place::Value,
        };
        self.json_at(json, place)
    }

    fn json_at(&self, json: Json, place: Place) -> Json {
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
                    let key = self.key(key, |key| masked.contains_key(key));
                    masked.insert(key, member);
                }
                Json::Object(masked)
            }
            other => other,
        }
    }

    /// A value without the secrets, in keys too.
    pub fn value(&self, value: Value) -> Value {
        let place = match value {
            Value::String(_) => Place::Text,
            _ => Place::Value,
        };
        self.value_at(value, place)
    }

    fn value_at(&self, value: Value, place: Place) -> Value {
        match value {
            Value::String(text) => Value::String(self.owned(text, place)),
            Value::Array(items) => {
                let items = items.into_iter();
                Value::Array(items.map(|item| self.value_at(item, place)).collect())
            }
            Value::Hash(hash) => {
                let mut masked = crate::Hash::new();
                for (key, member) in hash {
                    let (key, member) = match key {
                        Key::String(key) => {
                            let member = self.value_at(member, place.of(&key));
                            let key = self.key(key, |key| masked.get(key).is_some());
                            (Key::String(key), member)
                        }
                        Key::Integer(_) => (key, self.value_at(member, place)),
                    };
                    masked.insert(key, member);
                }
                Value::Hash(masked)
            }
            other => other,
        }
    }

    fn owned(&self, text: String, place: Place) -> String {
        match self.masked(&text, place) {
            Cow::Borrowed(same) if same.len() == text.len() => text,
            masked => masked.into_owned(),
        }
    }

    /// A key without the secrets: two keys that only these tell apart stay two.
    fn key(&self, key: String, is_taken: impl Fn(&str) -> bool) -> String {
        // The names of a result's parts are ours.
        if key.starts_with('_') || TEXTS.contains(&key.as_str()) {
            return key;
        }
        let masked = self.owned(key, Place::Value);
        if !is_taken(&masked) {
            return masked;
        }
        let mut numbered = (2_u64..).map(|number| format!("{masked} ({number})"));
        let free = numbered.find(|key| !is_taken(key));
        free.expect("numbers do not end")
    }
}

impl Place {
    /// What a member of this name is.
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

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Base64UrlUnpadded, Encoding};

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
        assert_eq!(mask(&["x"]).text("x"), REDACTED);
        assert_eq!(mask(&["abc"]).text("abc"), REDACTED);
        assert_eq!(mask(&["abc"]).text("abcd"), "abcd");
    }

    #[test]
    fn a_short_secret_is_replaced_in_text_where_it_stands_as_a_word() {
        let mask = mask(&["cisco", "x"]);
        for (text, masked) in [
            ("password cisco", "password ********"),
            (
                "cisco:cisco@r1, \"cisco\"",
                "********:********@r1, \"********\"",
            ),
            (
                "ciscos, Cisco, cisco_ios, xcisco",
                "ciscos, Cisco, cisco_ios, xcisco",
            ),
            ("\u{e9}cisco", "\u{e9}cisco"),
            ("x y", "x y"),
        ] {
            assert_eq!(mask.text(text), masked);
        }
    }

    #[test]
    fn a_short_secret_stays_in_data_but_under_a_name_that_speaks_of_secrets() {
        let facts = serde_json::json!({
            "os": {"vendor": "cisco", "title": "a cisco 2900", "cisco": 1},
            "login": {"password": "cisco", "secrets": ["cisco"]},
            "_error": {"msg": "cisco refused", "details": {"said": "no cisco"}},
            "_output": "cisco",
        });
        let masked = serde_json::json!({
            "os": {"vendor": "cisco", "title": "a cisco 2900", "cisco": 1},
            "login": {"password": REDACTED, "secrets": [REDACTED]},
            "_error": {"msg": "******** refused", "details": {"said": "no ********"}},
            "_output": REDACTED,
        });
        let mask = mask(&["cisco"]);
        assert_eq!(mask.json(facts.clone()), masked);
        assert_eq!(mask.value(Value::from(facts)).to_json(), masked);
    }

    #[test]
    fn what_a_secret_begins_with_is_replaced_where_a_text_was_cut() {
        let secret = "canary-w\u{f6}rd&1";
        let mask = mask(&[secret, "cisco"]);
        let percent = "canary-w%C3%B6rd%261";
        for whole in [secret, percent] {
            let ends = whole.char_indices().map(|(at, _)| at).filter(|at| *at >= 4);
            for begin in ends.map(|end| &whole[..end]) {
                let said = format!("it said `x{begin}...`; look");
                assert_eq!(mask.text(&said), "it said `x********...`; look");
                let long = format!("{}{begin}", "x".repeat(1 << 18));
                assert!(mask.text(&format!("{long}...")).ends_with("x********..."));
                assert_eq!(mask.text(&long), long);
            }
        }
        for (text, masked) in [
            ("can... canary.. cana", "can... canary.. cana"),
            ("cisc... xcisc...", "********... xcisc..."),
            ("cisco... cisco", "********... ********"),
        ] {
            assert_eq!(mask.text(text), masked);
        }
        let facts = serde_json::json!({"os": "canary..."});
        assert_eq!(mask.json(facts.clone()), facts);
    }

    #[test]
    fn secrets_in_keys_are_replaced_and_keys_stay_as_many() {
        let json = serde_json::json!({
            "canary1": 1, "canary2": 2, "a canary1": 3, REDACTED: 4, "b": {"canary1": 5},
        });
        let masked = serde_json::json!({
            REDACTED: 1, format!("{REDACTED} (2)"): 2, "a ********": 3, format!("{REDACTED} (3)"): 4,
            "b": {REDACTED: 5},
        });
        let mask = mask(&["canary1", "canary2"]);
        assert_eq!(mask.json(json.clone()), masked);
        assert_eq!(mask.value(Value::from(json)).to_json(), masked);
    }

    #[test]
    fn what_servers_make_of_a_secret_is_replaced() {
        let mask = mask(&["p&ss w'rd?/1\u{e4}"]);
        for text in [
            "p%26ss%20w%27rd%3F%2F1%C3%A4",
            "p%26ss%20w%27rd%3f%2f1%c3%a4",
            "p%26ss+w%27rd%3F%2F1%C3%A4",
            "p%26ss%20w'rd%3F%2F1%C3%A4",
            "p%26ss%20w%27rd%3F/1%C3%A4",
            r"p&ss w'\''rd?/1ä",
            "p&ss w'\"'\"'rd?/1ä",
            r"p\&ss\ w\'rd\?/1ä",
            "p&amp;ss w&#39;rd?/1ä",
            "p&amp;ss w'rd?/1ä",
            // Go, PHP, .NET, JavaScript's encodeURI, Python, and one in the other.
            r"p\u0026ss w'rd?/1ä",
            r"p&ss w'rd?\/1\u00e4",
            r"p\u0026ss w\u0027rd?/1\u00E4",
            "p&ss%20w'rd?/1%C3%A4",
            r"p&ss w\'rd?/1ä",
            r"p&ss w\'rd?/1\xe4",
            "p&#38;ss w&#39;rd?/1&#228;",
            "p&#x26;ss w&#039;rd&#x3F;&#x2F;1&#xE4;",
            r"p\u0026amp;ss w'rd?\/1ä",
            r"p&ss w'rd?\\\/1\\u00e4",
        ] {
            assert_eq!(mask.text(&format!("say {text}!")), "say ********!");
        }
    }

    #[test]
    fn a_secret_is_replaced_in_base64_with_whatever_stands_beside_it() {
        let secret = "canary?>secret";
        let mask = mask(&[secret]);
        for user in ["", "a:", "me:", "root:", "admin:", "operator:"] {
            for behind in ["", "!", "!!", "\"}"] {
                let text = format!("{user}{secret}{behind}");
                for coded in [
                    Base64::encode_string(text.as_bytes()),
                    Base64UrlUnpadded::encode_string(text.as_bytes()),
                ] {
                    let said = mask.text(&coded).into_owned();
                    assert!(said.contains("***") || said == REDACTED, "{text}: {said}");
                    // A character that holds bits of the secret and of its neighbour is gone, too.
                    let left = said.replace("********", "").replace('=', "");
                    let most = user.len() * 8 / 6 + (behind.len() * 8).div_ceil(6);
                    assert!(said == REDACTED || left.len() <= most, "{text}: {said}");
                }
            }
        }
        assert_eq!(self::mask(&["word"]).text("d29yZA"), "d29yZA");
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
    fn numbers_and_empty_texts_stay() {
        let value = Value::from(serde_json::json!({"n": 123_456, "e": ""}));
        let masked = mask(&["canary1", "123456", ""]).value(value);
        assert_eq!(masked.to_json(), serde_json::json!({"n": 123_456, "e": ""}));
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
        let text = r#"{"y":[18446744073709551615,1e300],"x":"a canary1"}"#;
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
