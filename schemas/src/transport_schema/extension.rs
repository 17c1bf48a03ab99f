//! Extends a schema: a family adds its own connection info to its protocol's.

use super::group::Group;
use super::schema::{TransportSchema, is_reserved};
use crate::attribute::ruby_class;
use crate::problem::DefinitionProblems;
use crate::{Attribute, Hash, Value};

impl TransportSchema {
    /// Returns the schema extended by a family's definition: `{connection_info, groups}`.
    ///
    /// New attributes are written as in every schema. For an existing attribute, a definition may set the
    /// `default`, the `desc` and a narrower `type`, but never `sensitive`, on which the protocol relies.
    /// New groups are appended.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the definition or contradicts this schema.
    pub fn extended(&self, definition: &Value) -> Result<Self, DefinitionProblems> {
        let mut problems = DefinitionProblems::default();
        let mut both = self.clone();
        let empty = Hash::new();
        let definition = definition.as_hash().unwrap_or(&empty);
        match definition.get("connection_info") {
            None => {}
            Some(Value::Hash(attributes)) => {
                for (key, attribute) in attributes.iter() {
                    let key = key.to_string();
                    let made = self.attribute(&key, attribute, &mut problems);
                    both.connection_info.extend(made.map(|made| (key, made)));
                }
            }
            Some(other) => {
                let class = ruby_class(other);
                let message = format!("`connection_info` must be a hash, not `{class}`");
                problems.add(&["connection_info"], message);
            }
        }
        if let Some(groups) = definition.get("groups") {
            both.add_groups(&Group::register_all(&self.name, groups, &mut problems));
        }
        if problems.is_empty() {
            for group in &both.groups {
                group.check(&self.name, &both.connection_info, &mut problems);
            }
        }
        problems.or(|| both)
    }

    /// Parses an attribute: a new one, or the extension of an existing one.
    fn attribute(
        &self,
        key: &str,
        said: &Value,
        problems: &mut DefinitionProblems,
    ) -> Option<Attribute> {
        let path = ["connection_info", key];
        let name = &self.name;
        if is_reserved(key) || Self::GATEWAYS.contains(&key) {
            let message =
                format!("`{name}.{key}` is reserved: inventories use `{key}` for something else");
            problems.add(&path, message);
        }
        let Some(base) = self.connection_info.get(key) else {
            return Attribute::register(name, "connection_info", key, said, problems);
        };
        let mut definition = said.as_hash().cloned();
        if let Some(definition) = &mut definition {
            for word in ["sensitive", "behaviour", "behavior", "compare"] {
                if definition.get(word).is_some() {
                    let message = format!(
                        "`{key}` is the protocol's: its `{word}` cannot be changed, only `default`, \
                         `desc` and a narrower `type`"
                    );
                    problems.add(&[path[0], path[1], word], message);
                    definition.remove(word);
                }
            }
            if definition.get("type").is_none() {
                definition.insert("type", Value::from(base.data_type.to_string()));
            }
            if base.sensitive {
                definition.insert("sensitive", Value::from(true));
            }
        }
        let definition = definition.map_or_else(|| said.clone(), Value::Hash);
        let mut made = Attribute::register(name, "connection_info", key, &definition, problems)?;
        if !base.data_type.covers(&made.data_type) {
            let message = format!(
                "`{}` admits what the protocol does not take as `{key}`: its type is `{}`, and a \
                 narrower one may be given",
                made.data_type, base.data_type
            );
            problems.add(&["connection_info", key, "type"], message);
        }
        if made.desc.is_empty() {
            made.desc.clone_from(&base.desc);
        }
        if let (None, Some(default)) = (&made.default, &base.default) {
            if made.check(default).is_err() {
                let message = format!(
                    "the protocol's default of `{key}` does not fit the type `{}`: give a `default`",
                    made.data_type
                );
                problems.add(&path, message);
            }
            made.default = Some(default.clone());
        }
        Some(made)
    }
}
