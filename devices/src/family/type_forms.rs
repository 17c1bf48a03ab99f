//! The forms of changes in skeletons of resource types, one for each kind of protocol.

use devgate_schemas::{Attribute, Behaviour, TypeSchema, Value};
use serde_json::json;

/// What a skeleton is made of.
pub(super) struct Parts<'t> {
    pub(super) schema: &'t TypeSchema,
    /// The device's word for the type: its name without the family's.
    pub(super) word: String,
    /// The name of the only resource.
    pub(super) singleton: Option<String>,
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

    pub(super) fn cli(&self) -> String {
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

    pub(super) fn rest(&self) -> String {
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

    pub(super) fn panos(&self) -> String {
        let element = self.word.replace(' ', "-");
        let xpath = format!("/config/{element}");
        let name = self.schema.namevars().first();
        let name = name.map_or("name", String::as_str);
        let entry = format!("{xpath}/entry[@name='{{{{ {name} }}}}']");
        let settings: String = self
            .settable()
            .map(|(name, _)| {
                let element = name.replace('_', "-");
                format!("<{element}>{{{{ {name} }}}}</{element}>")
            })
            .collect();
        let source = self.source(&xpath);
        let source = source.replacen(
            &format!("{}: {}", name.to_uppercase(), name.replace('_', "-")),
            &format!("{}: '@name'", name.to_uppercase()),
            1,
        );
        let source = source.replacen(
            "    values:",
            &format!("    rows: result/{element}/entry\n    values:"),
            1,
        );
        let mut text = format!(
            "panos:\n{source}  create:\n    method: set\n    xpath: {}\n    element: {}\n",
            json!(entry),
            json!(settings)
        );
        if self.schema.is_ensurable() {
            text.push_str(&format!(
                "  delete: {{ method: delete, xpath: {} }}\n",
                json!(entry)
            ));
        }
        text
    }

    pub(super) fn netconf(&self) -> String {
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

    pub(super) fn ovsdb(&self) -> String {
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
