//! The input of a task: on stdin, in its environment, and nowhere else.

use serde_json::json;

use super::*;

/// Prints its stdin and, under `env`, every `PT_` variable.
const ECHO: &str = r#"#!/usr/bin/env python3
import json, os, sys
env = {k: v for k, v in os.environ.items() if k.startswith("PT_")}
print(json.dumps({"stdin": sys.stdin.read(), "env": env, "argv": sys.argv[1:]}))
"#;

fn stdin(value: &Json) -> Json {
    serde_json::from_str(value["stdin"].as_str().expect("a text")).expect("JSON on stdin")
}

#[tokio::test]
async fn parameters_are_on_stdin_and_in_the_environment() {
    let value = Run::of(ECHO)
        .parameters(json!({"a": 1, "b": "a string", "c": [1, "3"], "d": {"x": null}, "e": null}))
        .value()
        .await;
    assert_eq!(
        stdin(&value),
        json!({"a": 1, "b": "a string", "c": [1, "3"], "d": {"x": null}, "e": null, "_task": "m::t"})
    );
    assert_eq!(
        value["env"],
        json!({
            "PT_a": "1", "PT_b": "a string", "PT_c": "[1,\"3\"]", "PT_d": "{\"x\":null}",
            "PT__task": "m::t",
        })
    );
    assert_eq!(value["argv"], json!([]));
}

#[tokio::test]
async fn an_input_method_alone_is_alone() {
    let parameters = json!({"a": 1});
    let value = Run::of(ECHO)
        .metadata(json!({"input_method": "stdin"}))
        .parameters(parameters.clone())
        .value()
        .await;
    assert_eq!(
        (stdin(&value), &value["env"]),
        (json!({"a": 1, "_task": "m::t"}), &json!({}))
    );
    let value = Run::of(ECHO)
        .metadata(json!({"input_method": "environment"}))
        .parameters(parameters)
        .value()
        .await;
    assert_eq!(value["stdin"], "");
    assert_eq!(value["env"], json!({"PT_a": "1", "PT__task": "m::t"}));
}

#[tokio::test]
async fn the_target_is_on_stdin_and_in_the_environment_only_where_that_is_all() {
    let target = json!({"host": "h", "password": "canary", "port": null});
    let both = Run::of(ECHO)
        .metadata(json!({"remote": true}))
        .target(target.clone())
        .value()
        .await;
    assert_eq!(
        stdin(&both)["_target"],
        json!({"host": "h", "password": "canary"})
    );
    assert_eq!(both["env"], json!({"PT__task": "m::t"}));
    let alone = Run::of(ECHO)
        .metadata(json!({"remote": true, "input_method": "environment"}))
        .target(target)
        .value()
        .await;
    assert_eq!(
        alone["env"]["PT__target"],
        r#"{"host":"h","password":"canary"}"#
    );
}

#[tokio::test]
async fn noop_is_passed_only_under_noop() {
    let mut run = Run::of(ECHO).metadata(json!({"supports_noop": true}));
    assert_eq!(stdin(&run.value().await).get("_noop"), None);
    run.mode = Mode::Noop;
    let value = run.value().await;
    assert_eq!(stdin(&value)["_noop"], true);
    assert_eq!(value["env"]["PT__noop"], "true");
}

#[tokio::test]
async fn a_value_too_long_for_a_variable_is_on_stdin_or_an_error_that_names_it() {
    // `PT_a=`, the value and a NUL: the longest that fits, and one byte more.
    for (size, fits) in [(131_066, true), (131_067, false)] {
        let value = Run::of(ECHO)
            .parameters(json!({"a": "x".repeat(size)}))
            .value()
            .await;
        assert_eq!(value["env"].get("PT_a").is_some(), fits);
        assert_eq!(stdin(&value)["a"].as_str().map(str::len), Some(size));
    }
    let nul = json!({"a": "canary\u{0}"});
    for given in [nul, json!({"a": "canary".repeat(30_000)})] {
        let alone = Run::of(ECHO)
            .metadata(json!({"input_method": "environment"}))
            .parameters(given);
        let error = alone.run().await.expect_err("no variable");
        assert_eq!(error.kind(), "puppetlabs.tasks/environment-var-error");
        let text = error.to_string();
        assert!(
            text.contains("parameter 'a'") && !text.contains("canary"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn parameters_that_are_too_long_together_are_reported() {
    let names: Vec<String> = (0..80).map(|number| format!("p{number}")).collect();
    let given: serde_json::Map<String, Json> = names
        .into_iter()
        .map(|name| (name, Json::from("x".repeat(120_000))))
        .collect();
    let error = Run::of(ECHO)
        .parameters(given.into())
        .run()
        .await
        .expect_err("too long");
    assert!(
        error.to_string().contains("too long for the environment"),
        "{error}"
    );
}

#[tokio::test]
async fn secrets_reach_the_task_and_nothing_else() {
    let metadata = json!({"parameters": {"p": {"type": "String", "sensitive": true}}});
    let run = Run::of("cat >/dev/null; test \"$PT_p\" = canary && echo yes")
        .metadata(metadata)
        .parameters(json!({"p": "canary"}));
    assert_eq!(run.value().await["_output"], "yes\n");
    let task = run.modules.find("m::t");
    let parameters = task
        .parameters(hash(run.parameters.clone()))
        .expect("parameters");
    assert!(!format!("{parameters:?}").contains("canary"));
    assert_eq!(parameters.secrets().count(), 1);
    let wrong = run
        .parameters(json!({"p": ["canary"]}))
        .run()
        .await
        .expect_err("no string");
    assert!(!format!("{wrong} {wrong:?} {:?}", wrong.to_error()).contains("canary"));
}
