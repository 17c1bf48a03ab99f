//! One object of a metadata file. It is read key by key, so that all problems are found at once.

use serde_json::{Map, Value as Json};

use super::key::Key;

/// The problems and warnings found while a metadata file is read.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// An object in a metadata file, with its place in the file.
pub(super) struct Section<'a> {
    pairs: &'a Map<String, Json>,
    path: String,
}

impl Findings {
    pub(super) fn problem(&mut self, place: &str, text: impl std::fmt::Display) {
        self.problems.push(format!("{place}: {text}"));
    }

    fn expected(&mut self, place: &str, expected: &str, found: &Json) {
        self.problem(
            place,
            format_args!("expected {expected}, got {}", kind(found)),
        );
    }
}

impl<'a> Section<'a> {
    /// Returns the whole file as a section. Returns `None` and adds a problem if it is not an object.
    pub(super) fn whole(json: &'a Json, findings: &mut Findings) -> Option<Self> {
        Self::at("metadata".to_owned(), json, findings).map(|section| Self {
            path: String::new(),
            ..section
        })
    }

    /// Returns the object at a place of the file. Returns `None` and adds a problem if it is not an object.
    fn at(path: String, json: &'a Json, findings: &mut Findings) -> Option<Self> {
        let pairs = json.as_object();
        if pairs.is_none() {
            findings.expected(&path, "an object", json);
        }
        pairs.map(|pairs| Self { pairs, path })
    }

    /// Returns the place of a key in the file.
    pub(super) fn place(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Warns of keys that the specification does not have: they may come from a later revision.
    pub(super) fn warn_unknown(&self, known: &[Key], findings: &mut Findings) {
        let is_known = |key: &str| known.iter().any(|known| known.name == key);
        for key in self.pairs.keys().filter(|key| !is_known(key)) {
            findings
                .warnings
                .push(format!("{}: unknown key, ignored", self.place(key)));
        }
    }

    /// Returns the value of a key; `null` counts as missing.
    pub(super) fn value(&self, key: &str) -> Option<&'a Json> {
        self.pairs.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, key: &str, findings: &mut Findings) -> Option<String> {
        self.read(key, "a string", findings, |json| {
            json.as_str().map(str::to_owned)
        })
    }

    pub(super) fn flag(&self, key: &str, findings: &mut Findings) -> Option<bool> {
        self.read(key, "true or false", findings, Json::as_bool)
    }

    pub(super) fn whole_number(&self, key: &str, findings: &mut Findings) -> Option<i64> {
        self.read(key, "a whole number", findings, Json::as_i64)
    }

    pub(super) fn object(&self, key: &str, findings: &mut Findings) -> Option<Map<String, Json>> {
        self.read(key, "an object", findings, |json| json.as_object().cloned())
    }

    /// Returns a list of texts; a missing list is empty.
    pub(super) fn texts(&self, key: &str, findings: &mut Findings) -> Vec<String> {
        let items = self.read(key, "a list of strings", findings, Json::as_array);
        let mut texts = Vec::new();
        for (index, item) in items.into_iter().flatten().enumerate() {
            match item.as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => {
                    findings.expected(&self.place(&format!("{key}[{index}]")), "a string", item)
                }
            }
        }
        texts
    }

    /// Returns the objects of a list, each with its place.
    pub(super) fn sections(&self, key: &str, findings: &mut Findings) -> Option<Vec<Self>> {
        let items = self.read(key, "a list of objects", findings, Json::as_array)?;
        let mut sections = Vec::new();
        for (index, item) in items.iter().enumerate() {
            sections.extend(Self::at(
                self.place(&format!("{key}[{index}]")),
                item,
                findings,
            ));
        }
        Some(sections)
    }

    /// Returns the objects of an object by name, each with its place.
    pub(super) fn named(&self, key: &str, findings: &mut Findings) -> Option<Vec<(&'a str, Self)>> {
        let pairs = self.read(key, "an object", findings, Json::as_object)?;
        let mut sections = Vec::new();
        for (name, item) in pairs {
            let section = Self::at(self.place(&format!("{key}.{name}")), item, findings);
            sections.extend(section.map(|section| (name.as_str(), section)));
        }
        Some(sections)
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        findings: &mut Findings,
        read: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Option<T> {
        let json = self.value(key)?;
        let value = read(json);
        if value.is_none() {
            findings.expected(&self.place(key), expected, json);
        }
        value
    }
}

/// Returns the kind of a value. The value itself is not shown, because it may be the default of a secret.
fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
