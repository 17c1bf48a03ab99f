//! Checks one line of `schema check`: reads a type and a value, and returns Puppet's answer.
//!
//! A line is JSON: `{"type": "Integer[0, 10]", "value": 11}`. Two conventions cover what JSON cannot
//! express: a text that starts with a colon is a Ruby symbol, and a key that looks like an integer is an
//! integer.

use serde_json::{Value as Json, json};

use crate::{DataType, Hash, Key, Value};

/// The attribute name that errors show.
const ATTRIBUTE: &str = "x";

/// Returns the answer to one line: `canonical`, `ok` and `mismatch`, or `error`.
pub fn verdict(line: &str) -> Json {
    let error = |text: String| json!({ "error": text });
    let mut request = match serde_json::from_str(line) {
        Ok(Json::Object(request)) => request,
        Ok(_) => return error("the line is not an object, expected type and value".to_owned()),
        Err(reason) => return error(format!("the line is not JSON: {reason}")),
    };
    let data_type = match request.get("type") {
        Some(Json::String(text)) => match DataType::parse(text) {
            Ok(data_type) => data_type,
            Err(reason) => return error(reason.for_attribute(ATTRIBUTE)),
        },
        other => return error(no_text(other.unwrap_or(&Json::Null))),
    };
    let value = value(request.remove("value").unwrap_or(Json::Null));
    let mismatch = data_type
        .check(&value)
        .err()
        .map(|mismatch| mismatch.to_string());
    json!({
        "canonical": data_type.to_string(),
        "ok": mismatch.is_none(),
        "mismatch": mismatch,
    })
}

/// Returns Ruby's error for a type that is not a text.
fn no_text(other: &Json) -> String {
    let receiver = match other {
        Json::Null => "nil:NilClass".to_owned(),
        Json::Bool(true) => "true:TrueClass".to_owned(),
        Json::Bool(false) => "false:FalseClass".to_owned(),
        Json::Number(number) if number.is_f64() => format!("{number}:Float"),
        Json::Number(number) => format!("{number}:Integer"),
        Json::String(text) => format!("{text:?}:String"),
        Json::Array(_) => format!("{other}:Array"),
        Json::Object(_) => format!("{other}:Hash"),
    };
    format!("undefined method `getbyte' for {receiver}\n\n")
}

/// Converts JSON to a value, with the conventions for symbols and integer keys.
fn value(json: Json) -> Value {
    match json {
        Json::String(text) => match text.strip_prefix(':') {
            Some(name) => Value::Symbol(name.to_owned()),
            None => Value::String(text),
        },
        Json::Array(items) => Value::Array(items.into_iter().map(value).collect()),
        Json::Object(pairs) => Value::Hash(
            pairs
                .into_iter()
                .map(|(name, content)| (key(name), value(content)))
                .collect::<Hash>(),
        ),
        plain => Value::from(plain),
    }
}

fn key(name: String) -> Key {
    let digits = name.strip_prefix('-').unwrap_or(&name);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match name.parse() {
        Ok(number) if is_number => Key::Integer(number),
        _ => Key::from(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_json_says_so() {
        let answer = verdict("{");
        let text = answer["error"].as_str().expect("an error");
        assert!(text.starts_with("the line is not JSON: "), "{text}");
    }
}
