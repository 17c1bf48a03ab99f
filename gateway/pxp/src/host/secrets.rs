//! Which members of an input or a configuration are secret: by their schema (`writeOnly`, the format `password`), or by
//! their name, because few schemas of modules mark secrets.

use devgate_schemas::{Value, is_secret_name};
use serde_json::{Map, Value as Json};

/// The values of the secret members of an object, and of the objects in it. `schema` is the object's.
pub(super) fn of(members: &Map<String, Json>, schema: Option<&Json>) -> Vec<Value> {
    let all = Schemas {
        document: schema.unwrap_or(&Json::Null),
    };
    let mut secrets = Vec::new();
    all.members(members, &all.resolved(all.document), &mut secrets);
    secrets
}

/// The schemas of one document.
struct Schemas<'s> {
    document: &'s Json,
}

/// The maximum number of references to follow in a row.
const MAX_REFERENCES: usize = 16;

impl<'s> Schemas<'s> {
    fn members(&self, members: &Map<String, Json>, of: &[&'s Json], secrets: &mut Vec<Value>) {
        for (name, value) in members {
            let own = of.iter().flat_map(|schema| self.of_member(schema, name));
            let own: Vec<&Json> = own.collect();
            if is_secret_name(name) || own.iter().any(|schema| is_secret(schema)) {
                texts(value, secrets);
            } else {
                self.in_value(value, &own, secrets);
            }
        }
    }

    fn in_value(&self, value: &Json, of: &[&'s Json], secrets: &mut Vec<Value>) {
        match value {
            Json::Object(members) => self.members(members, of, secrets),
            Json::Array(items) => {
                let own = of.iter().flat_map(|schema| {
                    let keys = ["items", "prefixItems", "additionalItems"];
                    let items = keys.into_iter().filter_map(|key| schema.get(key));
                    items.flat_map(|items| match items {
                        Json::Array(several) => several.iter().collect(),
                        one => vec![one],
                    })
                });
                let own: Vec<&Json> = own.flat_map(|schema| self.resolved(schema)).collect();
                items
                    .iter()
                    .for_each(|item| self.in_value(item, &own, secrets));
            }
            _ => {}
        }
    }

    /// The schemas of a member. Patterns are not compared with its name: it is better to hide too much.
    fn of_member(&self, schema: &'s Json, name: &str) -> Vec<&'s Json> {
        let own = schema.get("properties").and_then(|own| own.get(name));
        let patterns = schema.get("patternProperties").and_then(Json::as_object);
        let others = patterns.into_iter().flat_map(Map::values);
        let others = others.chain(schema.get("additionalProperties"));
        let own = own.map_or_else(|| others.collect(), |own| vec![own]);
        own.into_iter().flat_map(|one| self.resolved(one)).collect()
    }

    /// A schema, and the schemas that it references or combines.
    fn resolved(&self, schema: &'s Json) -> Vec<&'s Json> {
        let mut found = Vec::new();
        self.resolve(schema, MAX_REFERENCES, &mut found);
        found
    }

    fn resolve(&self, schema: &'s Json, remaining: usize, found: &mut Vec<&'s Json>) {
        found.push(schema);
        let Some(remaining) = remaining.checked_sub(1) else {
            return;
        };
        let reference = schema.get("$ref").and_then(Json::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        if let Some(resolved) = pointer.and_then(|pointer| self.document.pointer(pointer))
            && !found.iter().any(|seen| std::ptr::eq(*seen, resolved))
        {
            self.resolve(resolved, remaining, found);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(key).and_then(Json::as_array);
            for part in parts.into_iter().flatten() {
                self.resolve(part, remaining, found);
            }
        }
    }
}

/// All texts in a secret value, for masking.
fn texts(value: &Json, secrets: &mut Vec<Value>) {
    match value {
        Json::String(_) => secrets.push(Value::from(value.clone())),
        Json::Number(number) => secrets.push(Value::from(number.to_string())),
        Json::Array(items) => items.iter().for_each(|item| texts(item, secrets)),
        Json::Object(members) => members.values().for_each(|member| texts(member, secrets)),
        Json::Null | Json::Bool(_) => {}
    }
}

fn is_secret(schema: &Json) -> bool {
    schema["writeOnly"] == true || schema["format"] == "password"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(members: Json, schema: &Json) -> Vec<Value> {
        match members {
            Json::Object(members) => of(&members, Some(schema)),
            _ => Vec::new(),
        }
    }

    #[test]
    fn secrets_are_known_by_their_schema_or_by_their_name() {
        let schema = json!({"properties": {
            "code": {"format": "password"},
            "list": {"items": {"properties": {"key": {"writeOnly": true}}}},
        }});
        let members = json!({
            "name": "plain",
            "code": "one",
            "list": [{"key": "two", "name": "plain"}],
            "target": {"enable-Password": ["three", 123_456], "snmp": {"community": "four"}},
        });
        let expected = ["one", "two", "three", "123456", "four"].map(Value::from);
        assert_eq!(found(members, &schema), expected);
    }

    #[test]
    fn schemas_are_followed_wherever_they_say_it() {
        let schema = json!({
            "definitions": {
                "hidden": {"writeOnly": true},
                "login": {"allOf": [{"properties": {"code": {"$ref": "#/definitions/hidden"}}}]},
                "round": {"$ref": "#/definitions/round"},
            },
            "properties": {
                "a": {"$ref": "#/definitions/login"},
                "b": {"additionalProperties": {"$ref": "#/definitions/hidden"}},
                "c": {"items": [{"type": "string"}, {"$ref": "#/definitions/login"}]},
                "d": {"$ref": "#/definitions/round"},
            },
            "patternProperties": {"^x": {"writeOnly": true}},
        });
        let members = json!({
            "a": {"code": "one"},
            "b": {"any": "two"},
            "c": ["plain", {"code": "three"}],
            "d": {"code": "plain"},
            "x1": "four",
        });
        let expected = ["one", "two", "three", "four"].map(Value::from);
        assert_eq!(found(members, &schema), expected);
    }
}
