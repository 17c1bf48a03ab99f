//! What expressions and templates see: a row of an output, or a change with its secrets veiled.

use devgate_schemas::{Hash, REDACTED, Resource, Sensitive, TypeSchema, Value};
use minijinja::Value as Seen;
use minijinja::value::Serde;

/// The values by name that an expression or a template sees.
pub(crate) struct Scope(pub(super) Seen);

/// The secrets of a change. Templates see a veil in their place, so that no text that a template
/// makes, and no error, holds one; equal secrets have equal veils, so that they can be compared.
///
/// A veil is a number between two control characters, which no value may contain.
#[derive(Default)]
pub(crate) struct Secrets(Vec<Sensitive<Value>>);

/// A text that holds secrets.
#[derive(Clone, Debug)]
pub(crate) struct Lifted {
    /// The text as it is.
    pub(crate) text: Sensitive<String>,
    /// The secrets in it.
    pub(crate) secrets: Vec<Sensitive<String>>,
}

const VEIL: (char, char) = ('\u{1}', '\u{2}');

impl Scope {
    /// A row's values.
    pub(crate) fn of_row(row: &Hash) -> Self {
        Self(Seen::from(Serde(row)))
    }

    /// A change: what the resource shall be, attribute by attribute, and whole resources as `is` and
    /// `should`. An attribute that nobody mentions stays what it is; one that is not there is none.
    ///
    /// # Errors
    /// The name of an attribute whose desired value cannot be typed, and the character in it.
    pub(crate) fn of_change(
        schema: &TypeSchema,
        is: Option<&Resource>,
        should: Option<&Resource>,
        secrets: &mut Secrets,
    ) -> Result<Self, (String, char)> {
        let names = || schema.attributes().keys();
        for name in names() {
            if let Some(character) = should.and_then(|should| untypable(should.get(name)?)) {
                return Err((name.clone(), character));
            }
        }
        let mut seen = |resource: Option<&Resource>| -> Vec<(String, Seen)> {
            let value = |name: &str| resource.and_then(|resource| resource.get(name));
            names()
                .map(|name| (name.clone(), secrets.veil(value(name))))
                .collect()
        };
        let (is_seen, should_seen) = (seen(is), seen(should));
        let shall_be = should_seen.iter().zip(&is_seen).map(|(should, is)| {
            if should.1.is_none() {
                is.clone()
            } else {
                should.clone()
            }
        });
        let mut scope: Vec<(String, Seen)> = shall_be.collect();
        scope.push(("is".to_owned(), Seen::from_pairs(is_seen)));
        scope.push(("should".to_owned(), Seen::from_pairs(should_seen)));
        Ok(Self(Seen::from_pairs(scope)))
    }

    /// One resource's attributes by name; one that is not given is none. Secrets stay redacted.
    pub(crate) fn of_resource(schema: &TypeSchema, resource: &Resource) -> Self {
        let value = |name: &str| {
            resource
                .get(name)
                .map_or_else(|| Seen::from(()), |value| Seen::from(Serde(value)))
        };
        Self(Seen::from_pairs(
            schema
                .attributes()
                .keys()
                .map(|name| (name.clone(), value(name))),
        ))
    }
}

impl Secrets {
    /// A text with every secret redacted; and where there is any, the text itself and its secrets.
    pub(crate) fn lift(&self, text: &str) -> (String, Option<Lifted>) {
        let (mut clear, mut shown) = (String::new(), String::new());
        let mut secrets = Vec::new();
        let mut rest = text;
        while let Some((before, number, after)) = next_veil(rest) {
            clear.push_str(before);
            shown.push_str(before);
            if let Some(secret) = self.0.get(number) {
                let secret = plain(secret.reveal());
                clear.push_str(&secret);
                shown.push_str(REDACTED);
                secrets.push(Sensitive::new(secret));
            }
            rest = after;
        }
        shown.push_str(rest);
        clear.push_str(rest);
        let lifted = (!secrets.is_empty()).then(|| Lifted {
            text: Sensitive::new(clear),
            secrets,
        });
        (shown, lifted)
    }

    /// What a template sees of a value.
    fn veil(&mut self, value: Option<&Value>) -> Seen {
        match value {
            None | Some(Value::Undef) => Seen::from(()),
            // An empty secret is none: templates ask for it as for an empty text.
            Some(Value::Sensitive(secret)) if plain(secret.reveal()).is_empty() => Seen::from(""),
            Some(Value::Sensitive(secret)) => {
                let known = self.0.iter().position(|known| known == secret);
                let number = known.unwrap_or_else(|| {
                    self.0.push(secret.clone());
                    self.0.len() - 1
                });
                Seen::from(format!("{}{number}{}", VEIL.0, VEIL.1))
            }
            // A desired value was refused before; what a device holds must not make lines either.
            Some(Value::String(text)) => Seen::from(text.replace(char::is_control, "\u{fffd}")),
            Some(Value::Array(items)) => items.iter().map(|item| self.veil(Some(item))).collect(),
            Some(Value::Hash(pairs)) => Seen::from_pairs(pairs.iter().map(|(key, value)| {
                let key = key.to_string().replace(char::is_control, "\u{fffd}");
                (key, self.veil(Some(value)))
            })),
            Some(other) => Seen::from(Serde(other)),
        }
    }
}

fn next_veil(text: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = text.split_once(VEIL.0)?;
    let (number, after) = rest.split_once(VEIL.1)?;
    Some((before, number.parse().ok()?, after))
}

/// A character in a value that a command line acts upon: one that ends or changes the line, or `?`,
/// which asks for help.
pub(crate) fn untypable(value: &Value) -> Option<char> {
    let within = |text: &str| {
        text.chars()
            .find(|&found| found.is_control() || found == '?')
    };
    match value {
        Value::String(text) | Value::Symbol(text) => within(text),
        Value::Array(items) => items.iter().find_map(untypable),
        Value::Hash(pairs) => pairs
            .iter()
            .find_map(|(key, value)| within(&key.to_string()).or_else(|| untypable(value))),
        Value::Sensitive(secret) => untypable(secret.reveal()),
        Value::Undef | Value::Boolean(_) | Value::Integer(_) | Value::Float(_) => None,
    }
}

/// A value as a template writes it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => Seen::from(Serde(other)).to_string(),
    }
}
