//! Resource types of published network modules can be registered unchanged, and their titles can be parsed.

use devgate_schemas::{Feature, TypeSchema, Value};

/// The definitions of 50 types, as their modules write them.
fn definitions() -> Vec<Value> {
    let text = include_str!("data/network-resource-types.json");
    match serde_json::from_str(text).expect("the golden file") {
        Value::Array(definitions) => definitions,
        _ => panic!("a list"),
    }
}

#[test]
fn every_type_of_the_network_modules_registers() {
    let definitions = definitions();
    assert_eq!(definitions.len(), 50);
    for definition in &definitions {
        let registered = TypeSchema::register_foreign(definition);
        let (schema, warnings) = registered.expect("it is as the gem takes it");
        assert!(schema.has(Feature::RemoteResource), "{}", schema.name());
        // The golden file has no descriptions; there must be no other warnings.
        let odd: Vec<&String> = warnings
            .iter()
            .filter(|warning| !warning.contains("has no documentation"))
            .collect();
        assert!(odd.is_empty(), "{odd:?}");
        // The checks for devgate's own types accept them, too.
        TypeSchema::register(definition).expect("it has nothing unknown");
    }
}

#[test]
fn a_title_stands_for_three_namevars() {
    let definitions = definitions();
    let of_acl = |definition: &&Value| {
        let name = definition.as_hash().and_then(|hash| hash.get("name"));
        name.and_then(Value::as_str) == Some("ios_acl")
    };
    let acl = definitions.iter().find(of_acl).expect("it is there");
    let schema = TypeSchema::register(acl).expect("it registers");
    assert_eq!(
        schema.namevars(),
        ["access_list", "entry", "access_list_type"]
    );
    let named = schema.parse_title("inside extended 10").expect("it fits");
    let value = |namevar| named.get(namevar).and_then(Value::as_str);
    assert_eq!(
        [
            value("access_list"),
            value("access_list_type"),
            value("entry")
        ],
        [Some("inside"), Some("extended"), Some("10")]
    );
}
