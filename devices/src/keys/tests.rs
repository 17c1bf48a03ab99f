//! Tests that the table has the keys that the readers know, and that the built-in families fit the schemas.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use devgate_schemas::yaml;
use serde_json::Value as Json;

use super::FamilyDocument;
use super::FamilyDocument::{Case, Family, Type};
use crate::Family as Declared;

/// A key that nobody knows, and that resembles no other.
const UNKNOWN: &str = "qqqqqqqqqqqq";

/// A family whose readers know the object that has the unknown key, by the name of the object.
const PROBES: [(&str, FamilyDocument, &str); 22] = [
    ("family.yaml", Family, "{@: 1}"),
    ("checkpoint", Family, "{dialect: {}, checkpoint: {@: 1}}"),
    ("facts", Family, "{facts: [{@: 1}]}"),
    ("dialect", Family, "{dialect: {@: 1}}"),
    ("prompt", Family, "{dialect: {prompt: {@: 1}}}"),
    (
        "authentication",
        Family,
        "{dialect: {authentication: {@: 1}}}",
    ),
    ("answer", Family, "{dialect: {login: [{@: 1}]}}"),
    ("confirm", Family, "{dialect: {confirm: [{@: 1}]}}"),
    ("commit", Family, "{dialect: {commit: {@: 1}}}"),
    ("pending", Family, "{dialect: {commit: {pending: {@: 1}}}}"),
    ("enable", Family, "{dialect: {enable: {@: 1}}}"),
    ("text", Family, "{dialect: {text: [{@: 1}]}}"),
    ("types/TYPE.yaml", Type, "{@: 1}"),
    ("cli", Type, "{cli: {@: 1}}"),
    (
        "transaction",
        Type,
        "{attributes: X, cli: {transaction: {@: 1}}}",
    ),
    ("line", Type, "{attributes: X, cli: {lines: [{@: 1}]}}"),
    (
        "each",
        Type,
        "{attributes: X, cli: {get: {each: {@: 1}, resource: {}}}}",
    ),
    (
        "join",
        Type,
        "{attributes: X, cli: {get: {command: x, textfsm: y, join: {@: 1}, resource: {}}}}",
    ),
    ("rest", Type, "{rest: {@: 1}}"),
    ("request", Type, "{attributes: X, rest: {create: {@: 1}}}"),
    ("post", Type, "{attributes: X, rest: {get: {ask: {@: 1}}}}"),
    ("cases/CASE/case.yaml", Case, "{@: 1}"),
];

/// The keys that the message about an unknown key lists.
fn known(object: &str, document: FamilyDocument, text: &str) -> BTreeSet<String> {
    let text = text.replace('@', UNKNOWN);
    let text = text.replace('X', "{x: {type: String, behaviour: namevar}}");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, text).expect("written");
    };
    let protocol = if text.contains("rest:") {
        "rest"
    } else {
        "ssh_cli"
    };
    let base = format!("name: acme, desc: x, protocol: {protocol}");
    let message = match document {
        Family => {
            write(
                "family.yaml",
                &text.replacen('{', &format!("{{{base}, "), 1),
            );
            Declared::load(folder.path()).expect_err(object).to_string()
        }
        Type => {
            write("family.yaml", &format!("{{{base}}}"));
            write(
                "types/x.yaml",
                &text.replacen('{', "{name: x, desc: x, ", 1),
            );
            Declared::load(folder.path()).expect_err(object).to_string()
        }
        Case => {
            write("family.yaml", &format!("{{{base}}}"));
            write("cases/x/case.yaml", &text);
            let family = Declared::load(folder.path()).expect("it is valid");
            let cases = family.test(crate::UpdateExpected::No, crate::Comparison::Whole);
            cases.expect("it runs")[0]
                .outcome
                .clone()
                .expect_err(object)
        }
    };
    let line = message.lines().find(|line| line.contains(UNKNOWN));
    let line = line.unwrap_or_else(|| panic!("{object}: {message}"));
    let (_, list) = line
        .split_once("expected one of ")
        .unwrap_or_else(|| panic!("{object}: {line}"));
    list.split([',', ' '])
        .filter(|word| !word.is_empty())
        .map(|word| word.trim_matches('`').to_owned())
        .collect()
}

/// Every object that a document has.
fn objects() -> Vec<(String, BTreeSet<String>)> {
    let mut all = Vec::new();
    for document in [Family, Type, Case] {
        let schema = document.json_schema();
        let keys = |schema: &Json| -> BTreeSet<String> {
            // A type that is not like another one.
            let schema = schema.get("else").unwrap_or(schema);
            let keys = schema["properties"].as_object().into_iter().flatten();
            keys.map(|(key, _)| key.clone()).collect()
        };
        all.push((document.file().to_owned(), keys(&schema)));
        for (name, schema) in schema["$defs"].as_object().into_iter().flatten() {
            all.push((name.clone(), keys(schema)));
        }
    }
    all
}

#[test]
fn the_table_has_the_keys_that_the_readers_know() {
    let objects = objects();
    for (name, document, text) in PROBES {
        let known = known(name, document, text);
        let (_, keys) = objects
            .iter()
            .find(|(object, _)| object == name)
            .expect("it is in the table");
        assert_eq!(
            *keys, known,
            "`{name}` in devices/src/keys differs from what is read"
        );
    }
}

#[test]
fn the_built_in_families_fit_the_schemas() {
    let validators = [Family, Type, Case].map(|document| {
        let schema = document.json_schema();
        jsonschema::validator_for(&schema)
            .unwrap_or_else(|error| panic!("{}: {error}", document.file()))
    });
    let check = |path: &Path, at: usize| {
        let text = fs::read_to_string(path).expect("it is there");
        let json = yaml::parse(&text).expect("YAML").to_value().to_json();
        let problems = validators[at].iter_errors(&json);
        let problems: Vec<String> = problems
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(
            problems.is_empty(),
            "{}: {}",
            path.display(),
            problems.join("\n")
        );
    };
    let families = Path::new(env!("CARGO_MANIFEST_DIR")).join("families");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect::<Vec<_>>()
    };
    for family in entries(&families) {
        check(&family.join("family.yaml"), 0);
        for file in entries(&family.join("types")) {
            check(&file, 1);
        }
        for case in entries(&family.join("cases")) {
            check(&case.join("case.yaml"), 2);
        }
    }
}
