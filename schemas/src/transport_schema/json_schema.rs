//! Converts a transport schema to JSON Schema (draft 2020-12).

use serde_json::{Map, Value as Json, json};

use super::group::{Group, Rule};
use super::schema::TransportSchema;
use crate::Attribute;
use crate::json_document::DRAFT;

/// Remarks about all connection info that no keyword can express.
const REMARKS: &str = "What a target's URI says (host, port, user, password, protocol) counts as \
                       given. Other keys are ignored, with a warning. `null` is not given; here \
                       leave such a key out, for `required` sees that it is there.";

impl TransportSchema {
    /// Returns the connection info as a JSON Schema.
    ///
    /// Secrets are `writeOnly`, and the Puppet data type of each attribute is its `$comment`. What JSON
    /// Schema cannot express is put into words.
    pub fn json_schema(&self) -> Json {
        let mut schema = json!({
            "$schema": DRAFT,
            "title": self.name,
            "description": self.desc,
            "$comment": REMARKS,
            "type": "object",
        });
        let info = self.connection_info.iter();
        schema["properties"] = info
            .map(|(name, one)| (name.clone(), property(one)))
            .collect::<Map<_, _>>()
            .into();
        let info = self.connection_info.iter();
        let required = info.filter(|(_, one)| one.is_mandatory() && one.default.is_none());
        schema["required"] = required.map(|(name, _)| name.as_str()).collect();
        if !self.groups.is_empty() {
            schema["allOf"] = self.groups.iter().map(group).collect();
        }
        schema
    }
}

fn property(attribute: &Attribute) -> Json {
    let mut schema = attribute.data_type.json_schema();
    if attribute.is_mandatory() && attribute.data_type.accepts_undef() {
        schema = json!({ "allOf": [schema, { "not": { "type": "null" } }] });
    }
    let mut description = vec![attribute.desc.clone()];
    description.extend(schema["description"].as_str().map(str::to_owned));
    if attribute.sensitive {
        schema["writeOnly"] = true.into();
    }
    match &attribute.default {
        Some(_) if attribute.sensitive => {
            description.push("It has a default, which is secret.".to_owned());
        }
        Some(default) => schema["default"] = default.to_json(),
        None => {}
    }
    description.retain(|text| !text.is_empty());
    schema["description"] = description.join("\n").into();
    schema["$comment"] = format!("Puppet data type: {}", attribute.data_type).into();
    schema
}

fn group(group: &Group) -> Json {
    let names = &group.members;
    let description = format!("Give {group}.");
    match group.rule {
        Rule::ExactlyOneOf => {
            let one = names.iter().map(|name| json!({ "required": [name] }));
            json!({ "description": description, "oneOf": one.collect::<Vec<_>>() })
        }
        Rule::AtMostOneOf => {
            let pairs = names.iter().enumerate().flat_map(|(at, one)| {
                let others = names[at + 1..].iter();
                others.map(move |other| json!({ "required": [one, other] }))
            });
            json!({ "description": description, "not": { "anyOf": pairs.collect::<Vec<_>>() } })
        }
        Rule::AllOrNoneOf => {
            let needs = names.iter().map(|name| {
                let others = names.iter().filter(|other| *other != name);
                (name.clone(), others.map(String::as_str).collect())
            });
            json!({
                "description": description,
                "dependentRequired": needs.collect::<Map<String, Json>>(),
            })
        }
    }
}
