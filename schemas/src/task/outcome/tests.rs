//! Tests of how a task's output becomes its result.

use super::*;

fn outcome(exit: Exit, stdout: impl AsRef<[u8]>, stderr: &str) -> Outcome {
    let captured = |bytes: &[u8]| CapturedOutput {
        bytes: bytes.to_vec(),
        cut: false,
    };
    Outcome {
        exit,
        stdout: captured(stdout.as_ref()),
        stderr: captured(stderr.as_bytes()),
    }
}

fn value(exit: i32, stdout: impl AsRef<[u8]>) -> Json {
    let hash = outcome(Exit::Code(exit), stdout, "").into_value("sample");
    Value::Hash(hash).to_json()
}

#[test]
fn a_json_object_is_the_result_and_anything_else_is_its_output() {
    assert_eq!(
        value(0, r#" {"b": 1, "a": {"c": []}} "#),
        json!({"b": 1, "a": {"c": []}})
    );
    for text in ["", "hello\n", "[1]", "\"x\"", "{\"a\": 1} x", "null"] {
        assert_eq!(value(0, text), json!({"_output": text}));
    }
}

#[test]
fn a_code_that_is_not_zero_is_the_specifications_error() {
    let failed = outcome(Exit::Code(12), "half", "no route\n").into_value("sample");
    assert_eq!(
        Value::Hash(failed).to_json(),
        json!({
            "_output": "half",
            "_error": {
                "kind": "puppetlabs.tasks/task-error",
                "issue_code": "TASK_ERROR",
                "msg": "The task errored with a code 12",
                "details": {"exitcode": 12, "exit_code": 12, "stderr": "no route\n"},
            },
        })
    );
}

#[test]
fn an_error_of_the_task_stands_whatever_the_code() {
    let error = json!({"kind": "mytask/myerror", "msg": "m", "details": {"key": "value"}});
    for code in [0, 1] {
        let given = json!({"_error": error, "kept": 1});
        assert_eq!(value(code, given.to_string()), given);
    }
    assert_eq!(
        value(0, r#"{"_error": {"msg": "m", "details": null}}"#),
        json!({"_error": {"msg": "m", "kind": "bolt/error", "details": {}}})
    );
}

#[test]
fn an_invalid_error_is_reported_and_kept() {
    assert_eq!(
        value(0, r#"{"_error": "oops"}"#),
        json!({"_error": {
            "kind": "bolt/invalid-task-error",
            "msg": "Invalid error returned from task sample: \"oops\". Error must be an object \
                    with a msg key.",
            "details": {"original_error": "oops"},
        }})
    );
    assert_eq!(
        value(0, r#"{"_error": null}"#)["_error"]["kind"],
        "bolt/invalid-task-error"
    );
    assert_eq!(
        value(3, r#"{"_error": null}"#)["_error"]["details"]["exitcode"],
        3
    );
}

#[test]
fn a_signal_is_named_and_counts_as_a_shell_counts_it() {
    let killed = outcome(Exit::Signal(9), "", "").into_value("sample");
    let error = &Value::Hash(killed).to_json()["_error"];
    assert_eq!(error["msg"], "The task was ended by signal 9");
    assert_eq!(
        error["details"],
        json!({"exitcode": 137, "exit_code": 137, "signal": 9})
    );
}

#[test]
fn bytes_that_are_no_utf8_are_an_error_with_any_code() {
    for code in [0, 4] {
        let error = &value(code, b"{\"a\": \"\xff\"}")["_error"];
        assert_eq!(error["kind"], TASK_ERROR);
        assert_eq!(
            error["msg"],
            "The task result contained invalid UTF-8 on stdout"
        );
        assert_eq!(error["issue_code"], "TASK_ERROR");
        assert_eq!(error["details"]["exitcode"], code);
        assert_eq!(error["details"]["cause"], "output_encoding_error");
    }
}

#[test]
fn truncated_output_is_never_taken_for_a_complete_result() {
    for (bytes, kept) in [("{}".as_bytes(), "{}..."), (b"a\xc3", "a...")] {
        let mut cut = outcome(Exit::Code(0), bytes, "");
        cut.stdout.cut = true;
        let json = Value::Hash(cut.into_value("sample")).to_json();
        assert_eq!(json["_output"], kept);
        assert_eq!(json["_error"]["issue_code"], "OUTPUT_LIMIT");
        let kind = json["_error"]["kind"].as_str().expect("a kind");
        assert_eq!(kind == UNPARSABLE_OUTPUT, kept == "{}...", "{kind}");
        assert_eq!(json["_error"]["details"]["stdout_cut"], true);
    }
}

#[test]
fn the_last_of_much_begins_with_a_line() {
    let last = |text: &str| {
        let bytes = text.as_bytes().to_vec();
        CapturedOutput { bytes, cut: false }.last()
    };
    assert_eq!(last("a\nb"), "a\nb");
    let filler = "x".repeat(LAST);
    assert_eq!(last(&format!("{filler}secret\nb\n")), "b\n");
    assert_eq!(last(&format!("{filler}secret")), TOO_LONG);
}

#[test]
fn a_result_of_too_many_values_is_not_read() {
    let many = format!("{{\"a\": [{}0]}}", "0,".repeat(MAX_VALUES));
    let json = value(0, many);
    assert_eq!(json["_error"]["kind"], UNPARSABLE_OUTPUT);
    assert!(json.get("_output").is_none() && json.get("a").is_none());
}

#[test]
fn what_a_task_calls_sensitive_is_hidden() {
    let hash = outcome(
        Exit::Code(0),
        r#"{"_sensitive": {"k": "canary"}, "a": 1}"#,
        "",
    )
    .into_value("sample");
    assert!(matches!(hash.get("_sensitive"), Some(Value::Sensitive(_))));
    let shown = format!("{hash:?} {}", Value::Hash(hash.clone()).to_json());
    assert!(!shown.contains("canary") && shown.contains("Sensitive [value redacted]"));
}
