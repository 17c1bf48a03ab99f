//! The schema of a transport's `connection_info`.

use indexmap::IndexMap;

use super::group::Group;
use crate::attribute::ruby_class;
use crate::problem::DefinitionProblems;
use crate::{Attribute, Value, yaml};

/// The schema of a transport's `connection_info` (Resource API, "Transports", Schema).
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSchema {
    pub(super) name: String,
    pub(super) desc: String,
    pub(super) connection_info: IndexMap<String, Attribute>,
    pub(super) groups: Vec<Group>,
}

/// Keys that a schema must not define, because inventories use them for other purposes.
const RESERVED: [&str; 6] = [
    "implementations",
    "name",
    "path",
    "query",
    "remote-transport",
    "run-on",
];

impl TransportSchema {
    /// Options of a remote target that belong to the gateway, whatever the transport: they limit sessions
    /// with the target and tasks that act on it.
    pub const GATEWAYS: [&str; 5] = [
        "concurrency",
        "output-limit",
        "session-idle",
        "session-limit",
        "task-timeout",
    ];

    /// Parses a schema's definition: `{name, desc, connection_info: {attribute: {type, …}}}`, and devgate's
    /// extension `groups`: `[{exactly_one_of: [password, token]}]`.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the definition, in the Resource API gem's wording where the
    /// gem has one. Reserved words of inventories are refused: the specification asks for it, although the
    /// gem does not.
    pub fn register(definition: &Value) -> Result<Self, DefinitionProblems> {
        Self::of(definition, Attribute::register)
    }

    /// Parses a schema's definition that was written for Puppet. Like the gem, it accepts attribute options
    /// that the specification does not have.
    ///
    /// # Errors
    /// Fails as [`register`](Self::register) does, except for unknown options.
    pub fn register_foreign(definition: &Value) -> Result<Self, DefinitionProblems> {
        Self::of(definition, Attribute::read)
    }

    fn of(
        definition: &Value,
        attribute_of: fn(&str, &str, &str, &Value, &mut DefinitionProblems) -> Option<Attribute>,
    ) -> Result<Self, DefinitionProblems> {
        let mut problems = DefinitionProblems::default();
        let Value::Hash(definition) = definition else {
            let class = ruby_class(definition);
            problems.add(&[], format!("requires a hash as schema, not `{class}`"));
            return Err(problems);
        };
        let name = definition
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if name.is_empty() {
            problems.add(&["name"], "requires a `:name`");
        }
        let desc = definition
            .get("desc")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if desc.is_empty() {
            problems.add(&["desc"], "requires `:desc`");
        }
        let mut connection_info = IndexMap::new();
        match definition.get("connection_info") {
            None => problems.add(&[], "requires `:connection_info`"),
            Some(Value::Hash(attributes)) => {
                for (key, attribute) in attributes.iter() {
                    let key = key.to_string();
                    if is_reserved(&key) {
                        let message = format!(
                            "`{name}.{key}` is reserved: inventories use `{key}` for something else"
                        );
                        problems.add(&["connection_info", &key], message);
                    }
                    let attribute =
                        attribute_of(name, "connection_info", &key, attribute, &mut problems);
                    connection_info.extend(attribute.map(|attribute| (key, attribute)));
                }
            }
            Some(other) => {
                let class = ruby_class(other);
                let message = format!("`:connection_info` must be a hash, not `{class}`");
                problems.add(&["connection_info"], message);
            }
        }
        let mut groups = Vec::new();
        if let Some(definition) = definition.get("groups") {
            groups = Group::register_all(name, definition, &mut problems);
        }
        // An attribute that is wrong itself would only be reported a second time.
        if problems.is_empty() {
            for group in &groups {
                group.check(name, &connection_info, &mut problems);
            }
        }
        problems.or(|| Self {
            name: name.to_owned(),
            desc: desc.trim().to_owned(),
            connection_info,
            groups,
        })
    }

    /// Parses a schema that is part of the program.
    ///
    /// # Panics
    /// Panics if the text is not a schema, which any test that starts the program would reveal.
    pub fn built_in(text: &str) -> Self {
        let definition = yaml::parse(text)
            .expect("a built-in schema is YAML")
            .to_value();
        Self::register(&definition).expect("a built-in schema is valid")
    }

    /// Returns the schema under another name and description: a family's schema is based on its protocol's.
    pub fn renamed(&self, name: &str, desc: &str) -> Self {
        Self {
            name: name.to_owned(),
            desc: desc.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the schema with another schema's attributes appended: a protocol's schema, and then the
    /// schema of its use.
    pub fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (name, attribute) in &other.connection_info {
            let entry = both.connection_info.entry(name.clone());
            entry.or_insert_with(|| attribute.clone());
        }
        both.add_groups(&other.groups);
        both
    }

    /// Returns the schema with its attributes appended to those of the schema below it, some of which it
    /// may redefine: a protocol's own settings, and those of its carrier.
    pub fn on(&self, base: &Self) -> Self {
        let mut both = base.renamed(&self.name, &self.desc);
        let own = &self.connection_info;
        let own = own.iter().map(|(name, own)| (name.clone(), own.clone()));
        both.connection_info.extend(own);
        both.add_groups(&self.groups);
        both
    }

    pub(super) fn add_groups(&mut self, groups: &[Group]) {
        for group in groups {
            if !self.groups.contains(group) {
                self.groups.push(group.clone());
            }
        }
    }

    /// Returns the schema with only these attributes, and with the groups that need no others.
    pub fn only(&self, names: &[&str]) -> Self {
        let mut some = self.clone();
        let is_named = |name: &String, _: &mut Attribute| names.contains(&name.as_str());
        some.connection_info.retain(is_named);
        some.groups.retain(|group| group.is_within(names));
        some
    }

    /// Returns the transport's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the transport's description.
    pub fn desc(&self) -> &str {
        &self.desc
    }

    /// Returns the attributes in the schema's order.
    pub fn connection_info(&self) -> &IndexMap<String, Attribute> {
        &self.connection_info
    }

    /// Returns the groups of attributes that exclude each other or belong together.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }
}

pub(super) fn is_reserved(key: &str) -> bool {
    RESERVED.contains(&key) || key.starts_with("remote-")
}
