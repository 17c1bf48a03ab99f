//! Evaluates the statements of a file to the catalog of its resources.

use std::collections::HashMap;

use devgate_schemas::{Hash, Key, Value};

use super::fault::{Fault, SourceText};
use super::syntax::{Arrow, Attribute, Body, Expression, Form, Operand, Part, Statement};
use super::unsupported::{self, refused};
use crate::device_run::{Catalog, Ref, Relation, SourceLocation};

/// Returns the catalog of the resources that a file declares.
///
/// # Errors
/// Fails with all problems of the declarations.
pub(super) fn catalog(
    statements: &[Statement],
    source: &SourceText<'_>,
) -> Result<Catalog, Vec<Fault>> {
    let (catalog, main) = Catalog::of_manifest();
    let mut evaluation = Evaluation {
        source,
        variables: HashMap::new(),
        defaults: HashMap::new(),
        catalog,
        main,
        attribute_locations: HashMap::new(),
        problems: Vec::new(),
    };
    for statement in statements {
        if let Err(fault) = evaluation.statement(statement) {
            evaluation.problems.push(fault);
        }
    }
    if evaluation.problems.is_empty() {
        Ok(evaluation.catalog)
    } else {
        Err(evaluation.problems)
    }
}

struct Evaluation<'s> {
    source: &'s SourceText<'s>,
    variables: HashMap<String, Value>,
    /// The defaults of types. As in Puppet, they apply to resources that are declared later.
    defaults: HashMap<String, AttributeSet>,
    catalog: Catalog,
    /// The container of the file's resources.
    main: usize,
    /// The positions of the resources.
    attribute_locations: HashMap<Ref, SourceLocation>,
    problems: Vec<Fault>,
}

/// Attributes and their positions.
#[derive(Clone, Default)]
struct AttributeSet {
    values: Hash,
    offsets: HashMap<Key, usize>,
}

impl Evaluation<'_> {
    fn statement(&mut self, statement: &Statement) -> Result<(), Fault> {
        match statement {
            Statement::Assignment {
                name,
                value,
                offset,
            } => {
                let value = self.value(value)?;
                if is_puppet_variable(name) {
                    return Err(refused(*offset, unsupported::FACTS));
                }
                if self.variables.insert(name.clone(), value).is_some() {
                    let message = format!("Cannot reassign variable '${name}'");
                    return Err(Fault::new(*offset, message));
                }
            }
            Statement::Defaults {
                type_name,
                attributes,
            } => {
                let defaults = self.attributes(attributes)?;
                let of_type = self.defaults.entry(type_name.to_lowercase()).or_default();
                for (key, value) in defaults.values {
                    if let Some(offset) = defaults.offsets.get(&key) {
                        of_type.offsets.insert(key.clone(), *offset);
                    }
                    if of_type.values.insert(key.clone(), value).is_some() {
                        let message = format!(
                            "the default of `{key}` for {type_name} is already set: set it once"
                        );
                        let offset = attributes.first().map_or(0, |attribute| attribute.offset);
                        return Err(Fault::new(offset, message));
                    }
                }
            }
            Statement::Chain { first, others } => {
                let mut left = self.operand(first)?;
                for (arrow, right) in others {
                    let right = self.operand(right)?;
                    self.relate(&left, &right, *arrow);
                    left = right;
                }
            }
        }
        Ok(())
    }

    fn relate(&mut self, left: &[Ref], right: &[Ref], arrow: Arrow) {
        let (before, after) = if arrow.is_forward {
            (left, right)
        } else {
            (right, left)
        };
        for from in before {
            for to in after {
                self.catalog.relations.push(Relation {
                    from: from.clone(),
                    to: to.clone(),
                    notifies: arrow.notifies,
                    location: self.source.location(arrow.offset),
                });
            }
        }
    }

    /// Returns the resources that an operand declares or names.
    fn operand(&mut self, operand: &Operand) -> Result<Vec<Ref>, Fault> {
        let (type_name, bodies) = match operand {
            Operand::Resources { type_name, bodies } => (type_name, bodies),
            Operand::References(references) => {
                let mut named = Vec::new();
                for reference in references {
                    if let Form::Reference { type_name, titles } = &reference.form {
                        named.extend(self.references(type_name, titles)?);
                    }
                }
                return Ok(named);
            }
        };
        let is_default = |body: &&Body| matches!(body.titles.form, Form::Default);
        let mut defaults = AttributeSet::default();
        for body in bodies.iter().filter(is_default) {
            defaults = self.attributes(&body.attributes)?;
        }
        let mut declared = Vec::new();
        for body in bodies.iter().filter(|body| !is_default(body)) {
            let mut attributes = self.attributes(&body.attributes)?;
            add_defaults(&mut attributes, &defaults);
            for title in self.titles(&body.titles)? {
                let name = Ref::new(type_name, title);
                declared.push(name.clone());
                self.declare(name, attributes.clone(), body.titles.offset);
            }
        }
        Ok(declared)
    }

    fn declare(&mut self, name: Ref, mut attributes: AttributeSet, offset: usize) {
        let location = self.source.location(offset);
        if let Some(first) = self.attribute_locations.get(&name) {
            let message = format!(
                "Duplicate declaration: {name} is already declared at (file: {}, line: {}); cannot \
                 redeclare",
                first.file, first.line
            );
            self.problems.push(Fault::new(offset, message));
            return;
        }
        self.attribute_locations
            .insert(name.clone(), location.clone());
        if let Some(defaults) = self.defaults.get(&name.type_name) {
            add_defaults(&mut attributes, defaults);
        }
        // An undef overrides the default and sets nothing.
        let given = attributes.values.into_iter();
        let given = given.filter(|(_, value)| !value.is_undef()).collect();
        let container = Some(self.main);
        let mut declared = self.catalog.declared(name, given, location, container);
        let offsets = attributes.offsets.into_iter();
        declared.attribute_locations = offsets
            .map(|(key, offset)| (key.to_string(), self.source.location(offset)))
            .collect();
        self.catalog.resources.push(declared);
    }

    /// Returns the titles of a body, with lists flattened.
    fn titles(&self, titles: &Expression) -> Result<Vec<String>, Fault> {
        fn flatten(value: Value, found: &mut Vec<String>) -> Result<(), &'static str> {
            match value {
                Value::String(title) if title.is_empty() => Err("an empty text"),
                Value::String(title) => {
                    found.push(title);
                    Ok(())
                }
                Value::Array(items) => items.into_iter().try_for_each(|item| flatten(item, found)),
                Value::Integer(_) | Value::Float(_) => Err("a number"),
                Value::Undef => Err("undef"),
                _ => Err("something else"),
            }
        }
        let mut found = Vec::new();
        flatten(self.value(titles)?, &mut found).map_err(|kind| {
            let message = format!(
                "expected a title to be a text, or a list of texts, found {kind}: put titles in \
                                   quotes"
            );
            Fault::new(titles.offset, message)
        })?;
        Ok(found)
    }

    fn attributes(&self, attributes: &[Attribute]) -> Result<AttributeSet, Fault> {
        let mut set = AttributeSet::default();
        for Attribute {
            name,
            value,
            offset,
        } in attributes
        {
            let these = match (name, self.value(value)?) {
                (Some(name), value) => [(Key::from(name.as_str()), value)].into_iter().collect(),
                (None, Value::Hash(all)) => all,
                (None, _) => {
                    let message = "expected a hash of attributes behind `* =>`";
                    return Err(Fault::new(*offset, message));
                }
            };
            for (key, value) in these {
                if set.values.insert(key.clone(), value).is_some() {
                    let message = format!("The attribute '{key}' has already been set");
                    return Err(Fault::new(*offset, message));
                }
                set.offsets.insert(key, *offset);
            }
        }
        Ok(set)
    }

    fn value(&self, expression: &Expression) -> Result<Value, Fault> {
        let fault = |message: &str| Err(Fault::new(expression.offset, message));
        match &expression.form {
            Form::Literal(value) => Ok(value.clone()),
            Form::Default => Ok(Value::from("default")),
            Form::Text(parts) => self.text(parts),
            Form::Variable(name) => match self.variables.get(name) {
                Some(value) => Ok(value.clone()),
                None if is_puppet_variable(name) => {
                    Err(refused(expression.offset, unsupported::FACTS))
                }
                None => fault(&format!("Unknown variable: '{name}'")),
            },
            Form::Index(of, index) => match (self.value(of)?, self.value(index)?) {
                (Value::Hash(hash), Value::String(key)) => {
                    Ok(hash.get(&key).cloned().unwrap_or(Value::Undef))
                }
                (Value::Array(items), Value::Integer(at)) => {
                    let from_end = items.len() as i64 + at;
                    let at = if at < 0 { from_end } else { at };
                    let item = usize::try_from(at).ok().and_then(|at| items.get(at));
                    Ok(item.cloned().unwrap_or(Value::Undef))
                }
                _ => fault("expected a list with a number in brackets, or a hash with a text"),
            },
            Form::List(items) => {
                let mut values = Vec::new();
                for item in items {
                    match (&item.form, self.value(item)?) {
                        // `Type['a', 'b']` is several references, in a list, too.
                        (Form::Reference { .. }, Value::Array(several)) => values.extend(several),
                        (_, one) => values.push(one),
                    }
                }
                Ok(Value::Array(values))
            }
            Form::Hash(pairs) => {
                let mut hash = Hash::new();
                for (key, value) in pairs {
                    let key = match self.value(key)? {
                        Value::String(text) => Key::from(text),
                        Value::Integer(number) => Key::Integer(number),
                        _ => {
                            let message = "expected a key to be a text or a whole number";
                            return Err(Fault::new(key.offset, message));
                        }
                    };
                    hash.insert(key, self.value(value)?);
                }
                Ok(Value::Hash(hash))
            }
            Form::Reference { type_name, titles } => {
                let named = self.references(type_name, titles)?;
                let mut texts: Vec<Value> = named
                    .iter()
                    .map(|name| Value::from(name.to_string()))
                    .collect();
                Ok(match texts.len() {
                    1 => texts.remove(0),
                    _ => Value::Array(texts),
                })
            }
            Form::Minus(inner) => match self.value(inner)? {
                Value::Integer(number) => Ok(Value::Integer(-number)),
                Value::Float(number) => Ok(Value::Float(-number)),
                _ => fault("expected a number behind `-`"),
            },
            Form::Sensitive(inner) => Ok(self.value(inner)?.into_sensitive()),
        }
    }

    fn references(&self, type_name: &str, titles: &[Expression]) -> Result<Vec<Ref>, Fault> {
        let mut named = Vec::new();
        for title in titles {
            let titles = self.titles(title)?.into_iter();
            named.extend(titles.map(|title| Ref::new(type_name, title)));
        }
        Ok(named)
    }

    fn text(&self, parts: &[Part]) -> Result<Value, Fault> {
        let mut text = String::new();
        for part in parts {
            let expression = match part {
                Part::Literal(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Part::Value(expression) => expression,
            };
            let kind = match self.value(expression)? {
                Value::Undef => continue,
                Value::String(value) => {
                    text.push_str(&value);
                    continue;
                }
                value @ (Value::Boolean(_) | Value::Integer(_) | Value::Float(_)) => {
                    text.push_str(&value.to_json().to_string());
                    continue;
                }
                Value::Sensitive(_) => "a Sensitive value: wrap the whole text, Sensitive(\"…\")",
                _ => "a list or a hash: say which of its items",
            };
            let message = format!("a text cannot hold {kind}");
            return Err(Fault::new(expression.offset, message));
        }
        Ok(Value::String(text))
    }
}

/// Whether a variable is one of Puppet's own, or of another scope.
fn is_puppet_variable(name: &str) -> bool {
    name.contains("::") || ["facts", "trusted", "server_facts", "settings"].contains(&name)
}

/// Adds the missing attributes from the defaults.
fn add_defaults(set: &mut AttributeSet, defaults: &AttributeSet) {
    for (key, value) in defaults.values.iter() {
        if set.values.get_mut(key).is_none() {
            set.values.insert(key.clone(), value.clone());
            set.offsets.extend(
                defaults
                    .offsets
                    .get_key_value(key)
                    .map(|(key, at)| (key.clone(), *at)),
            );
        }
    }
}
