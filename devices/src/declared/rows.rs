//! From rows to typed resources.

use devgate_schemas::{Attribute, Resource, TypeSchema, Value};

use crate::Result;
use crate::file_node::WithLocation;
use crate::source::{Answers, Row};
use crate::template::{Expression, Scope};

/// Makes a resource of a row: each attribute's expression, as the attribute's type.
///
/// A row has `ensure: present` unless the data says otherwise; empty text leaves an attribute out.
///
/// # Errors
/// Where in the answers it stands that something does not fit its type. A secret is not quoted.
pub(super) fn resource(
    schema: &TypeSchema,
    expressions: &[(String, WithLocation<Expression>)],
    row: &Row,
    answers: &Answers,
) -> Result<Resource> {
    let scope = Scope::of_row(row.values());
    let mut resource = Resource::new();
    for (name, expression) in expressions {
        let attribute = &schema.attributes()[name.as_str()];
        let refused = |message: String| {
            let named = expression.value.names();
            let named = named.first().map_or("", String::as_str);
            row.wrong(answers, named, format!("`{name}`: {message}"))
        };
        let value = expression.value.value(&scope).map_err(|error| {
            refused(if attribute.sensitive {
                "its expression does not work with this secret".to_owned()
            } else {
                error.message
            })
        })?;
        if let Some(value) = typed(attribute, value).map_err(refused)? {
            resource.set(name, value);
        }
    }
    if schema.is_ensurable() && resource.get("ensure").is_none() {
        resource.set("ensure", Value::from("present"));
    }
    Ok(resource)
}

/// A value as its attribute's type wants it; nothing for nothing.
pub(super) fn typed(
    attribute: &Attribute,
    value: Value,
) -> std::result::Result<Option<Value>, String> {
    let value = match value {
        Value::Undef => return Ok(None),
        Value::String(text) if text.is_empty() => return Ok(None),
        Value::Array(items) => {
            let whole = Value::Array(items.clone());
            if attribute.check(&whole).is_ok() {
                whole
            } else {
                Value::Array(items.into_iter().map(number).collect())
            }
        }
        // What a number says is checked as a number, so that the message speaks of its size.
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

/// A text as the number or truth that it says, if it says one.
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
