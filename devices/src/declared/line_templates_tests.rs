//! Tests of the short form of lines.

use devgate_schemas::{Hash, Resource, Value};
use serde_json::json;

use super::DeclaredType;
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, ResourceType, SecretVisibility};

const PORT: &str = r#"
name: port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  description: { type: 'Optional[String]', desc: What it is for. }
  vlan: { type: 'Optional[Integer]', desc: Its VLAN. }
  shutdown: { type: 'Optional[Boolean]', desc: Whether it is off. }
  routed: { type: 'Optional[Boolean]', desc: Whether it has addresses. }
  servers: { type: 'Optional[Array[String]]', desc: Its servers. }
  helpers: { type: 'Optional[Array[String]]', desc: Its helpers. }
  speed: { type: "Optional[Enum['10m', '1g', auto]]", desc: Its speed. }
cli:
  get:
    command: show ports
    textfsm: |
      Value NAME (\S+)

      Start
        ^${NAME} -> Record
    resource: { name: NAME }
  mode: interface {{ name }}
  lines:
    - { attribute: routed, flag: no switchport }
    - { attribute: description, set: 'description {{ value }}', clear: no description }
    - { attribute: vlan, set: "vlan {{ value }}\nvlan name {{ name }}", when: not routed }
    - { attribute: shutdown, flag: shutdown }
    - { attribute: servers, each: 'server {{ item }}' }
    - { attribute: helpers, each: 'helper {{ item }} on', remove: 'no helper {{ item }}' }
    - { attribute: speed, map: { 10m: '10', 1g: 1000 }, set: 'speed {{ value }}' }
  delete: no interface {{ name }}
"#;

fn read(text: &str) -> (Option<DeclaredType>, Vec<String>) {
    let file = YamlFile::parse("port.yaml", text).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol::without_dialect(ProtocolKind::Commands);
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    (kind, problems.iter().map(ToString::to_string).collect())
}

fn hash(json: serde_json::Value) -> Hash {
    match Value::from(json) {
        Value::Hash(hash) => hash,
        _ => panic!("attributes are a hash"),
    }
}

/// Returns the lines of a change of the port `a`, which is absent if `is` is null.
fn lines(is: serde_json::Value, should: serde_json::Value) -> Vec<String> {
    let (kind, problems) = read(PORT);
    assert_eq!(problems, [""; 0]);
    let kind = kind.expect("nothing is wrong");
    let (name, should) = kind
        .schema()
        .desire(Some("a"), hash(should))
        .expect("it fits");
    let is = if is.is_null() {
        CurrentState::Absent
    } else {
        CurrentState::Present(Resource::from(hash(is)))
    };
    let change = Change {
        is,
        should: Some(should),
    };
    let lines = kind.render(&name, &change, None, SecretVisibility::Redacted);
    lines.expect("lines")
}

#[test]
fn a_new_resource_has_the_lines_of_what_is_wanted() {
    let should = json!({
        "description": "up", "vlan": 0, "shutdown": false, "routed": false, "servers": ["x", "y"],
        "helpers": ["z"], "speed": "1g",
    });
    let expected = [
        "interface a",
        " switchport",
        " description up",
        " vlan 0",
        " vlan name a",
        " no shutdown",
        " server x",
        " server y",
        " helper z on",
        " speed 1000",
    ];
    assert_eq!(lines(json!(null), should), expected);
    // Nothing is there to take away.
    let empty = json!({ "description": "", "servers": [] });
    assert_eq!(lines(json!(null), empty), ["interface a"]);
}

#[test]
fn only_differences_are_typed() {
    let is = || {
        json!({
            "name": "a", "description": "up", "vlan": 3, "shutdown": true, "routed": false,
            "servers": ["x", "y"], "helpers": ["z"], "speed": "10m",
        })
    };
    assert_eq!(lines(is(), is()), ["interface a"]);
    assert_eq!(lines(is(), json!({})), ["interface a"]);
    let should = json!({
        "description": "", "vlan": 4, "shutdown": false, "routed": true, "servers": ["y", "w"],
        "helpers": [], "speed": "auto",
    });
    let expected = [
        "interface a",
        " no switchport",
        " no description",
        " no shutdown",
        " no server x",
        " server w",
        " no helper z",
        " speed auto",
    ];
    assert_eq!(lines(is(), should), expected);
}

#[test]
fn what_is_wrong_in_an_item_is_reported_at_its_key() {
    let mut missing = Vec::new();
    for (from, to, expected) in [
        (
            "flag: shutdown",
            "flagg: shutdown",
            "port.yaml:28:30: at cli.lines[3]: unknown key `flagg`; did you mean `flag`?",
        ),
        (
            "flag: shutdown",
            "when: 'true'",
            "port.yaml:28:7: at cli.lines[3]: expected exactly one of `line`, `set`, `flag` and `each`",
        ),
        (
            "attribute: shutdown",
            "attribute: shutdwn",
            "port.yaml:28:20: at cli.lines[3].attribute: `port` has no attribute `shutdwn`; did you",
        ),
        (
            "attribute: shutdown",
            "attribute: vlan",
            "port.yaml:28:32: at cli.lines[3].flag: `vlan` is not Boolean: expected `set`",
        ),
        (
            "attribute: servers",
            "attribute: vlan",
            "port.yaml:29:32: at cli.lines[4].each: `vlan` is no list: expected `set`",
        ),
        (
            "server {{ item }}",
            "server {{ value }}",
            "port.yaml:29:35: at cli.lines[4].each: `value` is not known here",
        ),
        (
            "clear: no description",
            "remove: no description",
            "port.yaml:26:73: at cli.lines[1].remove: `remove` belongs to `each`",
        ),
        (
            "when: not routed",
            "when: not route",
            "port.yaml:27:79: at cli.lines[2].when: `route` is not known here",
        ),
        (
            "10m: '10'",
            "10g: '10'",
            "port.yaml:31:39: at cli.lines[6].map.10g: `10g` is no value of `speed`, which expects",
        ),
        (
            "flag: shutdown",
            "flag: commit",
            "port.yaml:28:36: at cli.lines[3].flag: this commits a candidate configuration",
        ),
        (
            "  delete:",
            "  create: x\n  delete:",
            "port.yaml:32:11: at cli.create: `create` and `lines` exclude each other",
        ),
        (
            "  lines:\n    - { attribute: routed, flag: no switchport }\n",
            "  lines: []\n  liness:\n    - x\n",
            "port.yaml:24:10: at cli.lines: expected at least one item",
        ),
    ] {
        assert!(PORT.contains(from), "{from}");
        let (_, problems) = read(&PORT.replacen(from, to, 1));
        let told = problems.iter().filter(|told| told.starts_with(expected));
        if told.count() != 1 {
            missing.push((expected, problems));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    let without = PORT.replace("  lines:", "  create: x\n  liness:");
    let (_, problems) = read(&without);
    let expected = "at cli.mode: `mode` belongs to `lines`, which is missing";
    assert!(
        problems.iter().any(|told| told.ends_with(expected)),
        "{problems:#?}"
    );
}

#[test]
fn an_error_in_a_line_is_reported_at_the_line() {
    let text = PORT.replace("description {{ value }}", "description {{ value | mac }}");
    let (kind, problems) = read(&text);
    assert_eq!(problems, [""; 0]);
    let kind = kind.expect("nothing is wrong");
    let (name, should) = kind
        .schema()
        .desire(Some("a"), hash(json!({ "description": "up" })))
        .expect("it fits");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    let error = kind.render(&name, &change, None, SecretVisibility::Redacted);
    let error = error.expect_err("no MAC address").to_string();
    assert!(
        error.contains("port.yaml:26:38: at cli.lines[1].set: "),
        "{error}"
    );
}
