//! Reads JSON without duplicate keys, of which two readers may take different values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// Parses JSON and refuses objects with duplicate keys.
///
/// # Errors
/// Fails with the problem and its place. No value is quoted, and the only key that is quoted is a duplicate
/// one. A duplicate key is a data error (`is_data`), everything else a syntax error.
pub fn read_unique(text: &[u8]) -> serde_json::Result<Json> {
    serde_json::from_slice(text).map(|Unique(json)| json)
}

/// A JSON value without duplicate keys.
struct Unique(Json);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader).map(Self)
    }
}

/// Builds a value from what the deserializer provides.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(value)) = from.next_element()? {
            list.push(value);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "the key `{key}` occurs twice in one object: write it once"
                )));
            }
            let Unique(value) = from.next_value()?;
            object.insert(key, value);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_each_key_once_is_read_as_ever() {
        for text in [
            r#"{"a": [1, -2, 2.5, 1e300, "é\n", null, true, {}], "b": {"a": 18446744073709551615}}"#,
            "7",
            "[]",
        ] {
            let read = read_unique(text.as_bytes()).expect("it is JSON");
            assert_eq!(Some(read), serde_json::from_str(text).ok(), "{text}");
        }
        let error = read_unique(b"{\"a\": ").expect_err("it is cut off");
        assert!(error.is_eof() && !error.is_data(), "{error}");
    }

    #[test]
    fn a_key_that_stands_twice_is_named_and_no_value() {
        for text in [
            r#"{"x": "canary", "x": "canary"}"#,
            r#"[{"a": {"x": 1, "y": "canary", "\u0078": 1}}]"#,
        ] {
            let error = read_unique(text.as_bytes()).expect_err("it says two things");
            assert!(error.is_data(), "{error}");
            let told = error.to_string();
            assert!(told.starts_with("the key `x` occurs twice"), "{told}");
            assert!(told.contains("line 1 column"), "{told}");
            assert!(!told.contains("canary"), "{told}");
        }
    }
}
