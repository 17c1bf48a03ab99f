//! How much a text becomes once it is read: 64 MiB of `0,0,…` are gigabytes as values.
//!
//! It is looked at before it is read, and costs no memory.

use serde_json::Value as Json;

/// So many values one answer may have, unless a setting says otherwise: some hundred megabytes.
pub const MAX_VALUES: usize = 2_000_000;

/// An element of XML takes as much room as so many values of JSON: it has a name, and lists of its own.
const ELEMENT: usize = 3;

/// About how many values a text of JSON or XML becomes, keys and attributes counted. Other text is one.
pub fn values(text: &[u8]) -> usize {
    match text.trim_ascii_start().first() {
        Some(b'{' | b'[') => in_json(text),
        _ => in_xml(text),
    }
}

fn in_json(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b',' | b':' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}

fn in_xml(text: &[u8]) -> usize {
    let (mut count, mut is_tag) = (1, false);
    for pair in text.windows(2) {
        match pair {
            [b'<', b'/'] => is_tag = false,
            [b'<', _] => {
                count += ELEMENT;
                is_tag = true;
            }
            [b'>', _] => is_tag = false,
            [b'=', _] if is_tag => count += 1,
            _ => {}
        }
    }
    count
}

/// Reads JSON that a program wrote.
///
/// # Errors
/// What is wrong with it, quoting nothing: it is no JSON, or holds more than [`MAX_VALUES`].
pub fn read_json(text: &[u8]) -> Result<Json, String> {
    if values(text) > MAX_VALUES {
        return Err(format!("it holds more than {MAX_VALUES} values"));
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_before_they_are_read() {
        for (text, count) in [
            ("[]", 2),
            (" [0,0,0]", 4),
            (r#"{"a,[\"{:": [1, {"b": "c"}]}"#, 7),
            ("<a/>", 4),
            ("<?xml?><a b='1' c='2'>x=y<b/></a>", 12),
            ("plain, text: [as] it is", 1),
            ("", 1),
        ] {
            assert_eq!(values(text.as_bytes()), count, "{text}");
        }
    }

    #[test]
    fn json_of_too_many_values_is_not_read() {
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        let told = read_json(many.as_bytes()).expect_err("it is too much");
        assert_eq!(told, "it holds more than 2000000 values");
        assert!(read_json(b"[1").expect_err("no JSON").starts_with("EOF"));
        assert_eq!(read_json(b"[1]"), Ok(Json::from(vec![1])));
    }
}
