//! Facts from data models that many servers have (RFC 7317, RFC 8525).

use devgate_schemas::{Facts, Value};
use serde_json::Value as Json;

use crate::xml::Element;

/// A resource, and the facts in its leaves.
pub(super) struct FactSource {
    /// The resource's path, as for `get`.
    pub(super) path: &'static str,
    /// The names of leaves, and their facts.
    pub(super) leaves: &'static [(&'static str, &'static str)],
}

pub(super) const FACT_SOURCES: &[FactSource] = &[
    FactSource {
        path: "ietf-system:system-state/platform",
        leaves: &[
            ("os-name", "os.name"),
            ("os-release", "os.release.full"),
            ("machine", "os.architecture"),
        ],
    },
    FactSource {
        path: "ietf-system:system/hostname",
        leaves: &[("hostname", "networking.hostname")],
    },
];

impl FactSource {
    /// Sets the facts in an answer, and returns the names of the missing ones.
    ///
    /// Some servers answer with the resource alone, others with all its ancestors.
    pub(super) fn set_facts(&self, answer: &str, facts: &mut Facts) -> Vec<&'static str> {
        let json: Option<Json> = serde_json::from_str(answer).ok();
        let xml = json.is_none().then(|| Element::read(answer)).flatten();
        let mut absent = Vec::new();
        for (leaf, fact) in self.leaves {
            let text = match (&json, &xml) {
                (Some(json), _) => leaf_of(json, leaf),
                (None, Some(xml)) => xml.find(leaf).map(|found| found.text.trim().to_owned()),
                (None, None) => None,
            };
            match text.filter(|text| !text.is_empty()) {
                Some(text) => facts.set(fact, Value::from(text)),
                None => absent.push(*fact),
            }
        }
        absent
    }
}

/// Returns the text of a leaf at any depth, with or without its module's name.
pub(super) fn leaf_of(json: &Json, leaf: &str) -> Option<String> {
    match json {
        Json::Object(members) => members.iter().find_map(|(name, value)| {
            let bare = name
                .rsplit_once(':')
                .map_or(name.as_str(), |(_, bare)| bare);
            match value {
                Json::String(text) if bare == leaf => Some(text.clone()),
                _ => leaf_of(value, leaf),
            }
        }),
        Json::Array(items) => items.iter().find_map(|item| leaf_of(item, leaf)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_in_every_form_of_an_answer() {
        for answer in [
            r#"{"ietf-system:platform": {"os-name": "Linux", "os-release": "6.1"}}"#,
            r#"{"ietf-system:system-state": {"platform": {"os-name": "Linux", "os-release": "6.1"}}}"#,
            "<platform xmlns='urn:x'><os-name>Linux</os-name><os-release>6.1</os-release></platform>",
        ] {
            let mut facts = Facts::new();
            let absent = FACT_SOURCES[0].set_facts(answer, &mut facts);
            assert_eq!(facts.get("os.name"), Some(&Value::from("Linux")));
            assert_eq!(facts.get("os.release.full"), Some(&Value::from("6.1")));
            assert_eq!(absent, ["os.architecture"]);
        }
    }
}
