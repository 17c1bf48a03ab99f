//! What the types of a family do not say of themselves: `hints/<family>.yaml`.
//!
//! A hint is a text with `<kinds>` of random texts, a list of hints of which one is taken, `{ tuple: [hint, …] }`,
//! `{ items: hint, min: 0, max: 3 }`, or a plain value. A text is the hint for each item of an array. Nothing at all (`~`) leaves it
//! to the type.

use devgate_schemas::{Attribute, Behaviour, Hash, TypeSchema, Value, yaml};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::random::Random;
use crate::words::expanded;

/// What is known of one type.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hints {
    /// The hints for values of attributes.
    values: Map<String, Json>,
    /// Optional attributes that every resource has.
    always: Vec<String>,
    /// Attributes that occur together: of each group, one alternative is taken. An attribute with `?` may be missing.
    groups: Vec<Vec<Map<String, Json>>>,
    /// Attributes that are made of others: `{access_list} {entry}`. Those do not change, either.
    made: Map<String, Json>,
    /// Attributes that cannot change.
    fixed: Vec<String>,
    /// An attribute that only occurs together with another one.
    needs: Map<String, Json>,
    /// Attributes that cannot be managed on the device, each with the reason.
    without: Map<String, Json>,
    /// Attributes that a change of others takes away or changes, each with the reason.
    pub(crate) moves: Map<String, Json>,
    /// Attributes that the device does not tell, each with the reason.
    pub(crate) unread: Map<String, Json>,
    /// Why there is only one at a time.
    pub(crate) alone: Option<String>,
    /// The beginnings of titles of what cannot be deleted, each with the reason.
    pub(crate) stays: Map<String, Json>,
    /// Why the type is not tried.
    pub(crate) skip: Option<String>,
}

/// Desired attributes, and which alternatives were taken.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) attributes: Map<String, Json>,
    taken: Vec<usize>,
}

impl Hints {
    /// Makes a resource with the identity of another one, if there is such.
    pub(crate) fn sample(
        &self,
        schema: &TypeSchema,
        like: Option<&Sample>,
        random: &mut Random,
    ) -> Sample {
        let mut attributes = Map::new();
        let mut taken = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let identifies = group
                .iter()
                .flat_map(Map::keys)
                .any(|name| self.identifies(schema, name.trim_end_matches('?')));
            let choice = match like {
                Some(like) if identifies => like.taken[number],
                _ => random.below(group.len()),
            };
            taken.push(choice);
            for (name, hint) in &group[choice] {
                let bare = name.trim_end_matches('?');
                if bare == name || random.percent(60) {
                    let attribute = &schema.attributes()[bare];
                    attributes.insert(bare.to_owned(), value(attribute, Some(hint), random));
                }
            }
        }
        let in_group = |name: &str| {
            let mut names = self.groups.iter().flatten().flat_map(Map::keys);
            names.any(|other| other.trim_end_matches('?') == name)
        };
        for (name, attribute) in schema.attributes() {
            let is_open = attribute.data_type.accepts_undef() || attribute.default.is_some();
            if name == "ensure" {
                attributes.insert(name.clone(), json!("present"));
                continue;
            }
            let is_settled = attribute.default.is_some() && !self.values.contains_key(name);
            if attribute.behaviour == Behaviour::Namevar && is_settled
                || attribute.behaviour == Behaviour::ReadOnly
                || in_group(name)
                || self.without.contains_key(name)
                || self.made.contains_key(name)
                || is_open && !self.always.contains(name) && !random.percent(60)
            {
                continue;
            }
            attributes.insert(
                name.clone(),
                value(attribute, self.values.get(name), random),
            );
        }
        for (name, value) in like.iter().flat_map(|like| &like.attributes) {
            if self.identifies(schema, name) {
                attributes.insert(name.clone(), value.clone());
            }
        }
        for (name, needed) in &self.needs {
            if !needed
                .as_str()
                .is_some_and(|needed| attributes.contains_key(needed))
            {
                attributes.remove(name);
            }
        }
        for (name, template) in &self.made {
            if attributes.contains_key(name) {
                continue;
            }
            let mut text = template.as_str().expect("a text").to_owned();
            for (name, value) in &attributes {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                text = text.replace(&format!("{{{name}}}"), &value);
            }
            // What is missing leaves no gap.
            while let Some((before, rest)) = text.split_once('{') {
                let (_, behind) = rest.split_once('}').expect("`{` has its `}`");
                text = format!("{before}{behind}").replace("  ", " ");
            }
            attributes.insert(name.clone(), json!(text.trim()));
        }
        Sample { attributes, taken }
    }

    /// Whether an attribute is a part of the resource's name, or cannot change.
    fn identifies(&self, schema: &TypeSchema, name: &str) -> bool {
        let mut made = self.made.values().filter_map(Json::as_str);
        schema
            .namevars()
            .iter()
            .chain(&self.fixed)
            .any(|fixed| fixed == name)
            || made.any(|template| template.contains(&format!("{{{name}}}")))
    }
}

/// Reads the hints of a family, by type.
///
/// # Panics
/// Panics when they are no hints.
pub(crate) fn read(text: &str) -> Vec<(String, Hints)> {
    let Value::Hash(types) = yaml::parse(text).expect("hints are YAML").to_value() else {
        panic!("hints are a hash of types")
    };
    let read = |(name, hints): (_, &Value)| {
        let hints = serde_json::from_value(hints.to_json());
        let name = ToString::to_string(name);
        let hints = hints.unwrap_or_else(|error| panic!("hints for `{name}`: {error}"));
        (name, hints)
    };
    Hash::iter(&types).map(read).collect()
}

/// A random value of an attribute.
fn value(attribute: &Attribute, hint: Option<&Json>, random: &mut Random) -> Json {
    let schema = attribute.data_type.json_schema();
    let made = match hint {
        Some(hint) => hinted(&schema, hint, random),
        None => of_schema(&schema, random),
    };
    let value = Value::from(made.clone());
    if let Err(mismatch) = attribute.data_type.check(&value) {
        panic!(
            "{hint:?} gives {made}, which is no {}: {mismatch}",
            attribute.data_type
        );
    }
    made
}

fn hinted(schema: &Json, hint: &Json, random: &mut Random) -> Json {
    match hint {
        Json::Null => of_schema(schema, random),
        Json::Array(hints) => {
            let hint = random.one_of(hints).clone();
            hinted(schema, &hint, random)
        }
        Json::Object(form) if form.contains_key("tuple") => {
            let hints = form["tuple"].as_array().expect("a list of hints");
            let hints = hints.iter().enumerate();
            let items = hints.map(|(place, hint)| hinted(item_of(schema, place), hint, random));
            items.collect()
        }
        Json::Object(form) => {
            let number = |key: &str, or: i64| form.get(key).and_then(Json::as_i64).unwrap_or(or);
            items(number("min", 0), number("max", 3), random, |random| {
                hinted(item_of(schema, 0), &form["items"], random)
            })
        }
        Json::String(text) if is(schema, "array") && !is_word_of(schema, text) => {
            items(0, 3, random, |random| {
                hinted(item_of(schema, 0), hint, random)
            })
        }
        Json::String(text) => {
            let text = expanded(text, random);
            match text.parse::<i64>() {
                Ok(number) if is(schema, "integer") => json!(number),
                _ => json!(text),
            }
        }
        other => other.clone(),
    }
}

fn items(
    min: i64,
    max: i64,
    random: &mut Random,
    mut item: impl FnMut(&mut Random) -> Json,
) -> Json {
    let mut items: Vec<Json> = Vec::new();
    for _ in 0..random.between(min, max) {
        let item = item(random);
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Json::Array(items)
}

/// Whether a JSON Schema allows values of this type.
fn is(schema: &Json, kind: &str) -> bool {
    let types = &schema["type"];
    types == kind
        || types
            .as_array()
            .is_some_and(|types| types.contains(&json!(kind)))
        || alternatives(schema).any(|one| is(one, kind))
}

/// Whether a JSON Schema allows a text itself, beside arrays.
fn is_word_of(schema: &Json, text: &str) -> bool {
    let words = schema["enum"].as_array();
    words.is_some_and(|words| words.contains(&json!(text)))
        || schema["type"] == "string"
        || alternatives(schema).any(|one| is_word_of(one, text))
}

fn alternatives(schema: &Json) -> impl Iterator<Item = &Json> {
    schema["anyOf"].as_array().into_iter().flatten()
}

/// The schema of an array's item at a place.
fn item_of(schema: &Json, place: usize) -> &Json {
    match (schema["prefixItems"].get(place), schema.get("items")) {
        (Some(item), _) | (None, Some(item)) => item,
        (None, None) => alternatives(schema)
            .map(|one| item_of(one, place))
            .find(|item| !item.is_null())
            .unwrap_or(&Json::Null),
    }
}

/// A random value that a JSON Schema allows, except that no hint is needed for.
fn of_schema(schema: &Json, random: &mut Random) -> Json {
    let alternatives: Vec<&Json> = alternatives(schema)
        .filter(|one| one["type"] != "null")
        .collect();
    if !alternatives.is_empty() {
        let one = *random.one_of(&alternatives);
        return of_schema(one, random);
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(words) = schema["enum"].as_array() {
        return random.one_of(words).clone();
    }
    if is(schema, "boolean") {
        json!(random.percent(50))
    } else if is(schema, "integer") {
        let from = schema["minimum"].as_i64().unwrap_or(1);
        let to = schema["maximum"].as_i64().unwrap_or(200);
        json!(random.between(from, to))
    } else if is(schema, "array") {
        let min = schema["minItems"].as_i64().unwrap_or(0);
        items(min, 3, random, |random| {
            of_schema(item_of(schema, 0), random)
        })
    } else {
        json!(expanded("<word>", random))
    }
}
