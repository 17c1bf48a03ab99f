//! Skeletons of resource types, made of their attributes.

use devgate_schemas::{Attribute, Behaviour, Hash, TypeSchema, Value};
use serde_json::{Value as Json, json};

use super::Family;
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
const SINGLETON_NAMES: [&str; 2] = ["default", "settings"];

/// What a skeleton is made of.
struct Parts<'t> {
    schema: &'t TypeSchema,
    /// The device's word for the type: its name without the family's.
    word: String,
    /// The name of the only resource.
    singleton: Option<String>,
}

impl Family {
    /// The file of a type with these attributes, for a type of this family. It is valid, and says what to do next.
    ///
    /// # Errors
    /// Fails when an attribute is wrong, or when there is no skeleton for the protocol.
    pub fn type_skeleton(&self, table: &TypeTable) -> Result<String> {
        let name = table.name.as_str();
        let is_ensurable = table.attributes.iter().any(|(name, _)| name == "ensure");
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
            ProtocolKind::Panos | ProtocolKind::ReadOnly => {
                return Err(Error::Unsupported(format!(
                    "there is no skeleton of types over `{}`: devices/README.md shows their form",
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

impl Parts<'_> {
    /// The attributes beside those that every resource of a family's kind has.
    fn settable(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        let attributes = self.schema.attributes().iter();
        let attributes = attributes.map(|(name, attribute)| (name.as_str(), attribute));
        attributes.filter(|(name, attribute)| {
            let is_fixed = matches!(
                attribute.behaviour,
                Behaviour::Namevar | Behaviour::ReadOnly
            );
            !is_fixed && *name != "ensure"
        })
    }

    /// The attributes that rows give.
    fn read(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        let attributes = self.schema.attributes().iter();
        let attributes = attributes.map(|(name, attribute)| (name.as_str(), attribute));
        attributes.filter(|(name, attribute)| {
            let is_named = attribute.behaviour == Behaviour::Namevar && self.singleton.is_some();
            let is_read = attribute.behaviour != Behaviour::Parameter;
            is_read && !is_named && *name != "ensure"
        })
    }

    fn names(&self) -> String {
        let namevars = self.schema.namevars().iter();
        let names: String = namevars.map(|name| format!(" {{{{ {name} }}}}")).collect();
        if self.singleton.is_some() {
            String::new()
        } else {
            names
        }
    }

    /// The rows' values, and the expressions of attributes over them.
    fn resource(&self) -> String {
        let pairs = self.read().map(|(name, attribute)| {
            let value = name.to_uppercase();
            if is_flag(attribute) {
                format!("{name}: {value} != ''")
            } else {
                format!("{name}: {value}")
            }
        });
        pairs.map(|pair| format!("      {pair}\n")).collect()
    }

    fn cli(&self) -> String {
        let word = &self.word;
        let (mut values, mut rules) = (String::new(), String::new());
        let indent = if self.singleton.is_some() { "" } else { " +" };
        let mut named = String::new();
        for (name, attribute) in self.read() {
            let (value, phrase) = (name.to_uppercase(), name.replace('_', " "));
            if attribute.behaviour == Behaviour::Namevar {
                values.push_str(&format!("      Value Required {value} (\\S+)\n"));
                named.push_str(&format!(" ${{{value}}}"));
                continue;
            }
            let (option, pattern) = match () {
                () if is_flag(attribute) => ("", phrase.as_str()),
                () if is_list(attribute) => ("List ", r"\S+"),
                () if attribute.check(&Value::from("x y")).is_ok() => ("", r"\S.*"),
                () if is_integer(attribute) => ("", r"\d+"),
                () => ("", r"\S+"),
            };
            values.push_str(&format!("      Value {option}{value} ({pattern})\n"));
            let phrase = if is_flag(attribute) {
                String::new()
            } else {
                format!("{phrase} ")
            };
            rules.push_str(&format!("        ^{indent}{phrase}${{{value}}}$$\n"));
        }
        let begin = if self.singleton.is_some() {
            String::new()
        } else {
            format!("        ^\\S -> Continue.Record\n        ^{word}{named}$$\n")
        };
        let mut text = format!(
            "cli:\n  get:\n    command: show running-config\n    textfsm: |\n{values}\n      Start\n{begin}{rules}    \
             resource:\n{}",
            self.resource()
        );
        let lines: String = self
            .settable()
            .map(|(name, attribute)| line(name, attribute))
            .collect();
        let names = self.names();
        match (lines.is_empty(), &self.singleton) {
            (true, _) => text.push_str(&format!("  create: {word}{names}\n")),
            (false, Some(_)) => text.push_str(&format!("  lines:\n{lines}")),
            (false, None) => text.push_str(&format!("  mode: {word}{names}\n  lines:\n{lines}")),
        }
        if self.schema.is_ensurable() {
            text.push_str(&format!("  delete: no {word}{names}\n"));
        }
        text
    }

    /// The source of rows of a protocol with data.
    fn source(&self, ask: &str) -> String {
        let values: Vec<String> = self
            .read()
            .map(|(name, _)| format!("{}: {}", name.to_uppercase(), name.replace('_', "-")))
            .collect();
        let resource = self.resource().replace(" != ''", "");
        format!(
            "  get:\n    ask: {ask}\n    values: {{ {} }}\n    resource:\n{resource}",
            values.join(", ")
        )
    }

    fn pairs(&self) -> String {
        let pairs = self
            .settable()
            .map(|(name, _)| format!("{}: {name}", name.replace('_', "-")));
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn rest(&self) -> String {
        let path = format!("/{}", self.word.replace(' ', "-"));
        let names = self.names().replace(' ', "").replace("}}{{", "}}/{{");
        let full = if names.is_empty() {
            path.clone()
        } else {
            format!("{path}/{names}")
        };
        let mut text = format!(
            "rest:\n{}  create: {{ method: PUT, path: '{full}', body: {{ {} }} }}\n",
            self.source(&path),
            self.pairs()
        );
        if self.schema.is_ensurable() {
            text.push_str(&format!("  delete: {{ method: DELETE, path: '{full}' }}\n"));
        }
        text
    }

    fn netconf(&self) -> String {
        let element = self.word.replace(' ', "-");
        let namevars = self
            .schema
            .namevars()
            .iter()
            .filter(|_| self.singleton.is_none());
        let named: String = namevars
            .map(|name| format!("<{name}>{{{{ {name} }}}}</{name}>"))
            .collect();
        let settings: String = self
            .settable()
            .map(|(name, _)| {
                let element = name.replace('_', "-");
                format!(
                    "    {{% if {name} is changed(is.{name}) %}}<{element}>{{{{ {name} }}}}</{element}>{{% endif %}}\n"
                )
            })
            .collect();
        let source = self.source(&format!("running <{element} xmlns=\"urn:example\"/>"));
        let source = source.replace(
            "    values:",
            &format!("    rows: {element}[]\n    values:"),
        );
        let mut text = format!(
            "netconf:\n{source}  create: |\n    <{element} xmlns=\"urn:example\">{named}\n{settings}    </{element}>\n"
        );
        if self.schema.is_ensurable() {
            text.push_str(&format!(
                "  delete: |\n    <{element} xmlns=\"urn:example\" nc:operation=\"delete\">{named}</{element}>\n"
            ));
        }
        text
    }

    fn ovsdb(&self) -> String {
        let table = self.word.replace(' ', "_");
        let namevars = self
            .schema
            .namevars()
            .iter()
            .filter(|_| self.singleton.is_none());
        let named: Vec<String> = namevars.map(|name| format!("{name}: {name}")).collect();
        let (named, pairs) = (named.join(", "), self.pairs());
        let all = [named.as_str(), &pairs]
            .into_iter()
            .filter(|text| !text.is_empty());
        let all = all.collect::<Vec<_>>().join(", ");
        let mut text = format!(
            "ovsdb:\n{}  create: {{ insert: {table}, row: {{ {all} }} }}\n  update: {{ update: {table}, where: {{ \
             {named} }}, row: {{ {pairs} }} }}\n",
            self.source(&table)
        );
        if self.schema.is_ensurable() {
            text.push_str(&format!(
                "  delete: {{ delete: {table}, where: {{ {named} }} }}\n"
            ));
        }
        text
    }
}

/// The lines of an attribute, in the short form.
fn line(name: &str, attribute: &Attribute) -> String {
    let phrase = name.replace('_', " ");
    match () {
        () if is_flag(attribute) => format!("    - {{ attribute: {name}, flag: {phrase} }}\n"),
        () if is_list(attribute) => {
            format!("    - {{ attribute: {name}, each: '{phrase} {{{{ item }}}}' }}\n")
        }
        () => format!(
            "    - {{ attribute: {name}, set: '{phrase} {{{{ value }}}}', clear: no {phrase} }}\n"
        ),
    }
}

fn is_flag(attribute: &Attribute) -> bool {
    attribute.check(&Value::Boolean(true)).is_ok() && attribute.check(&Value::from("x y")).is_err()
}

fn is_list(attribute: &Attribute) -> bool {
    attribute.check(&Value::Array(Vec::new())).is_ok()
}

fn is_integer(attribute: &Attribute) -> bool {
    attribute.data_type.to_string().contains("Integer")
}
