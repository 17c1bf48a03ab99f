//! Tests of families whose rows come from several commands, and from commands that print JSON.

use serde_json::json;

use super::folder;
use super::*;
use crate::UpdateExpected;

const FAMILY: &str = r"
name: acme
desc: ACME
protocol: ssh_cli
dialect: {}
facts:
  - command: show version
    textfsm: |
      Value Required HOST (\S+)

      Start
        ^host ${HOST} -> Record
    join:
      command: show hosts
      textfsm: |
        Value Required DOMAIN (\S+)

        Start
          ^domain ${DOMAIN} -> Record
    facts:
      networking.fqdn: HOST ~ '.' ~ DOMAIN if DOMAIN else HOST
  - each:
      command: show vrf
      textfsm: |
        Value Required VRF (\S+)

        Start
          ^${VRF} -> Record
    command: show ip route vrf {{ VRF }} summary
    textfsm: |
      Value Required COUNT (\d+)

      Start
        ^${COUNT} routes -> Record
    facts:
      'acme.vrfs.{{ VRF }}.routes': COUNT | integer
";

const PORT: &str = r"
name: acme_port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  mtu: { type: 'Optional[Integer]', behaviour: read_only, desc: Its MTU. }
  vlans: { type: 'Optional[Array[Integer]]', behaviour: read_only, desc: Its VLANs. }
cli:
  get:
    - command: show interfaces | json
      rows: interfaces/*
      values: { NAME: '@key', MTU: mtu }
      resource: { name: NAME, mtu: MTU }
    - command: show interfaces switchport | json
      optional: true
      rows: switchports/*/vlans
      values: { NAME: '../@key', VLANS: . }
      resource: { name: NAME, vlans: '[VLANS]' }
collect: vlans
";

/// Returns the texts of a case's results.
fn results(files: &[(&str, &str)]) -> Vec<String> {
    let all = [
        &[("family.yaml", FAMILY), ("types/acme_port.yaml", PORT)],
        files,
    ]
    .concat();
    let folder = folder(&all);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let cases = family
        .test(UpdateExpected::Yes, Comparison::Whole)
        .expect("they run");
    let text = |case: &CaseResult| {
        let case = folder.path().join("cases").join(&case.name);
        let mut results = ["facts.json", "resources.json", "error.txt"].iter();
        let result = results.find_map(|file| fs::read_to_string(case.join(file)).ok());
        result.expect("a result")
    };
    cases.iter().map(text).collect()
}

#[test]
fn the_outputs_of_expanded_commands_are_files_of_a_case() {
    let results = results(&[
        ("cases/a/case.yaml", "desc: Facts of several commands."),
        ("cases/a/show version.txt", "host r1\n"),
        ("cases/a/show hosts.txt", "domain example.net\n"),
        ("cases/a/show vrf.txt", "red\nblue\n"),
        ("cases/a/show ip route vrf red summary.txt", "7 routes\n"),
        ("cases/a/show ip route vrf blue summary.txt", "0 routes\n"),
    ]);
    let facts: serde_json::Value = serde_json::from_str(&results[0]).expect("JSON");
    let expected = json!({
        "networking": { "fqdn": "r1.example.net" },
        "acme": { "vrfs": { "red": { "routes": 7 }, "blue": { "routes": 0 } } },
        "fqdn": "r1.example.net",
    });
    assert_eq!(facts["facts"], expected);
}

#[test]
fn an_output_of_json_is_read_with_paths_and_one_that_may_be_refused_needs_no_file() {
    let interfaces = r#"{ "interfaces": { "Ethernet1": { "mtu": 9214 }, "Ethernet2": {} } }"#;
    let switchports = r#"{ "switchports": { "Ethernet1": { "vlans": [1, 2] } } }"#;
    let results = results(&[
        ("cases/a/case.yaml", "{ desc: A router., type: acme_port }"),
        ("cases/a/show interfaces _ json.txt", interfaces),
        ("cases/b/case.yaml", "{ desc: A switch., type: acme_port }"),
        ("cases/b/show interfaces _ json.txt", interfaces),
        ("cases/b/show interfaces switchport _ json.txt", switchports),
    ]);
    let ports = |vlans: serde_json::Value| {
        let mut first = json!({ "name": "Ethernet1", "mtu": 9214 });
        if !vlans.is_null() {
            first["vlans"] = vlans;
        }
        json!([first, { "name": "Ethernet2" }])
    };
    for (result, vlans) in results.iter().zip([json!(null), json!([1, 2])]) {
        let resources: serde_json::Value = serde_json::from_str(result).expect("JSON");
        assert_eq!(resources, ports(vlans));
    }
}

#[test]
fn a_request_after_all_changes_belongs_to_rest() {
    let load = |protocol: &str, rest: &str| {
        let file = format!("name: a\ndesc: x\nprotocol: {protocol}\nrest: {{ {rest} }}\n");
        let folder = folder(&[("family.yaml", &file)]);
        Family::load(folder.path())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    load(
        "rest",
        "after: { method: POST, path: /save, body: { all: true } }",
    )
    .expect("it is valid");
    for (protocol, rest, expected) in [
        (
            "netconf",
            "after: { method: POST, path: /save }",
            "at rest: this protocol sends no requests",
        ),
        (
            "rest",
            "after: { method: POST }",
            "at rest.after: missing key `path`",
        ),
        ("rest", "befor: x", "at rest: unknown key `befor`"),
    ] {
        let error = load(protocol, rest).expect_err("it is not");
        assert!(error.contains(expected), "{error}");
    }
}
