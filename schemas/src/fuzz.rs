//! Properties that hold for any input. The fuzz targets call these functions, and so does the test that
//! replays the corpora.

use serde_json::Value as Json;

use crate::pxp::{ActionRequest, JsonSchema, Metadata};
use crate::{DataType, Value};

/// A data type is either refused, or its display form parses to the same type. Checking a value terminates.
///
/// The data are a type, a NUL, and a value as JSON.
pub fn data_types(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (source, value) = text.split_once('\0').unwrap_or((text, "null"));
    let Ok(data_type) = DataType::parse(source) else {
        return;
    };
    let said = data_type.to_string();
    // Puppet does not accept its own display form of an unknown type name, and neither does devgate.
    if said.contains("TypeReference[") {
        return;
    }
    let again = DataType::parse(&said).expect("a type can be read as it says itself");
    assert_eq!(again.to_string(), said);
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(value).map(Value::from) {
        let verdict = data_type.check(&value).is_ok();
        assert_eq!(verdict, again.check(&value).is_ok(), "{said}");
        assert_eq!(verdict, data_type.check_secret(&value).is_ok(), "{said}");
    }
}

/// A module's output is either metadata or refused. A request survives a round trip. A schema violation
/// never quotes the value. Checking terminates.
///
/// The input is a JSON Schema, a NUL, and a value as JSON; each part is also read as a module's output.
pub fn pxp(data: &[u8]) {
    let (schema, value) = match data.iter().position(|byte| *byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &b"null"[..]),
    };
    for text in [schema, value] {
        if let Err(problems) = Metadata::read(text) {
            assert!(!problems.to_string().is_empty());
        }
        if let Ok(request) = ActionRequest::read(text) {
            let written = request.to_stdin();
            assert_eq!(ActionRequest::read(written.reveal()), Ok(request));
        }
    }
    let read = |text| serde_json::from_slice::<Json>(text);
    let (Ok(source), Ok(value)) = (read(schema), read(value)) else {
        return;
    };
    if let Ok(schema) = JsonSchema::new(&source)
        && let Err(misfit) = schema.check(&value)
    {
        let (told, source) = (misfit.to_string(), source.to_string());
        let mut texts = Vec::new();
        values(&value, &mut texts);
        let quoted = texts.iter().find(|text| {
            let shown = format!("{text:?}");
            text.len() > 8 && told.contains(&shown) && !source.contains(&shown)
        });
        assert_eq!(quoted, None, "{told}");
    }
}

/// Collects every text in a value, keys excluded.
fn values<'v>(value: &'v Json, texts: &mut Vec<&'v str>) {
    match value {
        Json::String(text) => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| values(item, texts)),
        Json::Object(members) => members.values().for_each(|value| values(value, texts)),
        _ => {}
    }
}
