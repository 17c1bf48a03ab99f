//! Transport schemas: what a transport's `connection_info` may hold, and the check of it.

mod connection_info;
mod extension;
mod group;
mod invalid;
mod json_schema;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use crate::attribute::{ruby_class, shown};
use crate::problem::Problems;
use crate::{Attribute, Hash, Level, Unread, Value, did_you_mean, yaml};

pub use connection_info::ConnectionInfo;
pub use group::{Group, Rule};
pub use invalid::InvalidConnectionInfo;

/// What a transport's `connection_info` may hold (Resource API, "Transports", Schema).
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSchema {
    name: String,
    desc: String,
    connection_info: IndexMap<String, Attribute>,
    groups: Vec<Group>,
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

/// Keys that inventories compute from a URI, whether the transport wants them or not.
const COMPUTED: [&str; 6] = ["uri", "host", "protocol", "user", "port", "password"];

/// What inventories call the way to all targets that have transports.
const REMOTE: &str = "remote";

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

    fn add_groups(&mut self, groups: &[Group]) {
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

    /// Makes checked connection info of a target's raw one: drops what is not the transport's,
    /// applies defaults, wraps secrets, then checks.
    ///
    /// `tell` hears what was dropped; one warning names all the keys that nobody knows.
    ///
    /// # Errors
    /// Every wrong and missing attribute, and every group that is broken. Secrets are not quoted.
    pub fn read(
        &self,
        raw: Unread,
        mut tell: impl FnMut(Level, String),
    ) -> Result<ConnectionInfo, InvalidConnectionInfo> {
        let mut unknown = Vec::new();
        let mut taken = self.taken(raw, &mut tell, &mut unknown);
        if !unknown.is_empty() {
            let named: Vec<String> = unknown
                .iter()
                .map(|key| {
                    let known = self.connection_info.keys().map(String::as_str);
                    format!("`{key}`{}", did_you_mean(key, known))
                })
                .collect();
            let message = format!(
                "`{}` does not know, and ignores: {}",
                self.name,
                named.join(", ")
            );
            tell(Level::Warning, message);
        }
        for (name, attribute) in &self.connection_info {
            if let (None, Some(default)) = (taken.info.get(name), &attribute.default) {
                taken.info.insert(name.as_str(), default.clone());
            }
        }
        self.check(&taken, &[]).map(|()| taken)
    }

    /// The secrets of a target's raw connection info, whether it fits or not.
    pub fn secrets(&self, raw: Unread) -> Vec<Value> {
        let info = self.taken(raw, &mut |_, _| {}, &mut Vec::new());
        info.secrets().cloned().collect()
    }

    /// Whether a target's raw connection info fits, as far as it is known: of the attributes in
    /// `open` nothing is.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn judge(&self, raw: Unread, open: &[String]) -> Result<(), InvalidConnectionInfo> {
        let info = self.taken(raw, &mut |_, _| {}, &mut Vec::new());
        self.check(&info, open)
    }

    /// What is the transport's of raw connection info, without defaults, its secrets wrapped; `unknown`
    /// gets the keys that nobody knows.
    fn taken(
        &self,
        raw: Unread,
        tell: &mut impl FnMut(Level, String),
        unknown: &mut Vec<String>,
    ) -> ConnectionInfo {
        let (mut info, mut hidden) = (Hash::new(), Hash::new());
        for (key, value) in raw.into_hash() {
            let name = key.to_string();
            if name == "protocol" && self.names_no_protocol(&value) {
                continue;
            }
            if let Some(attribute) = self.connection_info.get(&name) {
                let mut value = value;
                if value.has_secret() {
                    hidden.insert(key.clone(), value.clone().into_sensitive());
                    value = Value::from(value.reveal_json());
                }
                // Nothing is no secret: it must not pass for something that was given.
                if attribute.sensitive && !value.is_undef() {
                    hidden.remove(&name);
                    value = value.into_sensitive();
                }
                info.insert(key, value);
            } else if COMPUTED.contains(&name.as_str()) {
                tell(
                    Level::Debug,
                    format!("`{}` does not use `{name}`", self.name),
                );
            } else if !is_reserved(&name) && !Self::GATEWAYS.contains(&name.as_str()) {
                unknown.push(name);
            }
        }
        ConnectionInfo { info, hidden }
    }

    /// Whether what stands as `protocol` only says which transport is meant: inventories put a URI's
    /// scheme there, or `remote` where it has none, and many write `frr://192.0.2.1`.
    fn names_no_protocol(&self, protocol: &Value) -> bool {
        let attribute = self.connection_info.get("protocol");
        let is_taken = || attribute.is_some_and(|attribute| attribute.check(protocol).is_ok());
        match protocol.as_str() {
            Some(REMOTE) => true,
            Some(name) => name == self.name && !is_taken(),
            None => false,
        }
    }

    /// What a task gets as `_target`: all of a target's connection info, what the transport does
    /// not know included, with the schema's defaults, its secrets wrapped.
    pub fn target(&self, raw: Unread) -> Hash {
        let mut target = Hash::new();
        for (key, value) in raw.into_target() {
            let secret = self
                .connection_info
                .get(&key.to_string())
                .is_some_and(|a| a.sensitive);
            target.insert(
                key,
                if secret {
                    value.into_sensitive()
                } else {
                    value
                },
            );
        }
        for (name, attribute) in &self.connection_info {
            if let (None, Some(default)) = (target.get(name), &attribute.default) {
                target.insert(name.as_str(), default.clone());
            }
        }
        target
    }

    fn check(&self, info: &ConnectionInfo, open: &[String]) -> Result<(), InvalidConnectionInfo> {
        let groups = self.groups.iter().filter(|group| !group.names_any(open));
        let broken = groups.filter_map(|group| group.violation(info));
        let mut invalid = InvalidConnectionInfo {
            transport: self.name.clone(),
            mismatches: Vec::new(),
            missing: Vec::new(),
            broken: broken.collect(),
        };
        let ConnectionInfo { info, hidden } = info;
        for (key, value) in info.iter() {
            if open.iter().any(|open| key.as_str() == Some(open)) {
                continue;
            }
            let attribute = &self.connection_info[&key.to_string()];
            // What has an `@` may be a password in front of an address.
            let is_secret = attribute.sensitive
                || hidden.get(&key.to_string()).is_some()
                || value.as_str().is_some_and(|text| text.contains('@'));
            let verdict = if is_secret {
                attribute.check_secret(value)
            } else {
                attribute.check(value)
            };
            if let Err(violation) = verdict.map_err(|violation| attribute.taught(violation)) {
                invalid.mismatches.push(if is_secret {
                    format!("{key}: << redacted value >> {violation}")
                } else {
                    let from = if key.to_string() == "protocol" {
                        "; the scheme of a `uri` counts as `protocol`"
                    } else {
                        ""
                    };
                    format!("{key}: {} ({violation}{from})", shown(value))
                });
            }
        }
        for (name, attribute) in &self.connection_info {
            let is_given = || match info.get(name) {
                Some(value) => !value.is_undef(),
                None => attribute.default.is_some() || open.contains(name),
            };
            if attribute.is_mandatory() && !is_given() {
                invalid.missing.push(name.clone());
            }
        }
        if invalid.is_empty() {
            Ok(())
        } else {
            Err(invalid)
        }
    }
}

fn is_reserved(key: &str) -> bool {
    RESERVED.contains(&key) || key.starts_with("remote-")
}
