//! Facts about a target, under Facter's names.

use serde::Serialize;

use crate::{Hash, Key, Value};

/// The facts of a target: structured facts (`os.name` is a member of `os`) and the flat facts of device
/// modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Facts(Hash);

impl Facts {
    /// Creates an empty set of facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the fact at a dotted path and creates the intermediate hashes.
    ///
    /// A fact on the path that is not a hash is replaced.
    pub fn set(&mut self, path: &str, value: Value) {
        self.set_at(path.split('.'), value);
    }

    /// Sets the fact at a path whose parts may themselves contain dots.
    pub fn set_at<'p>(&mut self, path: impl IntoIterator<Item = &'p str>, value: Value) {
        let mut hash = &mut self.0;
        let mut path = path.into_iter().peekable();
        while let Some(part) = path.next() {
            if path.peek().is_none() {
                hash.insert(part, value);
                return;
            }
            if !matches!(hash.get(part), Some(Value::Hash(_))) {
                hash.insert(part, Value::Hash(Hash::new()));
            }
            let Some(Value::Hash(inner)) = hash.get_mut(&Key::from(part)) else {
                unreachable!("a hash stands there, or was put there")
            };
            hash = inner;
        }
    }

    /// Returns the fact at a dotted path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        let mut hash = &self.0;
        let mut rest = path;
        while let Some((head, tail)) = rest.split_once('.') {
            hash = hash.get(head)?.as_hash()?;
            rest = tail;
        }
        hash.get(rest)
    }

    /// Whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Converts the facts into a hash.
    pub fn into_hash(self) -> Hash {
        self.0
    }
}

impl From<Hash> for Facts {
    fn from(facts: Hash) -> Self {
        Self(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotted_path_leads_into_hashes() {
        let mut facts = Facts::new();
        facts.set("os.release.full", Value::from("8.4.4"));
        facts.set("os.name", Value::from("FRRouting"));
        facts.set("hostname", Value::from("d1"));
        assert_eq!(
            Value::Hash(facts.clone().into_hash()).to_json(),
            serde_json::json!({
                "os": {"release": {"full": "8.4.4"}, "name": "FRRouting"}, "hostname": "d1",
            })
        );
        assert_eq!(
            facts.get("os.release.full").and_then(Value::as_str),
            Some("8.4.4")
        );
        assert_eq!(facts.get("os.release.full.x"), None);
    }
}
