//! What a transport's `connection_info` may hold.

use indexmap::IndexMap;

use super::group::Group;
use crate::attribute::ruby_class;
use crate::problem::Problems;
use crate::{Attribute, Value, yaml};

/// What a transport's `connection_info` may hold (Resource API, "Transports", Schema).
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSchema {
    pub(super) name: String,
    pub(super) desc: String,
    pub(super) connection_info: IndexMap<String, Attribute>,
    pub(super) groups: Vec<Group>,
}

/// Keys that a schema must not define, because inventories use them for other things.
const RESERVED: [&str; 6] = [
    "implementations",
    "name",
    "path",
    "query",
    "remote-transport",
    "run-on",
];

impl TransportSchema {
    /// Options of a remote target that are the gateway's, whatever its transport: they limit the
    /// tasks that act on it, and the sessions with it.
    pub const GATEWAYS: [&str; 5] = [
        "concurrency",
        "output-limit",
        "session-idle",
        "session-limit",
        "task-timeout",
    ];

    /// Reads a schema's definition: `{name, desc, connection_info: {attribute: {type, …}}}`, and of
    /// ours `groups`: `[{exactly_one_of: [password, token]}]`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the Resource API gem's words where it has them. The
    /// words that inventories reserve are refused, which the document asks for and the gem does not.
    pub fn register(definition: &Value) -> Result<Self, Problems> {
        Self::of(definition, Attribute::register)
    }

    /// Reads a schema's definition that was written for Puppet. Like the gem it takes options of
    /// attributes that are not the document's.
    ///
    /// # Errors
    /// Those of [`register`](Self::register), but for unknown options.
    pub fn register_foreign(definition: &Value) -> Result<Self, Problems> {
        Self::of(definition, Attribute::read)
    }

    fn of(
        definition: &Value,
        attribute_of: fn(&str, &str, &str, &Value, &mut Problems) -> Option<Attribute>,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::default();
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
        // An attribute that is wrong itself would only be told once more.
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

    /// Reads a schema that is part of the program.
    ///
    /// # Panics
    /// If the text is no schema, which every test that starts the program would show.
    pub fn built_in(text: &str) -> Self {
        let definition = yaml::parse(text)
            .expect("a built-in schema is YAML")
            .to_value();
        Self::register(&definition).expect("a built-in schema is valid")
    }

    /// The same schema under another name and description: a family's, made of its protocol's.
    pub fn renamed(&self, name: &str, desc: &str) -> Self {
        Self {
            name: name.to_owned(),
            desc: desc.to_owned(),
            ..self.clone()
        }
    }

    /// The same schema with another's attributes behind its own: a protocol's, and what is done
    /// with it.
    pub fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (name, attribute) in &other.connection_info {
            let entry = both.connection_info.entry(name.clone());
            entry.or_insert_with(|| attribute.clone());
        }
        both.add_groups(&other.groups);
        both
    }

    /// The same schema with its attributes behind those of what it is built on, some of which it may
    /// define anew: a protocol's own settings, and how it is carried.
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

    /// The same schema with these of its attributes alone, and the groups that need no others.
    pub fn only(&self, names: &[&str]) -> Self {
        let mut some = self.clone();
        let is_named = |name: &String, _: &mut Attribute| names.contains(&name.as_str());
        some.connection_info.retain(is_named);
        some.groups.retain(|group| group.is_within(names));
        some
    }

    /// The transport's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the transport reaches.
    pub fn desc(&self) -> &str {
        &self.desc
    }

    /// The attributes in the schema's order.
    pub fn connection_info(&self) -> &IndexMap<String, Attribute> {
        &self.connection_info
    }

    /// Which of the attributes exclude each other, or belong together.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }
}

pub(super) fn is_reserved(key: &str) -> bool {
    RESERVED.contains(&key) || key.starts_with("remote-")
}
