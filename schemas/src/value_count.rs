//! Estimates the number of values in a text before it is parsed: 64 MiB of `0,0,…` take gigabytes as
//! values. Counting needs no memory.

use serde_json::Value as Json;

/// The maximum number of values in an answer, unless a setting overrides it: some hundred megabytes.
pub const MAX_VALUES: usize = 2_000_000;

/// The number of JSON values that take as much memory as one XML element, which has a name and lists of its
/// own.
const ELEMENT: usize = 3;

/// Estimates the number of values in a JSON or XML text, including keys and attributes. Any other text
/// counts as one.
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

/// Parses JSON that a program wrote.
///
/// # Errors
/// Fails when the text is not JSON or holds more than [`MAX_VALUES`] values. The message quotes nothing.
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
