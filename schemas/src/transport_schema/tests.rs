//! Tests of transport schemas: definitions, and connection info held against them.

use super::*;

const SCHEMA: &str = "
name: nexus
desc: Reaches a Nexus.
connection_info:
  host: { type: String, desc: The host. }
  port: { type: 'Integer[1, 65535]', desc: The port., default: 22 }
  password: { type: String, desc: The password., sensitive: true }
  pin: { type: 'Optional[Enum[canary]]', desc: A PIN., sensitive: true }
";

fn unread(pairs: &[(&str, Value)]) -> Unread {
    Unread::new(
        pairs
            .iter()
            .map(|(key, value)| (*key, value.clone()))
            .collect(),
    )
}

fn problems(text: &str) -> Vec<String> {
    let definition = yaml::parse(text).expect("YAML").to_value();
    let problems = TransportSchema::register(&definition).expect_err("it is wrong");
    problems
        .iter()
        .map(|p| format!("{}: {}", p.path.join("."), p.message))
        .collect()
}

#[test]
fn defaults_are_applied_secrets_wrapped_and_bolts_own_keys_left_out() {
    let schema = TransportSchema::built_in(SCHEMA);
    let raw = unread(&[
        ("name", "r1".into()),
        ("host", "192.0.2.1".into()),
        ("user", "me".into()),
        ("password", "canary".into()),
        ("run-on", "localhost".into()),
        ("remote-transport", "nexus".into()),
        ("prot", 23.into()),
    ]);
    let mut told = Vec::new();
    let info = schema
        .read(raw, |level, message| told.push((level, message)))
        .expect("it fits");
    assert_eq!(info.text("host"), Some("192.0.2.1"));
    assert_eq!(info.integer("port"), Some(22));
    assert_eq!(
        info.secret("password").map(Sensitive::reveal),
        Some(&Value::from("canary"))
    );
    assert!(info.text("name").is_none() && info.text("user").is_none());
    let warnings: Vec<&String> = told
        .iter()
        .filter(|(level, _)| *level == Level::Warning)
        .map(|(_, m)| m)
        .collect();
    assert_eq!(
        warnings,
        ["`nexus` does not know, and ignores: `prot`; did you mean `port`?"]
    );
    assert!(!format!("{info:?} {told:?}").contains("canary"));
}

#[test]
fn everything_wrong_is_told_at_once_and_no_secret_is_quoted() {
    let schema = TransportSchema::built_in(SCHEMA);
    let raw = unread(&[("host", 1.into()), ("pin", "hunter2".into())]);
    let invalid = schema
        .read(raw, |_, _| {})
        .expect_err("it does not fit")
        .to_string();
    assert_eq!(
        invalid,
        "The connection info provided does not match the Transport Schema for `nexus[]`\n \
             Value type mismatch:\n    * host: 1 (expects a String value, got Integer)\n    \
             * pin: << redacted value >> expects an undef value or a match for Enum['canary'], \
             got String\nThe following mandatory attributes were not provided:\n    *  password"
    );
}

#[test]
fn a_wrong_definition_is_refused_with_every_problem_and_its_place() {
    assert_eq!(
        problems(
            "name: x\ndesc: d\nconnection_info:\n  run-on: {type: String}\n  a: text\n  \
                 b: {typ: String}\n  c: {type: string}\n  d: {type: 'Stdlib::Port'}\n  \
                 e: {type: Integer, default: no, behaviour: bad}\n  remote-x: {type: Any}\n"
        ),
        [
            "connection_info.run-on: `x.run-on` is reserved: inventories use `run-on` for \
                 something else",
            "connection_info.a: `x.a` must be a Hash, not a String",
            "connection_info.b.typ: `x.b` has no option `typ`; did you mean `type`?",
            "connection_info.b: `x.b` has no type",
            "connection_info.c.type: The type of the `c` attribute `string` is not recognised: \
                 The expression <string> is not a valid type specification.",
            "connection_info.d.type: the type of `x.d` references an unresolved type \
                 'Stdlib::Port': only Puppet's own data types are known here",
            "connection_info.e.behaviour: `bad` is not a valid behaviour value",
            "connection_info.remote-x: `x.remote-x` is reserved: inventories use `remote-x` \
                 for something else",
        ]
    );
    assert_eq!(
        problems("- 1"),
        [": requires a hash as schema, not `Array`"]
    );
    assert_eq!(
        problems("{}"),
        [
            "name: requires a `:name`",
            "desc: requires `:desc`",
            ": requires `:connection_info`"
        ]
    );
}

#[test]
fn a_secret_is_taken_where_a_plain_value_is_and_stays_one_for_everybody_else() {
    let schema = TransportSchema::built_in(SCHEMA);
    let raw = unread(&[
        ("host", Value::from("canary.example.com").into_sensitive()),
        ("password", Value::from("canary").into_sensitive()),
    ]);
    let info = schema.read(raw, |_, _| {}).expect("it fits");
    assert_eq!(info.text("host"), Some("canary.example.com"));
    let mask = crate::Mask::new(info.secrets());
    assert_eq!(mask.text("no canary.example.com"), "no ********");
    assert_eq!(mask.text("canary"), crate::REDACTED);
    assert!(!format!("{info:?} {}", info.to_json()).contains("canary"));
    let raw = unread(&[
        ("host", "h".into()),
        ("password", "p".into()),
        ("port", Value::from("canary").into_sensitive()),
    ]);
    let invalid = schema.read(raw, |_, _| {}).expect_err("it does not fit");
    let invalid = invalid.to_string();
    assert!(
        invalid.contains("port: << redacted value >>") && !invalid.contains("canary"),
        "{invalid}"
    );
}
