//! Where in a document a value stands: `name`, `clock/timezone-name`, `records[]/content`.
//!
//! The parts between slashes are keys of JSON and names of XML elements, or numbers of a list's items,
//! from 0; `@name` is an attribute of an XML element. Behind `[]` is what each item has, and the value
//! is a list then, with nothing for an item that has it not: lists from one place have one length. A
//! list on the way without `[]` stands for its first item. In a key, `~1` is a slash.

use devgate_schemas::Value;

/// A path in a document.
#[derive(Debug)]
pub(super) struct Path(Vec<Part>);

#[derive(Debug)]
struct Part {
    name: String,
    /// Whether each of them is meant.
    each: bool,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let part = |part: &str| {
            let (name, each) = match part.strip_suffix("[]") {
                Some(name) => (name, true),
                None => (part, false),
            };
            if name.is_empty() {
                return Err(format!(
                    "`{text}` is no path: expected names between slashes, as `records[]/content`"
                ));
            }
            let name = name.replace("~1", "/");
            Ok(Part { name, each })
        };
        text.split('/')
            .map(part)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// How many parts it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What stands there; nothing where nothing does.
    pub(super) fn value(&self, document: &Value) -> Value {
        let value = at(document, &self.0);
        // An XML element with attributes is not only its text.
        match value
            .as_hash()
            .and_then(|hash| hash.get(devgate_transports::XML_TEXT))
        {
            Some(text) => text.clone(),
            None => value,
        }
    }
}

fn at(value: &Value, path: &[Part]) -> Value {
    let Some((part, rest)) = path.split_first() else {
        return value.clone();
    };
    let found = child(value, &part.name);
    if !part.each {
        return found.map_or(Value::Undef, |found| at(found, rest));
    }
    Value::Array(match found {
        None | Some(Value::Undef) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(|item| at(item, rest)).collect(),
        Some(one) => vec![at(one, rest)],
    })
}

fn child<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Hash(hash) => hash.get(name),
        Value::Array(items) => match name.parse::<usize>() {
            Ok(number) => items.get(number),
            Err(_) => child(items.first()?, name),
        },
        _ => None,
    }
}

/// The rows in what a path led to: the items of a list, or of the lists in it; a value by itself is
/// one row, and nothing is none.
pub(super) fn rows(value: Value) -> Vec<Value> {
    match value {
        Value::Undef => Vec::new(),
        Value::Array(items) => items.into_iter().flat_map(rows).collect(),
        one => vec![one],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn at(path: &str, document: Json) -> Json {
        let path = Path::read(path).expect("a path");
        path.value(&document.into()).to_json()
    }

    #[test]
    fn a_path_leads_through_keys_and_lists() {
        let zone = || json!({ "a/b": 1, "rrsets": [{ "name": "x", "ttl": 1 }, { "name": "y" }] });
        assert_eq!(at("a~1b", zone()), json!(1));
        assert_eq!(at("rrsets/1/name", zone()), json!("y"));
        assert_eq!(at("rrsets/name", zone()), json!("x"));
        assert_eq!(at("rrsets[]/name", zone()), json!(["x", "y"]));
        assert_eq!(at("rrsets[]/ttl", zone()), json!([1, null]));
        assert_eq!(at("nothing", zone()), json!(null));
        assert_eq!(at("nothing[]/name", zone()), json!([]));
        assert_eq!(at("rrsets[]", json!({ "rrsets": 7 })), json!([7]));
    }

    #[test]
    fn the_items_of_lists_are_rows() {
        let count = |value: Json| rows(value.into()).len();
        assert_eq!(
            [count(json!(null)), count(json!([])), count(json!({}))],
            [0, 0, 1]
        );
        assert_eq!(count(json!([[1, 2], [3], null])), 3);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["", "/a", "a//b", "[]", "a/"] {
            Path::read(text).expect_err(text);
        }
    }
}
