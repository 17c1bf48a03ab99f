//! Tests of expressions and templates.

use devgate_schemas::Hash;
use serde_json::json;

use super::*;

fn scope(json: serde_json::Value) -> Scope {
    let Value::Hash(values) = Value::from(json) else {
        panic!("a scope is a hash")
    };
    Scope::of_row(&values)
}

fn value(source: &str, row: serde_json::Value) -> Result<serde_json::Value, Error> {
    let scope = scope(row);
    let names = ["A", "B"];
    Expression::new(Language::default(), source, names)?
        .evaluate(&scope)
        .map(|value| value.to_json())
}

#[test]
fn an_expression_makes_a_typed_value() {
    let row = || json!({"A": "8.4.4", "B": ["x", "y"]});
    assert_eq!(value("A", row()), Ok(json!("8.4.4")));
    assert_eq!(value("'FRRouting'", row()), Ok(json!("FRRouting")));
    assert_eq!(value("(A | split('.'))[0] | integer", row()), Ok(json!(8)));
    assert_eq!(value("A != ''", row()), Ok(json!(true)));
    assert_eq!(value("B", row()), Ok(json!(["x", "y"])));
    assert_eq!(
        value("A or none", json!({"A": "", "B": []})),
        Ok(json!(null))
    );
}

#[test]
fn an_unknown_name_is_refused_when_it_is_compiled() {
    let error = Expression::new(Language::default(), "NEXTHOP", ["PREFIX", "NEXT_HOP"])
        .expect_err("unknown");
    assert_eq!(
        error.message,
        "`NEXTHOP` is not known here; did you mean `NEXT_HOP`?; known are PREFIX, NEXT_HOP"
    );
}

#[test]
fn an_unknown_word_of_the_language_is_refused_where_nothing_runs_it() {
    let expression =
        |source| Expression::new(Language::default(), source, ["A"]).expect_err("unknown");
    assert_eq!(
        expression("'' if A == '' else\n A | intger"),
        Error {
            line: 2,
            message: "there is no filter `intger`; did you mean `integer`?".to_owned(),
            cause: Cause::Other,
            expression: None,
        }
    );
    assert_eq!(
        expression("[A is chnaged(1)]").message,
        "there is no test `chnaged`; did you mean `changed`?"
    );
    assert_eq!(
        expression("{'a': {'b': A | zzzz}}").message,
        "there is no filter `zzzz`"
    );
    assert!(
        expression("A or nothing(A)")
            .message
            .starts_with("`nothing` is not known here")
    );
    let template = "a\n{% if A %}\n{% for x in A %}\n{{ x | uper }}\n{% endfor %}\n{% endif %}\n";
    let error =
        Template::new(Language::default(), template, ["A"], Escape::None).expect_err("unknown");
    assert_eq!(
        (error.line, error.message.as_str()),
        (4, "there is no filter `uper`; did you mean `upper`?")
    );
    let filter_block = "{% filter indnet(2) %}x{% endfilter %}";
    Template::new(Language::default(), filter_block, ["A"], Escape::None).expect_err("unknown");
}

#[test]
fn a_value_is_written_as_json() {
    let value = value(
        "{'a': A, 'b': B} | tojson",
        json!({"A": "x\"y", "B": [1, null]}),
    );
    assert_eq!(value, Ok(json!("{\"a\": \"x\\\"y\", \"b\": [1, null]}")));
}

#[test]
fn a_text_in_quotes_is_read_back_as_it_was() {
    for (text, written) in [
        ("a b", r#""a b""#),
        (r#"say "a\b""#, r#""say \"a\\b\"""#),
        (r"ends with \", r#""ends with \\""#),
        ("", r#""""#),
        ("$x", r#""\$x""#),
        (r#"""#, r#""\"""#),
    ] {
        assert_eq!(
            value("A | quoted('$')", json!({ "A": text })),
            Ok(json!(written))
        );
        assert_eq!(
            value("A | unquoted", json!({ "A": written })),
            Ok(json!(text))
        );
    }
    assert_eq!(value("A | quoted", json!({"A": "$x"})), Ok(json!("\"$x\"")));
    for text in ["plain", "\"", "a \"b\"", "\"open", ""] {
        assert_eq!(value("A | unquoted", json!({ "A": text })), Ok(json!(text)));
    }
    let error = value("A | quoted", json!({"A": ["x"]})).expect_err("a list");
    assert!(error.message.contains("expects a text"), "{error:?}");
    let error = value("A | quoted", json!({"A": null})).expect_err("nothing");
    assert_eq!(error.message, NO_VALUE);
}

#[test]
fn a_template_refuses_what_is_not_there() {
    let template = Template::new(
        Language::default(),
        "one\n\n  two {{ A }}\n",
        ["A"],
        Escape::None,
    )
    .expect("compiles");
    let mut row = Hash::new();
    row.insert("A", Value::Undef);
    let error = template.render(&Scope::of_row(&row)).expect_err("no value");
    assert_eq!(error.line, 3);
    assert!(error.message.contains("no value"), "{}", error.message);
}

#[test]
fn a_value_is_written_as_the_other_language_has_it() {
    let text = |escape| {
        let template = Template::new(
            Language::default(),
            "{{ A | safe }} {{ B }}",
            ["A", "B"],
            escape,
        );
        let row = scope(json!({ "A": "a/b<é>", "B": false }));
        template.expect("compiles").render(&row).expect("a text")
    };
    assert_eq!(text(Escape::None), "a/b<é> false");
    assert_eq!(text(Escape::Path), "a%2Fb%3C%C3%A9%3E false");
    assert_eq!(text(Escape::Xml), "a/b&lt;é&gt; false");
}

#[test]
fn a_value_makes_no_more_of_a_command() {
    let template =
        Template::new(Language::default(), "show {{ A }}", ["A"], Escape::Name).expect("compiles");
    let text = |value: &str| template.render(&scope(json!({ "A": value })));
    assert_eq!(
        text("Gi0/1.5 vrf {x}"),
        Ok("show Gi0/1.5 vrf {x}".to_owned())
    );
    for value in [
        "a | redirect b",
        "a;reload",
        "a\nreload",
        "a?",
        "$(a)",
        "a > b",
        "`a`",
        "\"a",
    ] {
        let error = text(value).expect_err(value).message;
        assert!(error.contains("does not name something"), "{error}");
    }
}

#[test]
fn lines_with_nothing_but_a_block_leave_no_line() {
    let source = "a\n  {% if A %}\n  b {{ A }}\n  {% endif %}\nc";
    let template =
        Template::new(Language::default(), source, ["A"], Escape::None).expect("compiles");
    assert_eq!(
        template.render(&scope(json!({"A": 1}))),
        Ok("a\n  b 1\nc".to_owned())
    );
    assert_eq!(
        template.render(&scope(json!({"A": ""}))),
        Ok("a\nc".to_owned())
    );
}
