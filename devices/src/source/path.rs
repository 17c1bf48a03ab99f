//! The path of a value in a document: `name`, `clock/timezone-name`, `records[]/content`, `interfaces/*`.
//!
//! The parts between slashes are JSON keys, names of XML elements, or indexes of list items, counted from
//! 0; `@name` is an attribute of an XML element. In a key, `~1` is a slash. `*` means each member of an object,
//! or each child of an element.
//!
//! The path of rows leads to each item of the lists on it; `**` in it means any number of levels. The path of a value begins at a row: `.` is the row,
//! `..` what encloses it, and `@key` at its end is the key by which the value was reached. There, the part after
//! `[]` or `*` applies to each item, and the value is then a list. An item without that value gives undef, so that
//! lists from one place have the same length. A list without `[]` means its first item.

use devgate_schemas::Value;
use devgate_transports::XML_TEXT;

/// A path in a document.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// How many levels it goes up before its parts lead down.
    up: usize,
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq)]
enum Part {
    /// A key; with `each`, every item of its list.
    Name { name: String, each: bool },
    /// `*`
    Members,
    /// `**`
    Descendants,
    /// `@key`
    Key,
}

/// A value on the way through a document, and the key by which it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'d> {
    key: Option<&'d str>,
    value: &'d Value,
}

impl Path {
    /// Parses the path of rows.
    ///
    /// # Errors
    /// Fails with what is wrong with the path.
    pub(super) fn of_rows(text: &str) -> Result<Self, String> {
        let path = Self::read(text)?;
        if path.up > 0 || path.parts.is_empty() || path.parts.contains(&Part::Key) {
            return Err(format!(
                "`{text}` is no path of rows: `.`, `..` and `@key` belong into `values`"
            ));
        }
        Ok(path)
    }

    /// Parses the path of a value from the rows at a path.
    ///
    /// # Errors
    /// Fails with what is wrong with the path.
    pub(super) fn of_value(text: &str, rows: &Self) -> Result<Self, String> {
        let path = Self::read(text)?;
        if path.parts.contains(&Part::Descendants) {
            return Err(format!(
                "`{text}` is no path of a value: `**` belongs into `rows`"
            ));
        }
        if path.up > rows.parts.len() {
            return Err(format!(
                "`{text}` leads out of the answer: `rows` has {} levels",
                rows.parts.len()
            ));
        }
        Ok(path)
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut rest: Vec<&str> = text.split('/').collect();
        let up = rest.iter().take_while(|part| **part == "..").count();
        rest.drain(..up);
        if up == 0 && rest == ["."] {
            rest.clear();
        }
        let last = rest.len().saturating_sub(1);
        let part = |(number, part): (usize, &str)| match part {
            "*" => Ok(Part::Members),
            "**" if number < last => Ok(Part::Descendants),
            "**" => Err("a name follows `**`, as in `**/interface`"),
            "@key" if number == last => Ok(Part::Key),
            "@key" => Err("`@key` is the end of a path"),
            "." => Err("`.` stands alone"),
            ".." => Err("`..` stands at the beginning"),
            _ => {
                let (name, each) = match part.strip_suffix("[]") {
                    Some(name) => (name, true),
                    None => (part, false),
                };
                let is_name = !name.is_empty() && !name.starts_with('*');
                let name = name.replace("~1", "/");
                let part = is_name.then_some(Part::Name { name, each });
                part.ok_or("expected names between slashes, as `records[]/content`")
            }
        };
        let parts = rest.into_iter().enumerate().map(part);
        match parts.collect::<Result<_, _>>() {
            Ok(parts) => Ok(Self { up, parts }),
            Err(problem) => Err(format!("`{text}` is no path: {problem}")),
        }
    }

    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns the name at its end, if that is one.
    pub(super) fn last(&self) -> &str {
        match self.parts.last() {
            Some(Part::Name { name, .. }) => name,
            _ => "",
        }
    }

    /// Calls `found` for each row at the path, with the way to it. Undef is no row.
    pub(super) fn rows<'d>(&'d self, document: &'d Value, found: &mut dyn FnMut(&[Step<'d>])) {
        let top = Step {
            key: None,
            value: document,
        };
        walk(&self.parts, &mut vec![top], found);
    }

    /// Returns the value at the path from a row; undef if there is none.
    pub(super) fn value(&self, way: &[Step<'_>]) -> Value {
        let Some(from) = way.iter().rev().nth(self.up) else {
            return Value::Undef;
        };
        let value = at(*from, &self.parts);
        // The value of an XML element with attributes is its text.
        match value.as_hash().and_then(|hash| hash.get(XML_TEXT)) {
            Some(text) => text.clone(),
            None => value,
        }
    }
}

fn walk<'d>(parts: &'d [Part], way: &mut Vec<Step<'d>>, found: &mut dyn FnMut(&[Step<'d>])) {
    let Some(&here) = way.last() else { return };
    let mut down = |step: Step<'d>, parts: &'d [Part]| {
        way.push(step);
        walk(parts, way, found);
        way.pop();
    };
    match (here.value, parts) {
        (Value::Undef, _) => {}
        (Value::Array(items), parts) => {
            let index = match parts.first() {
                Some(Part::Name { name, .. }) => name.parse::<usize>().ok(),
                _ => None,
            };
            way.pop();
            match index {
                Some(index) => {
                    if let Some(value) = items.get(index) {
                        way.push(Step { value, ..here });
                        walk(&parts[1..], way, found);
                        way.pop();
                    }
                }
                None => {
                    for value in items {
                        way.push(Step { value, ..here });
                        walk(parts, way, found);
                        way.pop();
                    }
                }
            }
            way.push(here);
        }
        (_, []) => found(way),
        (_, [Part::Name { name, .. }, rest @ ..]) => {
            if let Some(step) = child(here.value, name) {
                down(step, rest);
            }
        }
        (_, [Part::Members, rest @ ..]) => {
            members(here.value).for_each(|member| down(member, rest));
        }
        (_, [Part::Descendants, rest @ ..]) => {
            members(here.value).for_each(|member| down(member, parts));
            walk(rest, way, found);
        }
        (_, [Part::Key, ..]) => {}
    }
}

fn at<'d>(here: Step<'d>, parts: &'d [Part]) -> Value {
    match parts {
        [] => here.value.clone(),
        [Part::Key, ..] => here.key.map_or(Value::Undef, Value::from),
        [Part::Name { name, each: false }, rest @ ..] => {
            child(here.value, name).map_or(Value::Undef, |found| at(found, rest))
        }
        [Part::Name { name, each: true }, rest @ ..] => {
            let found = child(here.value, name);
            let items = found.into_iter().flat_map(Step::items);
            Value::Array(items.map(|item| at(item, rest)).collect())
        }
        [Part::Members, rest @ ..] => {
            let found = members(here.value).flat_map(Step::items);
            Value::Array(found.map(|member| at(member, rest)).collect())
        }
        // Only in the path of rows.
        [Part::Descendants, ..] => Value::Undef,
    }
}

impl<'d> Step<'d> {
    /// The items of a list, each reached by the same key; a single value is one item, and undef is none.
    fn items(self) -> impl Iterator<Item = Self> {
        let items = match self.value {
            Value::Undef => &[],
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        items.iter().map(move |value| Self { value, ..self })
    }
}

fn child<'d>(value: &'d Value, name: &'d str) -> Option<Step<'d>> {
    match value {
        Value::Hash(hash) => hash.get(name).map(|value| Step {
            key: Some(name),
            value,
        }),
        Value::Array(items) => match name.parse::<usize>() {
            Ok(number) => items.get(number).map(|value| Step { key: None, value }),
            Err(_) => child(items.first()?, name),
        },
        _ => None,
    }
}

/// The members of an object or the children of an element, without its attributes and its text.
fn members(value: &Value) -> Box<dyn Iterator<Item = Step<'_>> + '_> {
    match value {
        Value::Hash(hash) => Box::new(hash.iter().filter_map(|(key, value)| {
            let key = key.as_str();
            let is_child = key.is_none_or(|key| !key.starts_with('@') && key != XML_TEXT);
            is_child.then_some(Step { key, value })
        })),
        Value::Array(items) => Box::new(items.iter().flat_map(members)),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn at(path: &str, document: Json) -> Json {
        let mut values = values("", path, document).into_iter();
        values.next().unwrap_or_default()
    }

    /// Returns the value at a path from each row.
    fn values(rows: &str, path: &str, document: Json) -> Vec<Json> {
        let rows = match rows {
            "" => Path::default(),
            rows => Path::of_rows(rows).expect("a path"),
        };
        let path = Path::of_value(path, &rows).expect("a path");
        let (document, mut found) = (Value::from(document), Vec::new());
        rows.rows(&document, &mut |way| found.push(path.value(way).to_json()));
        found
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
        assert_eq!(at(".", json!({ "@a": "b", "#text": "c" })), json!("c"));
    }

    #[test]
    fn the_items_of_lists_are_rows() {
        let count = |value: Json| values("", ".", value).len();
        assert_eq!(
            [count(json!(null)), count(json!([])), count(json!({}))],
            [0, 0, 1]
        );
        assert_eq!(count(json!([[1, 2], [3], null])), 3);
    }

    #[test]
    fn rows_are_in_every_list_and_know_what_encloses_them() {
        let interfaces = json!({ "interface": [
            { "name": "e1", "unit": [{ "name": 0 }, { "name": 1 }] },
            { "name": "e2", "unit": { "name": 7 } },
            { "name": "e3" },
        ]});
        let at = |path| values("interface/unit", path, interfaces.clone());
        assert_eq!(at("name"), [json!(0), json!(1), json!(7)]);
        assert_eq!(at("../name"), [json!("e1"), json!("e1"), json!("e2")]);
        assert_eq!(
            at("../../interface/2/name"),
            [json!("e3"), json!("e3"), json!("e3")]
        );
        assert_eq!(values("interface/1/unit", "name", interfaces), [json!(7)]);
    }

    #[test]
    fn members_of_any_name_are_rows_and_their_names_are_values() {
        let vrfs = json!({ "vrfs": { "red": { "routes": { "10.0.0.0/8": [{ "metric": 1 }, { "metric": 2 }] } },
                                     "blue": { "routes": {} } } });
        let at = |path| values("vrfs/*/routes/*", path, vrfs.clone());
        assert_eq!(at("@key"), [json!("10.0.0.0/8"), json!("10.0.0.0/8")]);
        assert_eq!(at("../../@key"), [json!("red"), json!("red")]);
        assert_eq!(at("metric"), [json!(1), json!(2)]);
        let host = json!({ "contents": { "@inactive": "inactive", "name": "any", "notice": "" } });
        assert_eq!(
            values("contents", "*/@key", host.clone()),
            [json!(["name", "notice"])]
        );
        assert_eq!(values("contents/*", ".", host), [json!("any"), json!("")]);
        let results = json!({ "results": { "item": [{ "system": { "model": "a" } }, { "system": { "model": "b" } }] } });
        assert_eq!(
            values("**/system", "model", results),
            [json!("a"), json!("b")]
        );
        assert_eq!(
            values("**/system", "model", json!({ "system": { "model": "c" } })),
            [json!("c")]
        );
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "", "/a", "a//b", "[]", "a/", "a/..", "./a", "@key/a", "*[]", "**", "**/a", "../a",
        ] {
            Path::of_value(text, &Path::default()).expect_err(text);
        }
        for text in [".", "..", "../a", "a/@key", "**"] {
            Path::of_rows(text).expect_err(text);
        }
    }
}
