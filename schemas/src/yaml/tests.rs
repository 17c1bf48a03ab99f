//! Tests of the public interface: documents are parsed into values, or into errors with their places.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::json;

use super::{Node, from_str, parse};
use crate::Value;

fn json_of(text: &str) -> serde_json::Value {
    parse(text)
        .unwrap_or_else(|error| panic!("{error}"))
        .to_value()
        .to_json()
}

fn refusal(text: &str) -> String {
    parse(text).expect_err("a refusal").to_string()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    name: String,
    #[serde(default)]
    attributes: IndexMap<String, Attribute>,
    #[serde(default)]
    limits: Vec<u16>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attribute {
    r#type: Integer,
    behaviour: Option<Behaviour>,
    #[serde(default)]
    default: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Behaviour {
    Namevar,
    ReadOnly,
}

/// Stands for any text that is parsed further.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
struct Integer;

impl TryFrom<String> for Integer {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text == "Integer" {
            Ok(Self)
        } else {
            Err("expected a data type")
        }
    }
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Pattern {
    Bare(String),
    Full { pattern: String, desc: String },
}

fn type_error(text: &str) -> String {
    from_str::<Type>(text).expect_err("an error").to_string()
}

#[test]
fn an_empty_text_is_undef() {
    for text in ["", "# only a comment\n", "---\n", "\u{feff}"] {
        assert!(parse(text).expect("a document").is_undef(), "{text:?}");
    }
}

#[test]
fn quoted_and_block_scalars_are_texts() {
    assert_eq!(
        json_of("- 'yes'\n- \"017\"\n- |\n  12\n- >-\n  1\n  2\n- !!str 017\n- !!int '017'\n"),
        json!(["yes", "017", "12\n", "1 2", "017", 15])
    );
}

#[test]
fn keys_keep_order_and_whole_numbers_stay_numbers() {
    let value = parse("b: 1\n2: two\non: 3\n")
        .expect("a document")
        .to_value();
    let keys: Vec<_> = value
        .as_hash()
        .expect("a hash")
        .iter()
        .map(|(key, _)| key.clone())
        .collect();
    assert_eq!(keys, ["b".into(), 2.into(), "on".into()]);
    assert_eq!(from_str::<Value>("b: 1\n2: two\non: 3\n"), Ok(value));
    let texts: IndexMap<String, String> = from_str("1: one\nb: two\n").expect("texts");
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["1", "b"]);
}

#[test]
fn duplicate_keys_are_refused_with_both_places() {
    assert_eq!(
        refusal("a:\n  x: 1\n  y: 2\n  x: canary\n"),
        "line 4, column 3: at a.x: duplicate key, first given at line 2, column 3"
    );
    assert!(
        parse("1: a\n'1': b\n").is_ok(),
        "a number and a text are two keys"
    );
}

#[test]
fn aliases_repeat_and_merges_fill_in() {
    assert_eq!(
        json_of("a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\nd: {q: 4, <<: *x}\n"),
        json!({"a": {"p": 1, "q": 2}, "b": {"p": 1, "q": 2}, "c": {"p": 1, "q": 3}, "d": {"q": 4, "p": 1}})
    );
    assert_eq!(
        json_of("- &x {p: 1}\n- &y {p: 2, q: 2}\n- {<<: [*x, *y]}\n- {<<: {<<: *y, q: 5}, r: 1}\n"),
        json!([{"p": 1}, {"p": 2, "q": 2}, {"p": 1, "q": 2}, {"p": 2, "q": 5, "r": 1}])
    );
    assert_eq!(
        refusal("a: {<<: [{x: 1}, 2]}"),
        "line 1, column 18: at a.<<[1]: expected a mapping to merge, found an integer"
    );
}

#[test]
fn aliases_cannot_make_a_document_explode() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        laughs.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    assert!(refusal(&laughs).contains("grows too much by its aliases"));
    // Few nodes, but long ones.
    let text = "x".repeat(64 * 1024);
    let long = format!("a: &a {text}\nb: [{}]\n", "*a, ".repeat(1000));
    assert!(refusal(&long).contains("grows too much by its aliases"));
    let merged = format!("a: &a {{k: {text}}}\nb: [{}]\n", "{<<: *a}, ".repeat(1000));
    assert!(refusal(&merged).contains("grows too much by its aliases"));
    let mut deep = "a0: &a0 []\n".to_owned();
    for level in 1..200 {
        deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(
        refusal(&deep).contains("levels of nesting"),
        "{}",
        refusal(&deep)
    );
    assert!(refusal(&"[".repeat(10_000)).starts_with("line 1, column "));
    assert!(refusal("&a [*a]").contains("its own parent"));
}

#[test]
fn reuse_by_many_targets_is_not_an_explosion() {
    let mut text = "x: &x {a: 1, b: 2, c: {d: 3, e: [4, 5, 6]}}\ntargets:\n".to_owned();
    for target in 0..20_000 {
        text.push_str(&format!("  - {{name: t{target}, config: *x}}\n"));
    }
    let node = parse(&text).expect("a document");
    assert_eq!(
        node.get("targets")
            .and_then(Node::as_sequence)
            .map(<[_]>::len),
        Some(20_000)
    );
}

#[test]
fn what_is_not_yaml_is_refused_with_its_place() {
    for (text, place) in [
        ("a:\n\tb: 2\n", "line 2, column 2"),
        ("a: [1, 2\n", "line 1, column 4"),
        ("a: \"canary\nb: 1\n", "line"),
        ("a: @canary\n", "line 1, column 4"),
        ("a: *canary\n", "line 1, column 4"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1"),
        ("a: !ruby/object:X {}\n", "line 1, column 4"),
        ("password: !canary\n", "line 1, column 11"),
        ("{a: 1}: 2\n", "line 1, column 1"),
        ("a: 1\n: canary\n", "line 2, column 1"),
        ("a: b: canary\n", "line 1, column"),
        ("password:canary\nb: 1\n", "line"),
    ] {
        let message = refusal(text);
        assert!(message.starts_with(place), "{text:?}: {message}");
        assert!(!message.contains("canary"), "{message}");
    }
}

#[test]
fn json_is_read_with_its_places() {
    let text = "{\n\t\"a\": [1, -2.5, true, null, \"\\u00e9\\/\\ud834\\udd1e\"],\r\n\"b\":{\"c\":\"on\"}}\n";
    let read: serde_json::Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(json_of(text), read);
    let node = parse(text).expect("a document");
    let c = node.get("b").and_then(|b| b.get("c")).expect("b.c");
    assert_eq!((c.line, c.column), (3, 10));
}

#[test]
fn errors_below_have_place_and_path() {
    assert_eq!(
        type_error("name: x\nattributes:\n  prefix:\n    type: canary\n"),
        "line 4, column 11: at attributes.prefix.type: expected a data type"
    );
    assert_eq!(
        type_error("name: 12345\n"),
        "line 1, column 7: at name: expected a text, found an integer"
    );
    assert_eq!(
        type_error("name: x\nlimits: [1, 2, 70000]\n"),
        "line 2, column 16: at limits[2]: expected an integer from 0 to 65535, found another \
         value (an integer)"
    );
    assert_eq!(
        type_error("name: x\nattributes:\n  a: {type: Integer, behavior: namevar}\n"),
        "line 3, column 22: at attributes.a: unknown key `behavior`; did you mean `behaviour`?"
    );
    assert_eq!(
        type_error("name: x\nattributes:\n  a: {type: Integer, behaviour: canary}\n"),
        "line 3, column 33: at attributes.a.behaviour: expected one of namevar, read_only, found \
         another text"
    );
    assert_eq!(
        type_error("name: x\nattributes:\n  a: {behaviour: namevar}\n"),
        "line 3, column 6: at attributes.a: missing key `type`"
    );
    assert_eq!(
        type_error("name: x\nattributes: [canary]\n"),
        "line 2, column 13: at attributes: expected a mapping, found a list"
    );
    assert_eq!(
        type_error("canary"),
        "line 1, column 1: expected a mapping, found a text"
    );
}

#[test]
fn a_document_is_read_into_types() {
    let read: Type = from_str(
        "name: x\nattributes:\n  a: {type: Integer, behaviour: read_only, default: {1: [on]}}\n",
    )
    .expect("a type");
    let attribute = &read.attributes["a"];
    assert_eq!(attribute.r#type, Integer);
    assert_eq!(attribute.behaviour, Some(Behaviour::ReadOnly));
    assert_eq!(
        attribute.default.as_ref().map(Value::to_json),
        Some(json!({"1": [true]})),
    );
    assert_eq!((read.name.as_str(), read.limits.len()), ("x", 0));
}

#[test]
fn an_untagged_choice_takes_either_shape() {
    let read: Vec<Pattern> = from_str("- a\n- {pattern: b, desc: c}\n").expect("patterns");
    let full = Pattern::Full {
        pattern: "b".to_owned(),
        desc: "c".to_owned(),
    };
    assert_eq!(read, [Pattern::Bare("a".to_owned()), full]);
    let error = from_str::<Vec<Pattern>>("- a\n- {pattern: canary}\n").expect_err("an error");
    assert_eq!(
        error.to_string(),
        "line 2, column 3: at [1]: expected one of the forms that are possible here, found another"
    );
}

#[test]
fn a_node_shows_keys_and_kinds_but_no_scalar() {
    let node = parse("password: canary\nports: [1, 2.5]\n").expect("a document");
    let shown = format!("{node:?} {node:#?} {:?}", node.kind);
    assert!(
        shown.contains("password") && shown.contains("a float"),
        "{shown}"
    );
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn json_is_read_as_the_same_whatever_characters_it_holds() {
    let text: String = ('\u{1}'..='\u{2ff}')
        .chain("\u{2028}\u{2029}\u{feff}\u{fffd}\u{fffe}\u{ffff}\u{1f511}".chars())
        .collect();
    let json =
        serde_json::json!({ "password": text, "list": [1, -2.5, true, null, ""], "k\u{85}": {} });
    let read = parse(&super::from_json(&json))
        .expect("it is YAML")
        .to_value();
    assert_eq!(read.to_json(), json);
}
