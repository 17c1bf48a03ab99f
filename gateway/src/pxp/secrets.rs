//! Which members of an input or a configuration are secret: what the schema says (`writeOnly`, the format
//! `password`), and what a name says, because few modules' schemas say anything.

use devgate_schemas::Value;
use serde_json::{Map, Value as Json};

/// Words in the names of members that hold secrets.
const WORDS: [&str; 8] = [
    "password",
    "passphrase",
    "passwd",
    "secret",
    "token",
    "credential",
    "private_key",
    "community",
];

/// The values of the secret members of an object, and of the objects in it.
pub(super) fn of(members: &Map<String, Json>, schema: Option<&Json>) -> Vec<Value> {
    let mut secrets = Vec::new();
    for (name, value) in members {
        let schema = schema.and_then(|schema| schema.get("properties")?.get(name));
        if says_so(name) || schema.is_some_and(is_secret) {
            secrets.push(Value::from(value.clone()));
        } else {
            secrets.extend(inside(value, schema));
        }
    }
    secrets
}

fn inside(value: &Json, schema: Option<&Json>) -> Vec<Value> {
    match value {
        Json::Object(members) => of(members, schema),
        Json::Array(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            let items = items.iter();
            items.flat_map(|item| inside(item, schema)).collect()
        }
        _ => Vec::new(),
    }
}

fn says_so(name: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    WORDS.iter().any(|word| name.contains(word))
}

fn is_secret(schema: &Json) -> bool {
    schema["writeOnly"] == true || schema["format"] == "password"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_known_by_their_schema_or_by_their_name() {
        let schema = json!({"properties": {
            "pin": {"format": "password"},
            "list": {"items": {"properties": {"key": {"writeOnly": true}}}},
        }});
        let members = json!({
            "name": "plain",
            "pin": "one",
            "list": [{"key": "two", "name": "plain"}],
            "target": {"enable-Password": "three", "snmp": {"community": "four"}},
        });
        let Json::Object(members) = members else {
            panic!("it is an object");
        };
        let found = of(&members, Some(&schema));
        let expected = ["one", "two", "three", "four"].map(Value::from);
        assert_eq!(found, expected);
    }
}
