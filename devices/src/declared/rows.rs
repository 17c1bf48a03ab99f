//! Converts rows to typed resources.

use devgate_schemas::{Attribute, Resource, Value};

use super::definition::{Definition, GetSection};
use super::on_device::TypeOnDevice;
use crate::Result;
use crate::file_node::WithLocation;
use crate::source::{Answers, Row};
use crate::template::{Expression, Scope};

/// Converts a row to a resource: evaluates each attribute's expression, and converts the value to the
/// attribute's type. An attribute that the device does not have is left out.
///
/// A row has `ensure: present` unless the data says otherwise; empty text leaves an attribute out.
///
/// # Errors
/// Fails with the place in the answers of a value that does not match its type. A secret is not quoted.
pub(super) fn resource(
    definition: &Definition,
    kind: &TypeOnDevice<'_>,
    get: &GetSection,
    row: &Row,
    answers: &Answers,
) -> Result<Resource> {
    let mut scope = Scope::of_row(row.values());
    if get.uses_facts() {
        scope = scope.with_facts(kind.facts);
    }
    let has_secrets = kind
        .attributes()
        .values()
        .any(|attribute| attribute.sensitive);
    let evaluate = |scope: &Scope, name: &str, it: &WithLocation<Expression>, is_secret| {
        it.value.evaluate(scope).map_err(|error| {
            let message = match is_secret {
                true => "its expression does not work with this secret".to_owned(),
                false => error.message,
            };
            row.error(
                answers,
                &get.row_value(&it.value),
                format!("`{name}`: {message}"),
            )
        })
    };
    for (name, expression) in &get.values {
        let value = evaluate(&scope, name, expression, has_secrets)?;
        scope = scope.with(name, &value);
    }
    let mut resource = Resource::new();
    for (name, expression) in &get.resource {
        if !kind.has(name)? {
            continue;
        }
        let attribute = &kind.attributes()[name.as_str()];
        let value = evaluate(&scope, name, expression, attribute.sensitive)?;
        let refused = |message: String| {
            let named = get.row_value(&expression.value);
            row.error(answers, &named, format!("`{name}`: {message}"))
        };
        let is_item = definition.collect.contains(name) && !matches!(value, Value::Array(_));
        let value = if is_item { listed(value) } else { value };
        if let Some(value) = typed(attribute, value).map_err(refused)? {
            resource.set(name, value);
        }
    }
    if kind.is_ensurable() && resource.get("ensure").is_none() {
        resource.set("ensure", Value::from("present"));
    }
    Ok(resource)
}

/// An item as a list; no value is none.
fn listed(value: Value) -> Value {
    match value {
        Value::Undef => Value::Undef,
        Value::String(text) if text.is_empty() => Value::Undef,
        item => Value::Array(vec![item]),
    }
}

/// Converts a value to its attribute's type; `None` for a missing value.
pub(super) fn typed(
    attribute: &Attribute,
    value: Value,
) -> std::result::Result<Option<Value>, String> {
    let value = match value {
        Value::Undef => return Ok(None),
        Value::String(text) if text.is_empty() => return Ok(None),
        Value::Array(items) => {
            let array = Value::Array(items.clone());
            if attribute.check(&array).is_ok() {
                array
            } else {
                Value::Array(items.into_iter().map(number).collect())
            }
        }
        // A numeric text is checked as a number, so that the message is about its size.
        other if attribute.check(&other).is_err() => number(other),
        other => other,
    };
    attribute.check(&value)?;
    Ok(Some(if attribute.sensitive {
        value.into_sensitive()
    } else {
        value
    }))
}

/// Converts a text to a number or a Boolean, if it is one.
fn number(value: Value) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    match text.trim() {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        text => match (text.parse(), text.parse()) {
            (Ok(number), _) => Value::Integer(number),
            (_, Ok(number)) if f64::is_finite(number) => Value::Float(number),
            _ => value,
        },
    }
}
