//! Tests of schemas that extend another schema, and of the contradictions that are refused.

use super::*;
use crate::{Value, yaml};

/// Returns the problems of extending `nexus`'s connection info with this definition.
fn contradictions(text: &str) -> Vec<String> {
    let definition = yaml::parse(text).expect("YAML").to_value();
    let extended = TransportSchema::built_in(SCHEMA).extended(&definition);
    let problems = extended.expect_err("it is wrong");
    let told = problems.iter();
    told.map(|p| format!("{}: {}", p.path.join("."), p.message))
        .collect()
}

#[test]
fn a_schema_is_extended_by_attributes_defaults_and_narrower_types() {
    let definition = yaml::parse(
        "connection_info:\n  port: {default: 8443}\n  host: {type: 'String[1]', desc: Which one.}\n  \
         site: {type: 'Optional[String]', desc: Where.}\n  \
         zone: {type: 'Optional[String]', desc: What.}\ngroups: [{all_or_none_of: [site, zone]}]\n",
    );
    let base = TransportSchema::built_in(SCHEMA);
    let schema = base
        .extended(&definition.expect("YAML").to_value())
        .expect("it fits");
    let info = schema.connection_info();
    assert_eq!(info["port"].default, Some(Value::from(8443)));
    assert_eq!(info["port"].desc, "The port.");
    assert_eq!(info["host"].data_type.to_string(), "String[1]");
    assert_eq!(info["host"].desc, "Which one.");
    assert!(info["password"].sensitive && info.contains_key("site"));
    assert_eq!(schema.groups().len(), 1);
    let names: Vec<&String> = info.keys().collect();
    assert_eq!(names, ["host", "port", "password", "pin", "site", "zone"]);
}

#[test]
fn an_extension_may_not_contradict_what_the_protocol_relies_on() {
    assert_eq!(
        contradictions(
            "connection_info:\n  port: {type: String}\n  password: {sensitive: false}\n  \
             name: {type: String}\n  concurrency: {type: Integer}\n  host: {default: 7}\n"
        ),
        [
            "connection_info.port.type: `String` admits what the protocol does not take as `port`: \
             its type is `Integer[1, 65535]`, and a narrower one may be given",
            "connection_info.port: the protocol's default of `port` does not fit the type `String`: \
             give a `default`",
            "connection_info.password.sensitive: `password` is the protocol's: its `sensitive` \
             cannot be changed, only `default`, `desc` and a narrower `type`",
            "connection_info.name: `nexus.name` is reserved: inventories use `name` for something \
             else",
            "connection_info.concurrency: `nexus.concurrency` is reserved: inventories use \
             `concurrency` for something else",
            "connection_info.host.default: the default of `nexus.host` does not fit: expects a \
             String value, got Integer",
        ]
    );
    assert_eq!(
        contradictions("groups: [{exactly_one_of: [pin, password]}]"),
        [
            "groups: `nexus` wants exactly one of `pin` or `password`, but `password` must always \
             be given: write its type as `Optional[String]`"
        ]
    );
}
