//! What TextFSM templates mean.

use devgate_schemas::Value;

use super::row::{Position, lines};
use super::*;

const ROUTES: &str = "Value Required PREFIX (\\S+/\\d+)\nValue NEXT_HOP (\\S+)\nValue DISTANCE (\\w+)\n\n\
        Start\n  ^ip route ${PREFIX} ${NEXT_HOP}( ${DISTANCE})?$$ -> Record\n  ^bad -> Error \"no route\"\n";

fn json(rows: &[Row]) -> serde_json::Value {
    rows.iter()
        .map(|row| Value::Hash(row.values.clone()).to_json())
        .collect()
}

#[test]
fn each_record_is_a_row_of_named_texts() {
    let fsm = TextFsm::new(ROUTES);
    assert_eq!(fsm.names(), ["PREFIX", "NEXT_HOP", "DISTANCE"]);
    let rows = fsm.rows("!\n\nip route 10.0.0.0/8 192.0.2.1 5\nip route 10.1.0.0/16 Null0\n");
    assert_eq!(
        json(&rows.expect("parses")),
        serde_json::json!([
            {"PREFIX": "10.0.0.0/8", "NEXT_HOP": "192.0.2.1", "DISTANCE": "5"},
            {"PREFIX": "10.1.0.0/16", "NEXT_HOP": "Null0", "DISTANCE": ""},
        ])
    );
}

#[test]
fn a_row_knows_the_positions_of_its_values() {
    let output = "ip route 10.0.0.0/8 192.0.2.1\n!\nip route 10.1.0.0/16 192.0.2.1 x9\n";
    let rows = TextFsm::new(ROUTES).rows(output).expect("parses");
    assert_eq!(
        rows[1].position(output, "DISTANCE"),
        Position {
            line: 3,
            column: 32
        }
    );
    assert_eq!(
        rows[1].position(output, "PREFIX"),
        Position {
            line: 3,
            column: 10
        }
    );
    assert_eq!(
        rows[0].position(output, "DISTANCE"),
        Position { line: 1, column: 1 }
    );
}

#[test]
fn lists_filled_down_values_and_the_record_at_the_end_are_as_in_python() {
    let fsm = TextFsm::new(
        "Value Required,Filldown NAME (\\S+)\nValue List ADDRESS ((?P<ip>\\S+)/(?P<length>\\d+))\n\n\
             Start\n  ^interface -> Continue.Record\n  ^interface ${NAME}\n  ^ ip address ${ADDRESS}\n",
    );
    let rows =
        fsm.rows("interface lo\n ip address 10.0.0.1/32\n ip address 10.0.0.2/32\ninterface e1\n");
    assert_eq!(
        json(&rows.expect("parses")),
        serde_json::json!([
            {"NAME": "lo", "ADDRESS": [
                {"ip": "10.0.0.1", "length": "32"}, {"ip": "10.0.0.2", "length": "32"},
            ]},
            {"NAME": "e1", "ADDRESS": []},
        ])
    );
}

#[test]
fn a_value_that_is_filled_up_reaches_earlier_rows() {
    let fsm = TextFsm::new(
        "Value NAME (\\w+)\nValue Fillup VRF (\\w+)\n\nStart\n  ^n ${NAME} -> Record\n  ^v ${VRF}\n\nEOF\n",
    );
    let rows = fsm.rows("n a\nn b\nv red\n").expect("parses");
    assert_eq!(
        json(&rows),
        serde_json::json!([{"NAME": "a", "VRF": "red"}, {"NAME": "b", "VRF": "red"}])
    );
}

/// The rows of a template with these values and states.
fn parsed(template: &str, output: &str) -> serde_json::Value {
    json(&TextFsm::new(template).rows(output).expect("parses"))
}

#[test]
fn a_value_that_did_not_match_is_another_thing_than_an_empty_text() {
    let template = "Value A (\\w*)\nValue B (\\w+)\n\nStart\n  ^a=${A}(,${B})? -> Record\n\nEOF\n";
    assert_eq!(
        parsed(template, "a=,x\na=\n"),
        serde_json::json!([{"A": "", "B": "x"}, {"A": "", "B": ""}])
    );
    let template = "Value B (\\w+)\n\nStart\n  ^b(=${B})? -> Record\n\nEOF\n";
    assert_eq!(
        parsed(template, "b\nb=1\n"),
        serde_json::json!([{"B": "1"}])
    );
    let template = "Value List A (\\w+)\nValue List B ((?P<x>\\w)-(?P<y>\\d)?)\n\n\
                        Start\n  ^${A}( ${B})?( |$$)\n";
    assert_eq!(
        parsed("Value List B (\\d)\n\nStart\n  ^(${B}|x)\n", "x\n1\n"),
        serde_json::json!([{"B": [null, "1"]}])
    );
    assert_eq!(
        parsed(template, "one a-1\ntwo b-\n"),
        serde_json::json!([{"A": ["one", "two"], "B": [{"x": "a", "y": "1"}, {"x": "b", "y": null}]}])
    );
}

#[test]
fn options_take_effect_in_their_order() {
    let run = |options| {
        let template = format!(
            "Value {options} A (\\w*)\nValue N (\\d)\n\nStart\n  ^(${{A}}=)?${{N}} -> Record\n\nEOF\n"
        );
        parsed(&template, "x=1\n2\n=3\n")
    };
    // What was read last counts for `Required` before `List`, and the whole list after it.
    assert_eq!(
        run("Required,List"),
        serde_json::json!([{"A": ["x"], "N": "1"}])
    );
    assert_eq!(
        run("List,Required"),
        serde_json::json!([
            {"A": ["x"], "N": "1"}, {"A": [null], "N": "2"}, {"A": [""], "N": "3"},
        ])
    );
    assert_eq!(
        run("Filldown,List"),
        serde_json::json!([
            {"A": ["x"], "N": "1"}, {"A": ["x", null], "N": "2"},
            {"A": ["x", null, ""], "N": "3"},
        ])
    );
}

#[test]
fn actions_clear_continue_and_end() {
    let template = "# A comment.\nValue Filldown V (\\w+)\nValue Key N (\\d)\n  # Another.\n\n# And\nStart\n  \
                        ^vrf ${V} -> Continue\n  ^vrf -> Clear\n  # A rule:\n\t^n $N -> Record\n ^off -> Clearall Off\n  \
                        ^cost \\$$\\d$$ -> Error\n  ^stop -> End\n  ^last -> Next.Record EOF\n\nOff\n  ^on -> Start\n  ^n ${N} -> Error \"it is off\"\n";
    assert_eq!(
        parsed(
            template,
            "vrf red\nn 1\nn 2\noff\non\nn 3\nn 4\nstop\nn 5\n"
        ),
        serde_json::json!([
            {"V": "red", "N": "1"}, {"V": "red", "N": "2"}, {"V": "", "N": "3"}, {"V": "", "N": "4"},
        ])
    );
    // At the end of the output, what was filled down is a row once more.
    let rows = parsed(template, "vrf red\nn 1\nlast\nn 5\n");
    assert_eq!(rows.as_array().map(Vec::len), Some(3), "{rows}");
    for (output, message) in [
        ("off\nn 1", "it is off"),
        ("\ncost $1", "the template refuses it"),
    ] {
        let error = TextFsm::new(template).rows(output).expect_err("refused");
        let message = message.to_owned();
        assert_eq!(error, Error::Output { line: 2, message });
    }
}

#[test]
fn lines_end_where_they_end_in_python() {
    let all = "a\r\nb\rc\u{b}d\u{c}e\u{1c}f\u{85}g\u{2028}h\n\ni";
    let all: Vec<&str> = lines(all).collect();
    assert_eq!(all.join(","), "a,b,c,d,e,f,g,h,,i");
}

#[test]
fn a_template_that_python_refuses_is_refused_at_its_line() {
    let with = |value: &str, states: &str| format!("Value A (\\w+)\n{value}\n\n{states}");
    let start = "Start\n  ^${A}\n";
    for (template, line, message) in [
        (String::new(), 1, "expected `Value NAME (REGEXP)`"),
        (with("Value B", start), 2, "expected `Value [OPTIONS]"),
        (with("Start", start), 2, "an empty line below the values"),
        (with("Value B [a]", start), 2, "expected `(REGEXP)`"),
        (with("Value B (a\\)", start), 2, "expected `(REGEXP)`"),
        (with("Value  B (a)", start), 2, "no option ``"),
        (with("Value Needed B (a)", start), 2, "no option `Needed`"),
        (with("Value Key,Key B (a)", start), 2, "twice"),
        (with("Value A (a)", start), 2, "two values `A`"),
        (with("Value B (a**)", start), 2, "multiple repeat"),
        (with("", "Begin\n  ^a\n"), 5, "no state `Start`"),
        (with("", "Start\n   ^a\n"), 5, "indented"),
        (with("", "Start\n  ^a\n\n  ^b\n"), 7, "no name of a state"),
        (with("", "Record\n  ^a\n"), 4, "no name of a state"),
        (with("", "Start\n\nStart\n"), 6, "two states"),
        (with("", "Start\n\nEOF\n  ^a\n"), 6, "has rules"),
        (with("", "Start\n  ^a$ -> Record\n"), 5, "`$$`"),
        (with("", "Start\n  ^${A} ${A}\n"), 5, "two groups `A`"),
        (with("", "Start\n  ^${B}\n"), 5, "no value `B`"),
        (
            with("", "Start\n  ^a -> Recrod Start\n"),
            5,
            "expected an action",
        ),
        (with("", "Start\n  ^a ->Record\n"), 5, "expected an action"),
        (
            with("", "Start\n  ^a -> Next \"x\"\n"),
            5,
            "expected an action",
        ),
        (
            with("", "Start\n  ^a -> Continue Start\n"),
            5,
            "no other state",
        ),
        (
            with("", "Start\n  ^a -> Strat\n"),
            5,
            "no state `Strat`; did you mean `Start`?",
        ),
    ] {
        // With one value, there is no line for a second one.
        let template = template.replace("\n\n\n", "\n# none\n\n");
        match TextFsm::new(template.as_str()).check() {
            Err(Error::Template {
                line: found,
                message: text,
            }) => {
                assert!(text.contains(message), "{template}: {text}");
                assert_eq!(found, line, "{template}: {text}");
            }
            other => panic!("{template}: {other:?}"),
        }
    }
}

#[test]
fn an_empty_line_is_a_line() {
    let fsm =
        TextFsm::new("Value A (\\w+)\n\nStart\n  ^$$ -> Body\n\nBody\n  ^${A} -> Record\n\nEOF\n");
    assert_eq!(
        json(&fsm.rows("one\n\ntwo\n").expect("parses")),
        serde_json::json!([{"A": "two"}])
    );
}

#[test]
fn a_value_that_no_engine_takes_is_refused_in_its_own_line_whether_rules_use_it_or_not() {
    let too_large = r"((?:\w{1000}){1000})";
    for value in [too_large, r"(a\2)", "(a))((b)"] {
        for rule in ["^(${B}|x)", "^x"] {
            let template = format!("Value A (a)\nValue B {value}\n\nStart\n  {rule} -> Record\n");
            match TextFsm::new(template.as_str()).check() {
                Err(Error::Template { line, .. }) => assert_eq!(line, 2, "{template}"),
                other => panic!("{template}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_wrong_names_the_line_of_template_or_output() {
    assert_eq!(
        TextFsm::new(ROUTES).rows("!\nbad\n"),
        Err(Error::Output {
            line: 2,
            message: "no route".to_owned()
        })
    );
    let wrong = TextFsm::new("Value A (\\w+)\n\nStart\n  ^${B} -> Record\n");
    let Err(Error::Template { line, message }) = wrong.check() else {
        panic!("an unknown value must be refused");
    };
    assert_eq!(line, 4);
    assert!(message.contains('B'), "{message}");
}
