//! Tests of transport schemas: their definitions, and validation of connection info.

mod extended;

use super::*;
use crate::{Level, RawConnectionInfo, Sensitive, Value, yaml};

const SCHEMA: &str = "
name: nexus
desc: Reaches a Nexus.
connection_info:
  host: { type: String, desc: The host. }
  port: { type: 'Integer[1, 65535]', desc: The port., default: 22 }
  password: { type: String, desc: The password., sensitive: true }
  pin: { type: 'Optional[Enum[canary]]', desc: A PIN., sensitive: true }
";

fn unread(pairs: &[(&str, Value)]) -> RawConnectionInfo {
    RawConnectionInfo::new(
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
        ["`nexus` ignores unknown settings: `prot`; did you mean `port`?"]
    );
    assert!(!format!("{info:?} {told:?}").contains("canary"));
}

#[test]
fn a_protocol_that_is_the_transports_own_name_is_none() {
    let schema = TransportSchema::built_in(
        "{name: lab, desc: d, connection_info: {protocol: {type: 'Enum[ssh, telnet]', default: ssh}}}",
    );
    let read = |protocol: &str| schema.read(unread(&[("protocol", protocol.into())]), |_, _| {});
    for (said, meant) in [
        ("lab", "ssh"),
        ("remote", "ssh"),
        ("ssh", "ssh"),
        ("telnet", "telnet"),
    ] {
        let info = read(said).unwrap_or_else(|wrong| panic!("{said}: {wrong}"));
        assert_eq!(info.text("protocol"), Some(meant), "{said}");
    }
    let wrong = read("https").expect_err("it is neither").to_string();
    assert!(
        wrong.contains(
            "protocol: https (expects a match for Enum['ssh', 'telnet'], got 'https'; the \
             scheme of a `uri` counts as `protocol`)"
        ),
        "{wrong}"
    );
    // If the transport has a protocol of its own name, the value means that protocol.
    let schema = TransportSchema::built_in(
        "{name: ssh, desc: d, connection_info: {protocol: {type: 'Enum[ssh, telnet]', default: telnet}}}",
    );
    let info = schema.read(unread(&[("protocol", "ssh".into())]), |_, _| {});
    assert_eq!(info.expect("it fits").text("protocol"), Some("ssh"));
}

#[test]
fn everything_wrong_is_reported_at_once_and_no_secret_is_quoted() {
    let schema = TransportSchema::built_in(SCHEMA);
    let raw = unread(&[("host", 1.into()), ("pin", "hunter2".into())]);
    let invalid = schema
        .read(raw, |_, _| {})
        .expect_err("it does not fit")
        .to_string();
    assert_eq!(
        invalid,
        "The connection info of `nexus` does not fit:\n    \
             * host: 1 (expects a String value, got Integer); put it in quotes\n    \
             * pin: << redacted value >> expects an undef value or a match for Enum['canary'], \
             got String\nThe following mandatory attributes were not provided:\n    *  password"
    );
}

#[test]
fn a_number_that_does_not_fit_is_shown_as_it_is_and_a_secret_one_not() {
    let schema = TransportSchema::built_in(
        "{name: x, desc: d, connection_info: {port: {type: 'Integer[1, 65535]'}, \
         pin: {type: 'Optional[Integer[1, 9]]', sensitive: true}, \
         rate: {type: 'Optional[Float[0.0, 1.0]]'}}}",
    );
    let raw = unread(&[
        ("port", 99_999.into()),
        ("pin", 4711.into()),
        ("rate", Value::Float(1.5)),
    ]);
    let told = schema.read(raw, |_, _| {}).expect_err("wrong").to_string();
    let lines = [
        "port: 99999 (expects an Integer[1, 65535] value, got 99999)",
        "pin: << redacted value >> expects a value of type Undef or Integer[1, 9], got Integer",
        "rate: 1.5 (expects a value of type Undef or Float[0.0, 1.0], got 1.5)",
    ];
    for line in lines {
        assert!(told.contains(line), "{told}");
    }
    assert!(
        !told.contains("4711") && !told.contains("99999, "),
        "{told}"
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

const GROUPS: &str = "
name: api
desc: Reaches an API.
connection_info:
  password: { type: 'Optional[String]', desc: A password., sensitive: true }
  apikey: { type: 'Optional[String]', desc: A key., sensitive: true }
  token: { type: 'Optional[String]', desc: A token., sensitive: true }
  ssl_cert_file: { type: 'Optional[String]', desc: A certificate. }
  ssl_key_file: { type: 'Optional[String]', desc: Its key. }
  slow: { type: 'Optional[Boolean]', desc: Slow. }
  fast: { type: 'Optional[Boolean]', desc: Fast. }
groups:
  - exactly_one_of: [password, apikey, token]
  - all_or_none_of: [ssl_cert_file, ssl_key_file]
  - at_most_one_of: [slow, fast]
";

/// Returns what is wrong with connection info in which these attributes are `canary`.
fn broken(schema: &TransportSchema, given: &[&str]) -> Option<String> {
    let value = |name: &str| match name {
        "slow" | "fast" => Value::from(true),
        _ => Value::from("canary"),
    };
    let pairs: Vec<_> = given.iter().map(|name| (*name, value(name))).collect();
    let told = schema.read(unread(&pairs), |_, _| {}).err()?.to_string();
    assert!(!told.contains("canary"), "{told}");
    Some(told)
}

#[test]
fn attributes_of_a_group_are_counted_and_the_error_has_advice() {
    let schema = TransportSchema::built_in(GROUPS);
    assert_eq!(broken(&schema, &["token"]), None);
    assert_eq!(
        broken(
            &schema,
            &["apikey", "ssl_cert_file", "ssl_key_file", "fast"]
        ),
        None
    );
    assert_eq!(
        broken(&schema, &["ssl_key_file", "slow", "fast"]).as_deref(),
        Some(
            "The connection info does not fit together:\n    \
             * none of `password`, `apikey` and `token` is given: give one of them\n    \
             * `ssl_key_file` is given without `ssl_cert_file`: give both, or neither\n    \
             * `slow` and `fast` exclude each other, and are all given: give one of them at most"
        )
    );
    assert_eq!(
        broken(&schema, &["password", "token"]).as_deref(),
        Some(
            "The connection info does not fit together:\n    * `password` and `token` exclude each \
             other, and are all given: give exactly one of `password`, `apikey` or `token`"
        )
    );
}

#[test]
fn a_value_that_is_undef_is_not_given() {
    let schema = TransportSchema::built_in(GROUPS);
    let raw = unread(&[("token", "canary".into()), ("password", Value::Undef)]);
    assert!(schema.read(raw, |_, _| {}).is_ok());
}

#[test]
fn a_group_that_makes_no_sense_is_refused() {
    let head = "name: x\ndesc: d\nconnection_info:\n  host: {type: String}\n  \
                port: {type: Integer, default: 22}\n  a: {type: 'Optional[String]'}\n  \
                b: {type: 'Optional[String]'}\ngroups: ";
    let wrong = |groups: &str| problems(&format!("{head}{groups}"));
    assert_eq!(
        wrong(
            "[{exactly_one_of: [a, host]}, {all_or_none_of: [a, port]}, {at_most_one_of: [a, a, bb]}]"
        ),
        [
            "groups: `x` wants exactly one of `a` or `host`, but `host` must always be given: write \
             its type as `Optional[String]`",
            "groups: `x` wants all or none of `a` and `port`, but `port` has a default, and so is \
             always given",
            "groups: `x` wants at most one of `a`, `a` or `bb`, but names `a` twice",
            "groups: `x` wants at most one of `a`, `a` or `bb`, but has no attribute `bb`; did you \
             mean `b`?",
        ]
    );
    assert_eq!(
        wrong("[{exactly_one: [a, b]}, {all_or_none_of: [a]}, {at_most_one_of: a}, [a, b]]"),
        [
            "groups: `x` has a group with an unknown rule `exactly_one`; did you mean \
             `exactly_one_of`?",
            "groups: `all_or_none_of` in `x.groups` must name two attributes or more, in a list",
            "groups: `at_most_one_of` in `x.groups` must name two attributes or more, in a list",
            "groups: a group of `x` is one rule and its attributes, such as `exactly_one_of: \
             [password, token]`",
        ]
    );
    assert_eq!(
        wrong("{exactly_one_of: [a, b]}"),
        [
            "groups: `x.groups` must be a list of groups, such as `- exactly_one_of: [password, \
             token]`, not `Hash`"
        ]
    );
}

#[test]
fn schemas_that_are_put_together_keep_their_groups() {
    let api = TransportSchema::built_in(GROUPS);
    let nexus = TransportSchema::built_in(SCHEMA);
    for both in [
        nexus.on(&api),
        api.on(&nexus),
        nexus.with(&api),
        api.with(&api),
    ] {
        assert_eq!(both.groups(), api.groups());
    }
    let some = api
        .renamed("some", "Some.")
        .only(&["slow", "fast", "token", "ssl_cert_file"]);
    let groups: Vec<String> = some.groups().iter().map(Group::to_string).collect();
    assert_eq!(groups, ["at most one of `slow` or `fast`"]);
}

#[test]
fn as_json_schema_secrets_are_write_only_and_groups_are_rules() {
    let schema = TransportSchema::built_in(SCHEMA).with(&TransportSchema::built_in(GROUPS));
    let json = schema.json_schema();
    assert_eq!(
        json["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(json["title"], "nexus");
    assert_eq!(json["required"], serde_json::json!(["host", "password"]));
    let port = serde_json::json!({
        "type": "integer", "minimum": 1, "maximum": 65535, "default": 22,
        "description": "The port.", "$comment": "Puppet data type: Integer[1, 65535]",
    });
    assert_eq!(json["properties"]["port"], port);
    for (name, attribute) in schema.connection_info() {
        let property = &json["properties"][name.as_str()];
        assert_eq!(property["writeOnly"] == true, attribute.sensitive, "{name}");
    }
    let [exactly, all, at_most] = json["allOf"].as_array().expect("groups").as_slice() else {
        panic!("three groups: {json}");
    };
    assert_eq!(
        exactly["oneOf"][1],
        serde_json::json!({"required": ["apikey"]})
    );
    assert_eq!(
        all["dependentRequired"]["ssl_key_file"],
        serde_json::json!(["ssl_cert_file"])
    );
    let both = serde_json::json!({"required": ["slow", "fast"]});
    assert_eq!(at_most["not"]["anyOf"], serde_json::json!([both]));
}

#[test]
fn a_secret_default_is_mentioned_and_not_shown() {
    let text = "name: x\ndesc: d\nconnection_info:\n  pin: {type: String, sensitive: true, \
                default: canary}\n";
    let json = TransportSchema::built_in(text).json_schema();
    assert!(!json.to_string().contains("canary"), "{json}");
    let desc = json["properties"]["pin"]["description"].as_str();
    assert!(desc.is_some_and(|desc| desc.contains("a default, which is secret")));
}
