//! Converts rows to typed resources.

use devgate_schemas::{Attribute, Resource, Value};

use super::definition::Definition;
use crate::Result;
use crate::file_node::WithLocation;
use crate::source::{Answers, Row};
use crate::template::{Expression, Scope};

/// Converts a row to a resource: evaluates each attribute's expression, and converts the value to the
/// attribute's type.
///
/// A row has `ensure: present` unless the data says otherwise; empty text leaves an attribute out.
///
/// # Errors
/// Fails with the place in the answers of a value that does not match its type. A secret is not quoted.
pub(super) fn resource(
    definition: &Definition,
    expressions: &[(String, WithLocation<Expression>)],
    row: &Row,
    answers: &Answers,
) -> Result<Resource> {
    let schema = &definition.schema;
    let scope = Scope::of_row(row.values());
    let mut resource = Resource::new();
    for (name, expression) in expressions {
        let attribute = &schema.attributes()[name.as_str()];
        let refused = |message: String| {
            let named = expression.value.names();
            let named = named.first().map_or("", String::as_str);
            row.error(answers, named, format!("`{name}`: {message}"))
        };
        let value = expression.value.evaluate(&scope).map_err(|error| {
            refused(if attribute.sensitive {
                "its expression does not work with this secret".to_owned()
            } else {
                error.message
            })
        })?;
        let is_item = definition.collect.contains(name) && !matches!(value, Value::Array(_));
        let value = if is_item { listed(value) } else { value };
        if let Some(value) = typed(attribute, value).map_err(refused)? {
            resource.set(name, value);
        }
    }
    if schema.is_ensurable() && resource.get("ensure").is_none() {
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
