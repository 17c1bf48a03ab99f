//! Resources: the state that a device has or should have, and the names that identify it.

use std::fmt;
use std::hash::{Hash, Hasher};

use schemars::JsonSchema;
use serde::Serialize;

use crate::Value;

/// The attributes of one resource, by name, in the order in which they were given.
///
/// With several namevars it also has its `title` (Resource API, "Resource implementation").
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    description = "The attributes of a resource, as its type has them",
    with = "serde_json::Map<String, serde_json::Value>"
)]
pub struct Resource(crate::Hash);

/// Identifies a resource within its type by the values of its namevars, and carries its title.
///
/// Two names are equal if their namevars are: titles are for people.
#[derive(Clone, Debug)]
pub struct Name {
    title: String,
    namevars: crate::Hash,
}

impl Resource {
    /// Creates a resource without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of an attribute.
    pub fn get(&self, attribute: &str) -> Option<&Value> {
        self.0.get(attribute)
    }

    /// Sets an attribute.
    pub fn set(&mut self, attribute: &str, value: Value) {
        self.0.insert(attribute, value);
    }

    /// Removes an attribute and returns its value.
    pub fn remove(&mut self, attribute: &str) -> Option<Value> {
        self.0.remove(attribute)
    }

    /// Iterates over the attributes and their values. Every attribute name is a text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0
            .iter()
            .filter_map(|(name, value)| Some((name.as_str()?, value)))
    }

    /// Iterates over the attributes and their mutable values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.0
            .iter_mut()
            .filter_map(|(name, value)| Some((name.as_str()?, value)))
    }

    /// Whether the resource is present: its `ensure` is missing, or is not `absent`.
    pub fn is_present(&self) -> bool {
        self.get("ensure").and_then(Value::as_str) != Some("absent")
    }
}

impl From<crate::Hash> for Resource {
    fn from(hash: crate::Hash) -> Self {
        Self(hash)
    }
}

impl Name {
    /// Creates a name from a title and the namevars that it stands for.
    pub fn new(title: impl Into<String>, namevars: crate::Hash) -> Self {
        Self {
            title: title.into(),
            namevars,
        }
    }

    /// Returns the title, which is for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the namevars and their values in the schema's order.
    pub fn namevars(&self) -> &crate::Hash {
        &self.namevars
    }

    /// Whether a resource has these namevars.
    pub fn names(&self, resource: &Resource) -> bool {
        self.namevars
            .iter()
            .all(|(key, value)| key.as_str().and_then(|key| resource.get(key)) == Some(value))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.namevars == other.namevars
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal names may list their namevars in different orders.
        let mut values: Vec<String> = self
            .namevars
            .iter()
            .map(|(_, value)| value.to_json().to_string())
            .collect();
        values.sort_unstable();
        values.hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_with_equal_namevars_are_one_whatever_their_titles_and_order() {
        let name = |title: &str, namevars: &[(&str, i64)]| {
            let namevars = namevars.iter().map(|&(key, value)| (key, value.into()));
            let mut hash = crate::Hash::new();
            namevars.for_each(|(key, value): (&str, Value)| {
                hash.insert(key, value);
            });
            Name::new(title, hash)
        };
        let names: HashSet<Name> = [
            name("one", &[("id", 1), ("unit", 2)]),
            name("two", &[("unit", 2), ("id", 1)]),
            name("one", &[("id", 2), ("unit", 1)]),
        ]
        .into();
        assert_eq!(names.len(), 2);
    }
}
