//! What must hold of any text: called by the fuzz targets, and by the test that replays their corpora.

use crate::{DataType, Value};

/// A data type is refused, or says itself in words that mean the same; checking ends.
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
    // Puppet refuses what it says itself of a name that it does not know, and so do we.
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
