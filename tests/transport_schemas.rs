//! The schema of connection info, in the forms that people and programs read.

use serde_json::{Value, json};

use crate::support::project::Project;

const FAMILY: &str = "
name: acme
desc: ACME.
protocol: ssh_cli
connection_info:
  port: { default: 8022 }
  site: { type: 'Optional[Enum[north, south]]', desc: Where it stands. }
  rack: { type: 'Optional[Pattern[/\\A[a-z]\\d+\\z/]]', desc: In which rack. }
groups:
  - all_or_none_of: [site, rack]
";

#[test]
fn every_transport_is_json_schema_and_no_attribute_is_left_out() {
    let project = Project::new();
    let document = project
        .devgate("transport show --format json")
        .succeeded()
        .json();
    let schemas = project
        .devgate("transport show --json-schema")
        .succeeded()
        .json();
    assert_eq!(
        schemas["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let transports = document["transports"].as_array().expect("a list");
    assert!(transports.len() > 2, "{document}");
    for transport in transports {
        let name = transport["name"].as_str().expect("a name");
        let schema = &schemas["$defs"][name];
        assert_eq!(schema["type"], "object", "{name}");
        let attributes = transport["connection_info"]
            .as_object()
            .expect("attributes");
        for (key, attribute) in attributes {
            let property = &schema["properties"][key];
            let secret = attribute["sensitive"] == true;
            assert_eq!(property["writeOnly"] == true, secret, "{name}.{key}");
            let comment = property["$comment"].as_str().expect("the type is told");
            let kind = attribute["type"].as_str().expect("a type");
            assert!(comment.ends_with(kind), "{name}.{key}: {comment}");
        }
        let alone = project.devgate(&format!("transport show {name} --json-schema"));
        assert_eq!(alone.succeeded().json()["properties"], schema["properties"]);
        let groups = transport["groups"].as_array().expect("groups").len();
        let rules = schema["allOf"].as_array().map_or(0, Vec::len);
        assert_eq!(groups, rules, "{name}");
    }
}

#[test]
fn a_family_of_a_module_shows_and_checks_what_it_adds() {
    let mut project = Project::new();
    project.write("modules/acme/devices/acme/family.yaml", FAMILY);
    let schema = project.devgate("transport show acme --json-schema");
    let schema = schema.succeeded().json();
    assert_eq!(schema["properties"]["port"]["default"], 8022);
    let rack = &schema["properties"]["rack"];
    assert_eq!(rack["pattern"], "^[a-z]\\d+$", "{rack}");
    assert_eq!(
        schema["allOf"][0]["dependentRequired"],
        json!({"site": ["rack"], "rack": ["site"]})
    );
    project
        .devgate("family show acme")
        .succeeded()
        .shows(&["protocol: ssh_cli", "all or none of `site` and `rack`"]);
    let info = json!({"remote-transport": "acme", "host": "127.0.0.1", "port": 1, "site": "north"});
    project.add_target("switch", info);
    let refused = project.devgate("verify -t switch --format json").failed();
    assert_eq!(
        refused.item()["value"]["_error"]["kind"],
        Value::from("devgate/invalid-connection-info")
    );
    refused.shows(&["`site` is given without `rack`: give both, or neither"]);
}
