//! The values that expressions and templates see: a row, or a change with its secrets replaced by
//! placeholders.

use std::sync::Arc;

use devgate_schemas::{Facts, Hash, REDACTED, Resource, Sensitive, TypeSchema, Value};
use minijinja::value::{Object, Serde};
use minijinja::{Error as JinjaError, ErrorKind, Value as JinjaValue};

use super::placeholder::{self, Placeholder};
use super::quoting;

/// The values by name that an expression or a template sees.
pub(crate) struct Scope(pub(super) JinjaValue);

/// The secrets of a change. Templates see placeholders in their place, so that no template output and no
/// error contains a secret. Equal secrets have equal placeholders, so that they can be compared.
#[derive(Default)]
pub(crate) struct Secrets(Vec<Sensitive<Value>>);

/// A text that contains secrets.
#[derive(Clone, Debug)]
pub(crate) struct Revealed {
    /// The text in clear.
    pub(crate) text: Sensitive<String>,
    /// The secrets in the text.
    pub(crate) secrets: Vec<Sensitive<String>>,
}

/// The facts of a device that is not known.
#[derive(Debug)]
struct UnknownFacts;

/// A line end of a value in the output of a template of lines. No value may contain it.
pub(crate) const VALUE_LINE_END: char = '\u{3}';

/// The medium of values. Each medium allows different characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Typed on a command line, which acts on control characters and shows help at `?`.
    CommandLine,
    /// Typed on a command line on which a key makes `?` a character.
    LiteralCommandLine,
    /// Typed on a command line as a text of several lines.
    Text,
    /// Written as data, which allows all characters except those of placeholders.
    Data,
    /// Written as XML (1.0, 2.2).
    Xml,
}

/// How a value is escaped in a text of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Not escaped.
    None,
    /// Escaped as part of a line: a line end in a value does not begin a line of the template.
    Line,
    /// Not escaped, but a value must only name something, in a command or in an XPath.
    Name,
    /// Escaped as part of a URL's path (RFC 3986, 2.1).
    Path,
    /// Escaped as text or attribute of XML.
    Xml,
}

impl Scope {
    /// Creates the scope of a row.
    pub(crate) fn of_row(row: &Hash) -> Self {
        Self(JinjaValue::from(Serde(row)))
    }

    /// Creates the scope of a change: the desired attributes by name, and whole resources as `is` and
    /// `should`. An attribute that is not specified keeps its current value. An attribute without any value
    /// is none.
    ///
    /// # Errors
    /// Fails with the name of an attribute whose desired value cannot be written, and the character at
    /// fault.
    pub(crate) fn of_change(
        schema: &TypeSchema,
        is: Option<&Resource>,
        should: Option<&Resource>,
        medium: impl Fn(&str) -> Medium,
        secrets: &mut Secrets,
    ) -> Result<Self, (String, char)> {
        let names = || schema.attributes().keys();
        for name in names() {
            if let Some(character) =
                should.and_then(|should| medium(name).unwritable_character(should.get(name)?))
            {
                return Err((name.clone(), character));
            }
        }
        let mut attributes_of = |resource: Option<&Resource>| -> Vec<(String, JinjaValue)> {
            let value = |name: &str| resource.and_then(|resource| resource.get(name));
            names()
                .map(|name| (name.clone(), secrets.jinja_value(value(name), medium(name))))
                .collect()
        };
        let (current, desired) = (attributes_of(is), attributes_of(should));
        let resulting = desired.iter().zip(&current).map(|(should, is)| {
            if should.1.is_none() {
                is.clone()
            } else {
                should.clone()
            }
        });
        let mut scope: Vec<(String, JinjaValue)> = resulting.collect();
        scope.push(("is".to_owned(), JinjaValue::from_pairs(current)));
        scope.push(("should".to_owned(), JinjaValue::from_pairs(desired)));
        Ok(Self(JinjaValue::from_pairs(scope)))
    }

    /// The scope that has nothing but a device's facts.
    pub(crate) fn of_facts(facts: Option<&Facts>) -> Self {
        let facts = match facts {
            Some(facts) => JinjaValue::from(Serde(facts)),
            None => JinjaValue::from_object(UnknownFacts),
        };
        Self(JinjaValue::from_pairs([("facts", facts)]))
    }

    /// Returns the scope with a device's facts. Without them, an expression that needs a fact fails.
    pub(crate) fn with_facts(self, facts: Option<&Facts>) -> Self {
        let facts = Self::of_facts(facts).0;
        Self(minijinja::value::merge_maps([facts, self.0]))
    }

    /// Returns the scope with one more value.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Self {
        let more = JinjaValue::from_pairs([(name, JinjaValue::from(Serde(value)))]);
        Self(minijinja::value::merge_maps([more, self.0.clone()]))
    }

    /// Returns a value as text; empty if there is no such text.
    pub(crate) fn text(&self, name: &str) -> String {
        let value = self.0.get_attr(name).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Creates the scope of a resource's attributes. A missing attribute is none. Secrets stay redacted.
    pub(crate) fn of_resource(schema: &TypeSchema, resource: &Resource) -> Self {
        let value = |name: &str| {
            resource.get(name).map_or_else(
                || JinjaValue::from(()),
                |value| JinjaValue::from(Serde(value)),
            )
        };
        Self(JinjaValue::from_pairs(
            schema
                .attributes()
                .keys()
                .map(|name| (name.clone(), value(name))),
        ))
    }
}

impl Object for UnknownFacts {
    fn get_value(self: &Arc<Self>, _: &JinjaValue) -> Option<JinjaValue> {
        let message = "the facts of the device are not known here: give them with `--facts`, or as \
                       `facts` of a case";
        Some(JinjaError::new(ErrorKind::InvalidOperation, message).into())
    }
}

impl Secrets {
    /// Whether the output of an expression contains a placeholder.
    pub(super) fn are_in(text: &str) -> bool {
        placeholder::next(text).is_some()
    }

    /// Returns a text with every secret redacted. If it has any, also returns the text in clear and its
    /// secrets, which are escaped according to `escape`.
    pub(crate) fn redact(&self, text: &str, escape: Escape) -> (String, Option<Revealed>) {
        let (mut clear, mut shown) = (String::new(), String::new());
        let mut secrets = Vec::new();
        let mut rest = text;
        while let Some((before, placeholder, after)) = placeholder::next(rest) {
            clear.push_str(before);
            shown.push_str(before);
            if let Some(secret) = self.0.get(placeholder.number) {
                let quotings = placeholder.quotings.iter();
                let secret = quotings.fold(rendered(secret.reveal()), |text, also| {
                    quoting::escaped(&text, also)
                });
                let secret = escape.escaped(&secret);
                clear.push_str(&secret);
                shown.push_str(REDACTED);
                secrets.push(Sensitive::new(secret));
            }
            rest = after;
        }
        shown.push_str(rest);
        clear.push_str(rest);
        let revealed = (!secrets.is_empty()).then(|| Revealed {
            text: Sensitive::new(clear),
            secrets,
        });
        (shown, revealed)
    }

    /// Returns a text with its secrets in clear, wrapped as a secret itself if it has any.
    pub(crate) fn revealed_text(&self, text: &str, escape: Escape) -> Value {
        match self.redact(text, escape) {
            (shown, None) => Value::String(shown),
            (_, Some(revealed)) => Value::String(revealed.text.reveal().clone()).into_sensitive(),
        }
    }

    /// Returns the value of an expression with its secrets in clear.
    pub(crate) fn revealed(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match placeholder::next(text) {
                // The secret keeps its type: it may be a number.
                Some(("", Placeholder { number, quotings }, ""))
                    if number < self.0.len() && quotings.is_empty() =>
                {
                    Value::Sensitive(self.0[number].clone())
                }
                _ => self.revealed_text(text, Escape::None),
            },
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.revealed(item)).collect())
            }
            Value::Hash(pairs) => {
                let pairs = pairs.iter();
                Value::Hash(
                    pairs
                        .map(|(key, value)| (key.clone(), self.revealed(value)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    /// Returns what a template sees of a value.
    fn jinja_value(&mut self, value: Option<&Value>, medium: Medium) -> JinjaValue {
        match value {
            None | Some(Value::Undef) => JinjaValue::from(()),
            Some(Value::Sensitive(secret)) => match rendered(secret.reveal()) {
                // An empty secret counts as no secret: templates test it like an empty text.
                text if text.is_empty() => JinjaValue::from(""),
                // Each line is a secret, because each is typed by itself.
                text if medium == Medium::Text && text.contains('\n') => {
                    let secret = |line| self.jinja_value(Some(&line), medium).to_string();
                    let lines = text
                        .split('\n')
                        .map(|line| Value::from(line).into_sensitive());
                    JinjaValue::from(lines.map(secret).collect::<Vec<_>>().join("\n"))
                }
                _ => {
                    let known = self.0.iter().position(|known| known == secret);
                    let number = known.unwrap_or_else(|| {
                        self.0.push(secret.clone());
                        self.0.len() - 1
                    });
                    JinjaValue::from(placeholder::of(number))
                }
            },
            // A desired value with such characters is refused earlier. A device's value must not create new
            // lines either.
            Some(Value::String(text)) => JinjaValue::from(medium.sanitized(text)),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| self.jinja_value(Some(item), medium))
                .collect(),
            Some(Value::Hash(pairs)) => JinjaValue::from_pairs(pairs.iter().map(|(key, value)| {
                let key = medium.sanitized(&key.to_string());
                (key, self.jinja_value(Some(value), medium))
            })),
            Some(other) => JinjaValue::from(Serde(other)),
        }
    }
}

impl Medium {
    /// Returns the medium's name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CommandLine | Self::LiteralCommandLine | Self::Text => "a command line",
            Self::Data => "this form",
            Self::Xml => "XML",
        }
    }

    /// Returns a character in a desired value that cannot be written.
    pub(crate) fn unwritable_character(self, value: &Value) -> Option<char> {
        let first_refused = |text: &str| text.chars().find(|&found| self.refuses(found));
        match value {
            Value::String(text) | Value::Symbol(text) => first_refused(text),
            Value::Array(items) => items
                .iter()
                .find_map(|item| self.unwritable_character(item)),
            Value::Hash(pairs) => pairs.iter().find_map(|(key, value)| {
                first_refused(&key.to_string()).or_else(|| self.unwritable_character(value))
            }),
            Value::Sensitive(secret) => self.unwritable_character(secret.reveal()),
            Value::Undef | Value::Boolean(_) | Value::Integer(_) | Value::Float(_) => None,
        }
    }

    fn refuses(self, character: char) -> bool {
        self.is_harmful(character) || self == Self::CommandLine && character == '?'
    }

    /// Whether a character has a special effect in this medium.
    fn is_harmful(self, character: char) -> bool {
        match self {
            Self::CommandLine | Self::LiteralCommandLine => character.is_control(),
            Self::Text => character.is_control() && character != '\n',
            Self::Data => placeholder::MARKS.contains(&character),
            Self::Xml => {
                let is_control = character < ' ' && !"\t\n\r".contains(character);
                is_control || "\u{fffe}\u{ffff}".contains(character)
            }
        }
    }

    /// Replaces the harmful characters in a device's text.
    fn sanitized(self, text: &str) -> String {
        text.replace(|character| self.is_harmful(character), "\u{fffd}")
    }
}

impl Escape {
    /// Escapes a text.
    pub(crate) fn escaped(self, text: &str) -> String {
        match self {
            Self::None | Self::Name => text.to_owned(),
            Self::Line => text.replace('\n', VALUE_LINE_END.encode_utf8(&mut [0; 4])),
            Self::Path => {
                let mut escaped = String::with_capacity(text.len());
                for byte in text.bytes() {
                    match byte {
                        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                            escaped.push(char::from(byte));
                        }
                        _ => escaped.push_str(&format!("%{byte:02X}")),
                    }
                }
                escaped
            }
            Self::Xml => {
                let mut escaped = String::with_capacity(text.len());
                for character in text.chars() {
                    match character {
                        '&' => escaped.push_str("&amp;"),
                        '<' => escaped.push_str("&lt;"),
                        '>' => escaped.push_str("&gt;"),
                        '"' => escaped.push_str("&quot;"),
                        '\'' => escaped.push_str("&apos;"),
                        '\r' => escaped.push_str("&#13;"),
                        other => escaped.push(other),
                    }
                }
                escaped
            }
        }
    }
}

/// Formats a value as a template does.
fn rendered(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => JinjaValue::from(Serde(other)).to_string(),
    }
}
