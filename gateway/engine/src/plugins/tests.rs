//! Plugins, as an inventory calls them.
//!
//! The encrypted values among the fixtures were created with Ruby's OpenSSL as eyaml calls it, with the `openssl`
//! command, and with `age`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use devgate_schemas::{Hash, Value, yaml};
use devgate_transports::Environment;

use super::{Plugins, unknown_configs};
use crate::inventory::{PluginError, ReferenceResolver};
use crate::project::Project;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/plugins/fixtures");

fn plugins(folder: &Path) -> Plugins {
    let project = Project::find(Some(folder.to_owned()), None, folder);
    Plugins::new(
        &project.unwrap_or_else(|error| panic!("{error}")),
        Arc::new(Environment::of_process()),
        None,
    )
}

fn reference(text: &str) -> Hash {
    yaml::from_str(text).expect("a reference")
}

async fn call(plugins: &Plugins, text: &str) -> Result<Value, PluginError> {
    plugins.resolve(&reference(text)).await
}

/// Calls a plugin with the keys and files of the fixtures.
async fn encrypted(text: &str) -> Result<Value, PluginError> {
    call(&plugins(Path::new(FIXTURES)), text).await
}

fn secret(text: &str) -> Value {
    Value::from(text).into_sensitive()
}

fn message<T>(result: Result<T, PluginError>, kind: &str) -> String {
    let error = result.err().expect("an error");
    assert_eq!(error.kind(), kind, "{error}");
    error.to_string()
}

/// Creates a project with modules from files by path. Those of tasks are executable.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        if name.contains("/tasks/") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
    }
    folder
}

fn fixture(name: &str) -> String {
    fs::read_to_string(Path::new(FIXTURES).join(name)).expect("a fixture")
}

fn quoted(text: &str) -> String {
    Value::from(text).to_json().to_string()
}

#[tokio::test]
async fn values_of_eyaml_and_openssl_are_decrypted_and_secret() {
    for (file, key, clear) in [
        ("eyaml.txt", None, "an eyaml canary"),
        ("openssl-aes128.txt", Some("keys/pkcs8.pem"), "a canary"),
        ("openssl-aes256.txt", Some("keys/pkcs8.pem"), "a canary"),
    ] {
        let key = key.map(|key| format!(", private_key: {key}"));
        let text = quoted(&fixture(file));
        let key = key.unwrap_or_default();
        let value = encrypted(&format!("{{_plugin: pkcs7, encrypted_value: {text}{key}}}")).await;
        assert_eq!(value.expect(file), secret(clear), "{file}");
    }
}

#[tokio::test]
async fn a_value_that_cannot_be_decrypted_is_reported_without_its_content() {
    let text = |file| quoted(&fixture(file));
    for (reference, expected) in [
        (
            format!(
                "{{_plugin: pkcs7, encrypted_value: {}}}",
                text("openssl-aes256.txt")
            ),
            "another key",
        ),
        (
            format!(
                "{{_plugin: pkcs7, encrypted_value: {}, private-key: keys/pkcs8.pem}}",
                text("openssl-des3.txt")
            ),
            "expected AES in CBC mode, found the cipher 1.2.840.113549.3.7",
        ),
        (
            "{_plugin: pkcs7, encrypted_value: canary}".to_owned(),
            "ENC[PKCS7,...]",
        ),
        (
            "{_plugin: pkcs7, encrypted_value: 'ENC[PKCS7,Y2FuYXJ5]'}".to_owned(),
            "it is damaged",
        ),
        (
            "{_plugin: pkcs7, encrypted_value: 'ENC[PKCS7,Y2FuYXJ5]', private_key: keys/age.txt}"
                .to_owned(),
            "expected an RSA private key in PEM",
        ),
        (
            "{_plugin: pkcs7, encrypted_value: 'ENC[PKCS7,Y2FuYXJ5]', private_key: none.pem}"
                .to_owned(),
            "cannot read the private key",
        ),
    ] {
        let message_text = message(encrypted(&reference).await, "bolt/plugin-error");
        assert!(
            message_text.contains(expected) && !message_text.contains("canary"),
            "{message_text}"
        );
    }
    let message_text = encrypted("{_plugin: pkcs7, encrypted: x}").await;
    let message_text = message(message_text, "bolt/validation-error");
    assert!(
        message_text.contains("unknown option `encrypted`"),
        "{message_text}"
    );
}

#[tokio::test]
async fn values_and_files_of_age_are_decrypted_and_secret() {
    let armored = quoted(&fixture("armored.age"));
    for (options, clear) in [
        (format!("encrypted_value: {armored}"), "an age canary"),
        ("file: binary.age".to_owned(), "binary canary"),
        ("file: two-recipients.age".to_owned(), "two"),
        ("file: empty.age, identity: keys/age.txt".to_owned(), ""),
    ] {
        let value = encrypted(&format!("{{_plugin: age, {options}}}")).await;
        assert_eq!(value.expect(&options), secret(clear), "{options}");
    }
}

#[tokio::test]
async fn what_age_cannot_open_is_reported() {
    let armored = fixture("armored.age");
    let damaged = armored.replacen("YWdl", "YWdm", 1);
    let cut = format!("{}\n-----END AGE ENCRYPTED FILE-----\n", &armored[..200]);
    for (options, expected) in [
        (
            "file: another.age".to_owned(),
            "for none of these identities",
        ),
        (
            format!("encrypted_value: {}", quoted(&damaged)),
            "an age file, version 1",
        ),
        (
            format!("encrypted_value: {}", quoted(&cut)),
            "it is damaged",
        ),
        (
            "encrypted_value: canary".to_owned(),
            "an age file, version 1",
        ),
        (
            "file: binary.age, identity: eyaml.txt".to_owned(),
            "expected lines with AGE-SECRET-KEY-1",
        ),
    ] {
        let message_text = encrypted(&format!("{{_plugin: age, {options}}}")).await;
        let message_text = message(message_text, "bolt/plugin-error");
        assert!(
            message_text.contains(expected) && !message_text.contains("canary"),
            "{message_text}"
        );
    }
    for options in ["file: a, encrypted_value: b", "identity: keys/age.txt"] {
        let message_text = encrypted(&format!("{{_plugin: age, {options}}}")).await;
        message(message_text, "bolt/validation-error");
    }
}

#[tokio::test]
async fn environment_variables_have_defaults_or_are_optional() {
    let folder = project(&[]);
    let plugins = plugins(folder.path());
    let path = std::env::var("PATH").expect("a path");
    let unset = "_plugin: env_var, var: DEVGATE_IS_NOT_SET";
    let value = call(&plugins, "{_plugin: env_var, var: PATH, default: x}").await;
    assert_eq!(value.expect("it is set"), Value::from(path));
    let value = call(&plugins, &format!("{{{unset}, default: x}}")).await;
    assert_eq!(value.expect("a default"), Value::from("x"));
    let value = call(&plugins, &format!("{{{unset}, optional: true}}")).await;
    assert_eq!(value.expect("nothing"), Value::Undef);
    let message_text = message(
        call(&plugins, &format!("{{{unset}}}")).await,
        "bolt/validation-error",
    );
    assert!(
        message_text.contains("DEVGATE_IS_NOT_SET is not set"),
        "{message_text}"
    );
    message(
        call(&plugins, "{_plugin: env_var}").await,
        "bolt/validation-error",
    );
    let value = call(&plugins, &format!("{{{unset}, json: true, default: [1]}}")).await;
    let one = Value::from(serde_json::json!([1]));
    assert_eq!(value.expect("a default that is no text"), one);
    let message_text = message(
        call(&plugins, "{_plugin: env_var, var: PATH, json: true}").await,
        "bolt/validation-error",
    );
    assert!(
        message_text.contains("PATH holds no JSON"),
        "{message_text}"
    );
    assert!(
        !message_text.contains("/bin"),
        "no value is quoted: {message_text}"
    );
}

#[tokio::test]
async fn a_task_returns_its_value_or_its_sensitive_result() {
    let folder = project(&[
        (
            "modules/m/tasks/init.sh",
            "#!/bin/sh\ncat > given\nprintf '{\"value\": [\"%s\"]}' \"$PT_a\"\n",
        ),
        (
            "modules/m/tasks/init.json",
            r#"{"parameters": {"a": {"type": "String", "sensitive": true}}}"#,
        ),
        (
            "modules/m/tasks/hidden.sh",
            "#!/bin/sh\necho '{\"_sensitive\": \"canary\"}'\n",
        ),
        ("modules/m/tasks/nothing.sh", "#!/bin/sh\necho '{}'\n"),
        (
            "modules/m/tasks/bad.sh",
            "#!/bin/sh\necho \"{\\\"_error\\\": {\\\"msg\\\": \\\"no luck with $PT_token\\\"}}\"\nexit 1\n",
        ),
        (
            "modules/m/tasks/bad.json",
            r#"{"parameters": {"token": {"type": "Optional[String]", "sensitive": true}}}"#,
        ),
        ("word.yaml", "hello"),
    ]);
    let plugins = plugins(folder.path());
    let a = "parameters: {a: {_plugin: yaml, filepath: word.yaml}}";
    let value = call(&plugins, &format!("{{_plugin: task, task: m, {a}}}")).await;
    assert_eq!(
        value.expect("a value"),
        Value::Array(vec![Value::from("hello")])
    );
    let value = call(&plugins, "{_plugin: task, task: 'm::hidden'}").await;
    assert_eq!(value.expect("a value"), secret("canary"));
    for (reference, kind, expected) in [
        (
            "task: 'm::nothing'",
            "bolt/plugin-error",
            "expected a result with `value`",
        ),
        (
            "task: 'm::bad', parameters: {token: canary1}",
            "bolt/plugin-error",
            "no luck with ********",
        ),
        ("task: 'm::none'", "bolt/plugin-error", "m::none"),
        (
            "task: m",
            "bolt/validation-error",
            "expects a value for parameter 'a'",
        ),
        (
            "task: m, parameters: []",
            "bolt/validation-error",
            "`parameters` to be a hash",
        ),
        ("parameters: {}", "bolt/validation-error", "expected `task`"),
    ] {
        let message_text = call(&plugins, &format!("{{_plugin: task, {reference}}}")).await;
        let message_text = message(message_text, kind);
        assert!(message_text.contains(expected), "{message_text}");
    }
}

#[tokio::test]
async fn a_module_is_a_plugin_with_the_configuration_of_the_project() {
    let script = "#!/bin/sh\ncat | tr -d '\\n' | sed 's/.*/{\"value\": &}/'\n";
    let metadata = r#"{"input_method": "stdin", "parameters":
        {"from": {"type": "String"}, "site": {"type": "String"}, "more": {"type": "Optional[String]"}}}"#;
    let folder = project(&[
        (
            "bolt-project.yaml",
            "plugins: {m: {site: {_plugin: yaml, filepath: site.yaml}, from: config, other: 1},
                       recursive: {x: {_plugin: m}}}\n",
        ),
        ("site.yaml", "hq"),
        ("modules/m/bolt_plugin.json", "{}"),
        ("modules/m/tasks/resolve_reference.sh", script),
        ("modules/m/tasks/resolve_reference.json", metadata),
        (
            "modules/named/bolt_plugin.json",
            r#"{"hooks": {"resolve_reference": {"task": "m::resolve_reference"}}}"#,
        ),
        ("modules/empty/bolt_plugin.json", "{}"),
        (
            "modules/wrong/bolt_plugin.json",
            r#"{"hooks": {"resolve_reference": {"task": "no::task"}}}"#,
        ),
        ("modules/broken/bolt_plugin.json", "{"),
        ("modules/recursive/bolt_plugin.json", "{}"),
        ("modules/none/tasks/resolve_reference.sh", script),
    ]);
    let plugins = plugins(folder.path());
    let given = call(&plugins, "{_plugin: m, from: reference, _cache: {ttl: 10}}").await;
    let given = given.expect("a value").to_json();
    assert_eq!(given["from"], "reference", "{given}");
    assert_eq!(given["site"], "hq", "{given}");
    assert_eq!(
        given["_boltdir"],
        folder.path().to_str().expect("a path"),
        "{given}"
    );
    assert!(
        given.get("other").is_none() && given.get("_cache").is_none(),
        "{given}"
    );
    let given = call(&plugins, "{_plugin: named, from: a, site: b}").await;
    assert_eq!(given.expect("a value").to_json()["site"], "b");
    for (plugin, kind) in [
        ("empty", "bolt/unsupported-hook"),
        ("wrong", "bolt/invalid-plugin-data"),
        ("broken", "bolt/invalid-plugin-data"),
        ("none", "bolt/unknown-plugin"),
        ("../m", "bolt/unknown-plugin"),
        ("recursive", "bolt/plugin-loading-disabled"),
        ("env_vars", "bolt/unknown-plugin"),
    ] {
        message(
            call(&plugins, &format!("{{_plugin: {plugin}}}")).await,
            kind,
        );
    }
}

#[tokio::test]
async fn the_options_of_the_project_are_defaults_of_every_plugin() {
    let folder = project(&[
        (
            "bolt-project.yaml",
            "plugins: {env_var: {default: x}, yaml: {filepath: word.yaml}, env_vars: {default: y}}\n",
        ),
        ("word.yaml", "hello"),
    ]);
    let plugins = plugins(folder.path());
    for (reference, expected) in [
        ("{_plugin: env_var, var: DEVGATE_IS_NOT_SET}", "x"),
        (
            "{_plugin: env_var, var: DEVGATE_IS_NOT_SET, default: own}",
            "own",
        ),
        ("{_plugin: yaml}", "hello"),
    ] {
        let value = call(&plugins, reference).await;
        assert_eq!(
            value.expect(reference),
            Value::from(expected),
            "{reference}"
        );
    }
    let found = Project::find(Some(folder.path().to_owned()), None, folder.path());
    let found = found.expect("a project");
    let warnings = unknown_configs(&found, &found.catalogue());
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.contains("unknown plugin env_vars; did you mean `env_var`?"),
        "{warning}"
    );
}
