//! A type on one device: what its model and release have, and the values that mean "none".

use std::borrow::Cow;
use std::ops::Deref;

use devgate_schemas::{Facts, Resource, TypeSchema, Value};

use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Cause, Expression, Scope};
use crate::{Error, Result};

/// The name of a device's facts in expressions and templates.
pub(super) const FACTS: &str = "facts";

/// A condition over the facts of a device: `when`.
#[derive(Debug)]
pub(super) struct Condition(WithLocation<Expression>);

/// What a type's file says of attributes beside the schema.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The devices that have the type at all.
    when: Option<Condition>,
    attributes: Vec<(String, AttributeRules)>,
}

/// What a type's file says of one attribute.
#[derive(Debug, Default)]
struct AttributeRules {
    /// The devices that have it.
    when: Option<Condition>,
    /// The word for no value.
    unset: Option<String>,
}

/// The keys of an attribute that do not belong to the schema.
pub(super) const ATTRIBUTE_KEYS: [&str; 2] = [WHEN, "unset"];

/// The key of a condition.
pub(super) const WHEN: &str = "when";

/// A type on one device, whose facts may be unknown: then it has everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeOnDevice<'a> {
    schema: &'a TypeSchema,
    rules: &'a Rules,
    pub(super) facts: Option<&'a Facts>,
}

impl Condition {
    /// Reads the `when` of a mapping.
    pub(super) fn read(top: &FileNode<'_>, problems: &mut Problems) -> Option<Option<Self>> {
        top.optional(WHEN, |file_node| {
            let expression = file_node.expression(&[FACTS], problems)?;
            if expression.value.names().is_empty() {
                problems.push(file_node.problem("expected a condition over `facts`"));
            }
            Some(Self(expression))
        })
    }

    /// Whether a device with these facts satisfies it. A fact that a device does not have satisfies nothing.
    ///
    /// # Errors
    /// Fails when it cannot be evaluated.
    pub(super) fn holds(&self, facts: Option<&Facts>) -> Result<bool> {
        if facts.is_none() {
            return Ok(true);
        }
        match self.0.value.evaluate(&Scope::of_facts(facts)) {
            Ok(value) => Ok(!matches!(value, Value::Undef | Value::Boolean(false))),
            Err(error) if error.cause == Cause::Undefined => Ok(false),
            Err(error) => Err(self.0.error(error)),
        }
    }

    /// Fails if a device does not satisfy it.
    fn require(&self, facts: Option<&Facts>, what: impl Fn() -> String) -> Result<()> {
        if self.holds(facts)? {
            return Ok(());
        }
        let paths = self.0.value.paths().into_iter();
        let value = |path: &str| {
            let value = facts?.get(path.strip_prefix(FACTS)?.strip_prefix('.')?)?;
            Some(value.to_json().to_string())
        };
        let unknown = || "not known".to_owned();
        let facts = paths.map(|path| (path.clone(), value(&path).unwrap_or_else(unknown)));
        Err(Error::NotOnDevice {
            what: what(),
            condition: self.0.value.source().to_owned(),
            facts: facts.collect(),
        })
    }
}

impl Rules {
    /// Reads `when` of a type's file, and `when` and `unset` of its attributes.
    pub(super) fn read(top: &FileNode<'_>, schema: &TypeSchema, problems: &mut Problems) -> Self {
        let when = Condition::read(top, problems).flatten();
        let mut attributes = Vec::new();
        for (name, attribute) in schema.attributes() {
            let all = top.get("attributes");
            let Some(file_node) = all.and_then(|all| all.get(name)) else {
                continue;
            };
            let when = Condition::read(&file_node, problems).flatten();
            if when.is_some() && attribute.default.is_some() {
                let message = "an attribute with a `default` is wanted on every device: leave one of both out";
                problems.push(file_node.nearest(&[WHEN.to_owned()]).problem(message));
            }
            let unset = file_node.get("unset");
            let unset = unset.and_then(|file_node| {
                let word = file_node.text(problems)?;
                if let Err(mismatch) = attribute.check(&Value::from(word)) {
                    let message = format!("`{word}` is no value of `{name}`, which {mismatch}");
                    problems.push(file_node.problem(message));
                }
                Some(word.to_owned())
            });
            if when.is_some() || unset.is_some() {
                attributes.push((name.clone(), AttributeRules { when, unset }));
            }
        }
        Self { when, attributes }
    }

    /// Whether they depend on facts.
    pub(super) fn use_facts(&self) -> bool {
        let mut attributes = self.attributes.iter();
        self.when.is_some() || attributes.any(|(_, rules)| rules.when.is_some())
    }

    /// Whether a value is the attribute's word for no value.
    pub(super) fn is_unset(&self, name: &str, value: &Value) -> bool {
        let unset = self.of(name).and_then(|rules| rules.unset.as_deref());
        unset.is_some_and(|word| match value {
            Value::Sensitive(_) => *value == Value::from(word).into_sensitive(),
            other => other.as_str() == Some(word),
        })
    }

    fn of(&self, name: &str) -> Option<&AttributeRules> {
        let mut attributes = self.attributes.iter();
        attributes.find_map(|(known, rules)| (known == name).then_some(rules))
    }
}

impl<'a> TypeOnDevice<'a> {
    pub(super) fn new(schema: &'a TypeSchema, rules: &'a Rules, facts: Option<&'a Facts>) -> Self {
        Self {
            schema,
            rules,
            facts,
        }
    }

    /// Whether the device has the type.
    ///
    /// # Errors
    /// Fails when that cannot be evaluated.
    pub(super) fn exists(&self) -> Result<bool> {
        let when = self.rules.when.as_ref();
        when.map_or(Ok(true), |when| when.holds(self.facts))
    }

    /// Whether the device has an attribute.
    ///
    /// # Errors
    /// Fails when that cannot be evaluated.
    pub(super) fn has(&self, attribute: &str) -> Result<bool> {
        let rules = self.rules.of(attribute);
        let when = rules.and_then(|rules| rules.when.as_ref());
        when.map_or(Ok(true), |when| when.holds(self.facts))
    }

    /// Checks that the device has the type, and what is desired of it.
    ///
    /// # Errors
    /// Fails with the first condition that is false.
    pub(super) fn require(&self, should: &Resource) -> Result<()> {
        if let Some(when) = &self.rules.when {
            when.require(self.facts, || format!("type `{}`", self.name()))?;
        }
        for (name, rules) in &self.rules.attributes {
            let is_desired = should.get(name).is_some_and(|value| !value.is_undef());
            if let Some(when) = rules.when.as_ref().filter(|_| is_desired) {
                when.require(self.facts, || format!("`{name}`"))?;
            }
        }
        Ok(())
    }

    /// A resource as templates see it: with an empty text for each desired word that means no value, and without a
    /// current one.
    pub(super) fn without_words<'r>(
        &self,
        resource: &'r Resource,
        is_desired: bool,
    ) -> Cow<'r, Resource> {
        let mut resource = Cow::Borrowed(resource);
        for (name, _) in &self.rules.attributes {
            let value = resource.get(name);
            if value.is_some_and(|value| self.rules.is_unset(name, value)) {
                let none = if is_desired {
                    Value::from("")
                } else {
                    Value::Undef
                };
                resource.to_mut().set(name, none);
            }
        }
        resource
    }
}

impl Deref for TypeOnDevice<'_> {
    type Target = TypeSchema;

    fn deref(&self) -> &TypeSchema {
        self.schema
    }
}
