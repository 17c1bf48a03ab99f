//! Which HOCON is accepted, what it means, and which is refused.

use serde_json::{Value as Json, json};

use super::*;

fn read(text: &str) -> Json {
    Value::Hash(parse(text).expect(text)).to_json()
}

#[test]
fn json_is_hocon() {
    let text =
        r#"{"host": "192.0.2.1", "port": 22, "deep": {"list": [1, 2.5, true, null, "a\n\u0041"]}}"#;
    assert_eq!(
        read(text),
        serde_json::from_str::<Json>(text).expect("JSON")
    );
}

#[test]
fn people_may_leave_out_what_says_nothing() {
    let text = "# a device\nhost = 10.0.0.1 // where\nport : 2022,\n\nuser: net admin  \n\
                ssh {\n  ciphers = [a, b\n c\n]\n}\nssh.mac = x\nkey: \"\"\"two\nlines\"\"\"\"\n\
                enable = \"a\" b \"c\"\n";
    assert_eq!(
        read(text),
        json!({
            "host": "10.0.0.1", "port": 2022, "user": "net admin",
            "ssh": { "ciphers": ["a", "b", "c"], "mac": "x" },
            "key": "two\nlines\"", "enable": "a b c",
        })
    );
    assert_eq!(read(" \n# nothing\n"), json!({}));
}

#[test]
fn later_values_replace_earlier_ones_and_objects_are_merged() {
    assert_eq!(
        read("a = 1\na = { b = 1 }\na { c = 2, b = 3 }\nd = { x = 1 } { y = 2 }\ne = [1] [2]"),
        json!({ "a": { "b": 3, "c": 2 }, "d": { "x": 1, "y": 2 }, "e": [1, 2] })
    );
}

#[test]
fn problems_are_reported_with_their_place_and_never_quoted() {
    for (text, expected) in [
        (
            "password = ca!nary",
            "line 1, column 14: this character has a meaning",
        ),
        (
            "a = 1\npassword = ${canary}",
            "line 2, column 12: substitutions",
        ),
        (
            "include \"canary\"",
            "line 1, column 1: `include` is not read here",
        ),
        (
            "password = \"canary",
            "line 1, column 12: the text is not closed",
        ),
        (
            "password = \"canary\\q\"",
            "line 1, column 12: expected a text as JSON has it",
        ),
        (
            "password = \"\"\"canary",
            "line 1, column 12: the text is not closed by `\"\"\"`",
        ),
        ("canary", "line 1, column 7: expected `=`, `:` or `{`"),
        ("a =\n", "line 2, column 1: expected a value"),
        ("{ a = canary", "line 1, column 13: expected `}`"),
        ("a = [canary", "line 1, column 12: expected `]`"),
        (
            "a = canary } b",
            "line 1, column 12: expected a comma or a new line",
        ),
        (
            "a = canary {}",
            "objects, lists and texts cannot be put together",
        ),
        ("a += canary", "line 1, column 3: `+=` is not read here"),
        ("{} canary", "line 1, column 4: expected the end"),
        ("= canary", "line 1, column 1: expected a key"),
    ] {
        let told = parse(text).expect_err(text).to_string();
        assert!(told.contains(expected), "{text}: {told}");
        assert!(!told.contains("canary"), "{text}: {told}");
    }
    assert!(parse(&"a={".repeat(5000)).is_err());
    assert!(parse(&format!("a={}", "[".repeat(5000))).is_err());
}
