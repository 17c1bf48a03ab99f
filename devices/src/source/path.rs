//! The path of a value in a document: `name`, `clock/timezone-name`, `records[]/content`.
//!
//! The parts between slashes are JSON keys, names of XML elements, or indexes of list items, counted from
//! 0; `@name` is an attribute of an XML element. The part after `[]` applies to each item, and the value is
//! then a list. An item without that value gives undef, so that lists from one place have the same length.
//! A list on the path without `[]` means its first item. In a key, `~1` is a slash.

use devgate_schemas::Value;

/// A path in a document.
#[derive(Debug)]
pub(super) struct Path(Vec<Part>);

#[derive(Debug)]
struct Part {
    name: String,
    /// Whether the part means each item.
    each: bool,
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// Fails with what is wrong with the path.
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

    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the value at the path; undef if there is none.
    pub(super) fn value(&self, document: &Value) -> Value {
        let value = at(document, &self.0);
        // The value of an XML element with attributes is its text.
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

/// Returns the rows of a value: the items of a list, or of the lists in it. A single value is one row, and
/// undef is no row.
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
