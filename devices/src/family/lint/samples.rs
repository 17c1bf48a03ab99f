//! What the values of cases and examples show: canonical forms that are not stable, and empty values that change
//! nothing.

use devgate_schemas::{Attribute, Behaviour, Hash, Name, Resource, TypeSchema, Value};

use super::Lint;
use super::cases::Case;
use crate::declared::DeclaredType;
use crate::file_node::FileNode;
use crate::{ResourceType, Result, SecretVisibility};

impl Lint<'_> {
    /// Tries the values of the type's cases and of its example.
    pub(super) fn values(&mut self, top: &FileNode<'_>, kind: &DeclaredType, cases: &[Case]) {
        let samples = self.samples(kind, cases);
        for sample in &samples {
            self.idempotent(top, kind, sample);
        }
        let schema = kind.schema();
        for (name, attribute) in schema.attributes() {
            let is_set = !matches!(
                attribute.behaviour,
                Behaviour::Namevar | Behaviour::ReadOnly
            );
            let Some(empty) = empty_value(attribute).filter(|_| is_set && name != "ensure") else {
                continue;
            };
            let mut with_value = samples.iter().filter(|sample| {
                let value = sample.get(name);
                value.is_some_and(|value| !is_empty(value)) && sample.is_present()
            });
            // One is enough: an attribute may count only together with others.
            let mut tried = with_value
                .by_ref()
                .map(|sample| clears(kind, sample, name, &empty));
            let first = tried.next();
            if first == Some(Some(false)) && !tried.any(|clears| clears != Some(false)) {
                let at = top.nearest(&["attributes".to_owned(), name.clone()]);
                let shown = empty.to_json();
                let message = format!(
                    "`{name}: {shown}` is permitted, but where the device has a value it changes nothing: type a line \
                     that clears it, or do not permit it"
                );
                self.found("clears-nothing", &at, message);
            }
        }
    }

    /// Canonical forms are those of themselves.
    fn idempotent(&mut self, top: &FileNode<'_>, kind: &DeclaredType, sample: &Resource) {
        let mut once = sample.clone();
        if !kind.canonical(&mut once).is_empty() {
            return;
        }
        let mut twice = once.clone();
        let problem = kind.canonical(&mut twice).into_iter().next();
        for (name, value) in once.iter() {
            if value.has_secret() || (problem.is_none() && twice.get(name) == Some(value)) {
                continue;
            }
            let at = top.nearest(&["canonicalize".to_owned(), name.to_owned()]);
            let (given, second) = (sample.get(name), twice.get(name));
            let [given, second] =
                [given, second].map(|value| value.map_or(serde_json::Value::Null, Value::to_json));
            let message = match &problem {
                Some(problem) if problem.attribute.as_deref() == Some(name) => format!(
                    "the canonical form of {given} has none itself: {}",
                    problem.message
                ),
                Some(_) => continue,
                None => format!(
                    "the canonical form of {given} is {}, and that of this {second}: make it the same",
                    value.to_json()
                ),
            };
            self.found("not-idempotent", &at, message);
        }
    }

    /// The resources in the type's cases and example, complete and with their namevars.
    fn samples(&self, kind: &DeclaredType, cases: &[Case]) -> Vec<Resource> {
        let schema = kind.schema();
        let example = schema.example();
        let mut samples = Vec::new();
        if example.open.is_empty() {
            samples.extend(desired(schema, &example.title, example.attributes));
        }
        let of_type = cases.iter();
        for case in of_type.filter(|case| case.type_name().as_deref() == Some(schema.name())) {
            let changes = case.file.top().get("changes");
            for change in changes.iter().flat_map(FileNode::items) {
                let title = change.get("title");
                let title = title
                    .and_then(|title| title.node().as_str())
                    .unwrap_or_default();
                for key in ["should", "is"] {
                    let Some(Value::Hash(values)) = change.get(key).map(|it| it.node().to_value())
                    else {
                        continue;
                    };
                    samples.extend(desired(schema, title, values));
                }
            }
            let path = format!("{}/resources.json", case.path);
            let text = self.family.folder.read(&path).unwrap_or_default();
            let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
            for row in rows {
                if let Value::Hash(row) = Value::from(row) {
                    samples.push(Resource::from(row));
                }
            }
        }
        samples
    }
}

/// A resource of a manifest; `None` if it is wrong, which the case's test reports. What is not set, such as a read-only
/// attribute of a present state, is left out.
fn desired(schema: &TypeSchema, title: &str, mut values: Hash) -> Option<Resource> {
    let read_only = schema.attributes().iter();
    for (name, _) in read_only.filter(|(_, it)| it.behaviour == Behaviour::ReadOnly) {
        values.remove(name);
    }
    schema
        .desire(Some(title), values)
        .ok()
        .map(|(_, resource)| resource)
}

/// The value that takes an optional attribute away, if it has one.
fn empty_value(attribute: &Attribute) -> Option<Value> {
    let text = attribute.data_type.to_string();
    let is_optional = attribute.check(&Value::Undef).is_ok() || text.contains("''");
    let unset = Value::from("unset");
    let mut empty = vec![Value::from(""), Value::Array(Vec::new())];
    if text.contains("unset") {
        empty.insert(0, unset);
    }
    let mut empty = empty.into_iter().filter(|_| is_optional);
    empty.find(|value| attribute.check(value).is_ok())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty() || text == "unset",
        Value::Array(items) => items.is_empty(),
        Value::Undef => true,
        _ => false,
    }
}

/// Whether an empty value changes what is sent for a resource that has one; `None` if it is refused.
fn clears(kind: &DeclaredType, sample: &Resource, name: &str, empty: &Value) -> Option<bool> {
    let lines = |should: Resource| -> Result<Vec<String>> {
        let namevars = kind.schema().namevars_of(sample);
        let named = Name::new("sample", namevars);
        let is: Hash = sample
            .iter()
            .filter(|(name, _)| *name != "title")
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let (named, change) = kind.canonical_change(&named, Some(is), should)?;
        kind.render(&named, &change, None, SecretVisibility::Redacted)
    };
    let mut cleared = sample.clone();
    cleared.set(name, empty.clone());
    let (unchanged, cleared) = (lines(sample.clone()).ok()?, lines(cleared).ok()?);
    Some(unchanged != cleared)
}
