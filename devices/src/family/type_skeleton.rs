//! Skeletons of resource types, made of their attributes.

use std::borrow::Cow;

use devgate_schemas::{Hash, TypeSchema, Value};
use serde_json::{Value as Json, json};

use super::definition::Family;
use super::type_forms::Parts;
use crate::source::ProtocolKind;
use crate::{Error, Result};

/// A resource type as a table has it.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    /// The type's name.
    pub name: String,
    /// What it is; may be empty.
    pub desc: String,
    /// The attributes: the name, and `type`, `desc`, `behaviour`, `default` of each as far as it is known.
    pub attributes: Vec<(String, Json)>,
}

/// The default of the namevar of a type that has one resource.
const SINGLETON_NAMES: [&str; 2] = ["default", SINGLETON_NAME];

/// The name of the only resource of a type, if the table has no attribute that names it.
const SINGLETON_NAME: &str = "settings";

impl Family {
    /// The file of a type with these attributes, for a type of this family. It is valid, and says what to do next. A type
    /// without namevar and `ensure` has one resource.
    ///
    /// # Errors
    /// Fails when an attribute is wrong, or when there is no skeleton for the protocol.
    pub fn type_skeleton(&self, table: &TypeTable) -> Result<String> {
        let name = table.name.as_str();
        let has = |sought: &str| table.attributes.iter().any(|(name, _)| name == sought);
        let is_ensurable = has("ensure");
        let mut table = Cow::Borrowed(table);
        if namevars(&table).is_empty() && !is_ensurable && !has("name") {
            let named =
                json!({ "type": "String", "behaviour": "namevar", "default": SINGLETON_NAME });
            let attributes = &mut table.to_mut().attributes;
            attributes.insert(0, ("name".to_owned(), named));
        }
        let table = &*table;
        let singleton = match &namevars(table)[..] {
            [(named, attribute)] if *named == "name" && !is_ensurable => {
                let default = attribute["default"].as_str();
                default.filter(|name| SINGLETON_NAMES.contains(name))
            }
            _ => None,
        };
        let desc = match table.desc.as_str() {
            "" => format!("The resource {name}."),
            desc => desc.to_owned(),
        };
        let schema = schema(table, &desc)?;
        let prefix = format!("{}_", self.name());
        let word = name.strip_prefix(&prefix).unwrap_or(name).replace('_', " ");
        let parts = Parts {
            schema: &schema,
            word,
            singleton: singleton.map(str::to_owned),
        };
        let mut text = format!(
            "# Made of a table of attributes. Next steps: put in the command, the patterns and the lines of your device\n\
             # below, add an `example`, and write cases. `devgate family lint {}` says what is open.\n\
             name: {name}\ndesc: {}\n",
            self.name(),
            json!(desc)
        );
        if let Some(name) = &parts.singleton {
            text.push_str(&format!("singleton: {name}\n"));
        }
        text.push_str("attributes:\n");
        for (name, attribute) in &table.attributes {
            if parts.singleton.is_none() || name != "name" {
                text.push_str(&format!("  {name}: {}\n", definition(attribute)));
            }
        }
        if schema.namevars().len() > 1 {
            let groups = schema
                .namevars()
                .iter()
                .map(|name| format!(r"(?<{name}>\S+)"));
            let values = schema
                .namevars()
                .iter()
                .map(|name| format!("{{{{ {name} }}}}"));
            let [groups, values] = [groups.collect::<Vec<_>>(), values.collect()];
            let (groups, values) = (groups.join(" "), values.join(" "));
            text.push_str(&format!(
                "title_patterns: ['\\A{groups}\\z']\ntitle: '{values}'\n"
            ));
        }
        text.push_str(&match ProtocolKind::of(self.protocol()) {
            ProtocolKind::Commands | ProtocolKind::CommandApi => parts.cli(),
            ProtocolKind::Rest => parts.rest(),
            ProtocolKind::Netconf => parts.netconf(),
            ProtocolKind::Ovsdb => parts.ovsdb(),
            ProtocolKind::Panos => parts.panos(),
            ProtocolKind::ReadOnly => {
                return Err(Error::Unsupported(format!(
                    "`{}` only reads: there are no types over it",
                    self.protocol()
                )));
            }
        });
        Ok(text)
    }
}

/// The attributes that name a resource.
fn namevars(table: &TypeTable) -> Vec<(&str, &Json)> {
    let attributes = table.attributes.iter();
    let attributes = attributes.map(|(name, attribute)| (name.as_str(), attribute));
    attributes
        .filter(|(_, attribute)| attribute["behaviour"] == "namevar")
        .collect()
}

/// The schema, which reports what is wrong with the attributes.
fn schema(table: &TypeTable, desc: &str) -> Result<TypeSchema> {
    let mut attributes = Hash::new();
    for (name, attribute) in &table.attributes {
        attributes.insert(name.as_str(), Value::from(attribute.clone()));
    }
    let mut definition = Hash::new();
    definition.insert("name", Value::from(table.name.as_str()));
    definition.insert("desc", Value::from(desc));
    definition.insert("attributes", Value::Hash(attributes));
    if namevars(table).len() > 1 {
        let groups = namevars(table)
            .into_iter()
            .map(|(name, _)| format!(r"(?<{name}>\S+)"));
        let pattern = groups.collect::<Vec<_>>().join(" ");
        definition.insert("title_patterns", Value::Array(vec![Value::from(pattern)]));
    }
    TypeSchema::register(&Value::Hash(definition)).map_err(|problems| {
        let problems = problems.iter().map(|problem| problem.message.clone());
        Error::Unsupported(problems.collect::<Vec<_>>().join("\n"))
    })
}

/// An attribute's definition, in one line.
fn definition(attribute: &Json) -> String {
    let keys = ["type", "behaviour", "default", "sensitive", "desc"];
    let known = keys
        .into_iter()
        .filter_map(|key| Some((key, attribute.get(key)?)));
    let pairs = known.map(|(key, value)| format!("{key}: {value}"));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}
