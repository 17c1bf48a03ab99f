//! Tests of types that are read and written with the same lines.

use std::sync::Arc;

use devgate_schemas::{Hash, Value};
use devgate_transports::Dialect;
use serde_json::json;

use super::DeclaredType;
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{ResourceType, SecretVisibility};

const PORT: &str = r#"
name: port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  description: { type: 'Optional[String]', desc: What it is for. }
  mtu: { type: 'Optional[Variant[Integer, Enum[unset]]]', desc: Its MTU., unset: unset }
  shutdown: { type: 'Optional[Boolean]', desc: Whether it is off. }
  switchport: { type: 'Optional[Boolean]', desc: Whether it switches. }
  routed: { type: 'Optional[Boolean]', desc: Whether it routes. }
  speed: { type: 'Optional[Enum["10m", "1g", auto]]', desc: Its speed. }
  servers: { type: 'Optional[Array[String]]', desc: Its servers. }
  addresses: { type: 'Optional[Array[String]]', desc: Its addresses. }
cli:
  get:
    command: show running-config
    block: 'interface {{ name }}( vrf \S+)?'
  mode: interface {{ name }}
  lines:
    - { attribute: description, line: 'description {{ value }}' }
    - { attribute: mtu, line: 'mtu {{ value }} bytes', default: 1500 }
    - { attribute: shutdown, flag: shutdown }
    - { attribute: switchport, flag: switch (port), default: true }
    - { attribute: routed, flag: undo bridging }
    - { attribute: speed, line: 'speed {{ value }}', map: { 10m: '10', 1g: '1000' }, default: "'auto' if name == 'e2' else none" }
    - { attribute: servers, each: 'server {{ item }}' }
    - attribute: addresses
      each: '{{ ''ipv6'' if '':'' in item else ''ip'' }} address {{ item }}'
      read: '(?:ip|ipv6) address {{ item }}(?: secondary)?'
"#;

const LOG: &str = r"
name: log
desc: How messages are logged.
singleton: settings
attributes:
  level: { type: 'Optional[Integer]', desc: The lowest level. }
  console: { type: 'Optional[Boolean]', desc: Whether the console shows them. }
cli:
  get: { command: show running-config }
  lines:
    - { attribute: level, line: 'logging level {{ value }}' }
    - { attribute: console, flag: logging console }
";

const POOL: &str = r#"
name: pool
desc: A pool.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  label: { type: 'Optional[String]', desc: What it is for. }
  mode: { type: 'Optional[Enum[on, off]]', desc: Its mode. }
  members: { type: 'Optional[Array[String]]', desc: Its members. }
  key: { type: 'Optional[String]', sensitive: true, behaviour: parameter, desc: Its key. }
cli:
  get: { command: show running-config }
  mode: edit {{ name | quoted }}
  lines:
    - { attribute: label, line: "label {{ value | quoted('$') }} end" }
    - { attribute: mode, line: 'mode {{ value|quoted }}', map: { 'on': yes please, 'off': 'no' } }
    - { attribute: members, each: 'member {{ item | quoted }}' }
    - { attribute: key, set: 'key {{ value | quoted }}' }
"#;

#[test]
fn what_is_written_in_quotes_is_read_without_them() {
    let label = r#"the "core" of $5 \o/"#;
    let written = lines(
        POOL,
        json!({}),
        json!({"label": label, "mode": "on", "members": ["a b", "c\\"]}),
    );
    assert_eq!(
        written,
        [
            r#"edit "e1""#,
            r#" label "the \"core\" of \$5 \\o/" end"#,
            r#" mode "yes please""#,
            r#" member "a b""#,
            r#" member "c\\""#,
        ]
    );
    let shown = written.join("\n") + "\nedit plain\n label short end\n mode no\n member \"x\" y\n";
    assert_eq!(
        rows(POOL, &shown),
        json!([
            { "name": "e1", "label": label, "mode": "on", "members": ["a b", "c\\"] },
            { "name": "plain", "label": "short", "mode": "off", "members": ["\"x\" y"] },
        ])
    );
}

#[test]
fn a_secret_in_quotes_is_escaped_when_it_is_typed() {
    let kind = read(POOL).expect("nothing is wrong");
    let secret = Value::from(r#"a"b\c"#).into_sensitive();
    let mut should = Hash::new();
    should.insert("key", secret);
    let (name, should) = kind.schema().desire(Some("e1"), should).expect("it fits");
    let (name, change) = kind
        .canonical_change(&name, Some(Hash::new()), should)
        .expect("canonical");
    let rendered = |secrets| kind.render(&name, &change, None, secrets).expect("lines");
    assert_eq!(rendered(SecretVisibility::InClear)[1], r#" key "a\"b\\c""#);
    assert_eq!(
        rendered(SecretVisibility::Redacted)[1],
        r#" key "Sensitive [value redacted]""#
    );
}

fn read(text: &str) -> Result<DeclaredType, String> {
    let file = YamlFile::parse("port.yaml", text).expect("it is YAML");
    let mut problems = Problems::new();
    let dialect = json!({ "negate": "undo", "text": [{ "opens": "^banner", "end": "EOF" }] });
    let dialect: Dialect = serde_json::from_value(dialect).expect("a dialect");
    let protocol = FamilyProtocol {
        kind: ProtocolKind::Commands,
        dialect: Some(Arc::new(dialect)),
    };
    let none = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &none, &mut problems);
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    match kind {
        Some(kind) if problems.is_empty() => Ok(kind),
        _ => Err(problems.join("\n")),
    }
}

fn rows(kind: &str, output: &str) -> serde_json::Value {
    let kind = read(kind).expect("nothing is wrong");
    json!(kind.parse(output, None).expect("it is read"))
}

fn lines(kind: &str, is: serde_json::Value, should: serde_json::Value) -> Vec<String> {
    let kind = read(kind).expect("nothing is wrong");
    let hash = |json: serde_json::Value| match Value::from(json) {
        Value::Hash(hash) => hash,
        _ => Hash::new(),
    };
    let title = kind.schema().attributes().contains_key("console");
    let title = if title { "settings" } else { "e1" };
    let (name, should) = kind
        .schema()
        .desire(Some(title), hash(should))
        .expect("it fits");
    let (name, change) = kind
        .canonical_change(&name, Some(hash(is)), should)
        .expect("canonical");
    kind.render(&name, &change, None, SecretVisibility::Redacted)
        .expect("lines")
}

#[test]
fn the_lines_of_a_type_are_read_from_its_blocks() {
    let output = "\
hostname sw1
banner motd
interface e9
 description no interface
EOF
!
interface e1 vrf red
   description to the  core
   mtu 9000 bytes
   shutdown
   undo switch (port)
   undo bridging
   speed 1000
   server a
   server b
   ip address 10.0.0.1/24 secondary
   ipv6 address 2001:db8::1/64
   vrrp 1
      description of another thing
      mtu 1 bytes
!
interface e2
router
   description no port
   mtu 2 bytes
";
    assert_eq!(
        rows(PORT, output),
        json!([
            {
                "name": "e1", "description": "to the  core", "mtu": 9000, "shutdown": true, "switchport": false,
                "routed": true, "speed": "1g", "servers": ["a", "b"],
                "addresses": ["10.0.0.1/24", "2001:db8::1/64"],
            },
            {
                "name": "e2", "mtu": 1500, "shutdown": false, "switchport": true, "routed": false,
                "speed": "auto", "servers": [], "addresses": [],
            },
        ])
    );
}

#[test]
fn the_same_lines_are_written_and_taken_away() {
    assert_eq!(
        lines(
            PORT,
            json!({}),
            json!({"mtu": 9000, "shutdown": true, "routed": false, "speed": "1g", "servers": ["a"]})
        ),
        [
            "interface e1",
            " mtu 9000 bytes",
            " shutdown",
            " bridging",
            " speed 1000",
            " server a"
        ]
    );
    assert_eq!(
        lines(
            PORT,
            json!({"description": "x y", "mtu": 9000, "routed": false, "servers": ["a"]}),
            json!({"description": "", "mtu": "unset", "switchport": false, "routed": true, "servers": ["b"]})
        ),
        [
            "interface e1",
            " undo description",
            " undo mtu",
            " undo switch (port)",
            " undo bridging",
            " undo server a",
            " server b"
        ]
    );
}

#[test]
fn settings_without_a_mode_are_read_from_the_top() {
    let output = "logging level 5\nlogging console\ninterface e1\n  logging level 7\n";
    assert_eq!(
        rows(LOG, output),
        json!([{"name": "settings", "level": 5, "console": true}])
    );
    assert_eq!(
        rows(LOG, ""),
        json!([{"name": "settings", "console": false}])
    );
    assert_eq!(
        lines(
            LOG,
            json!({"level": 5, "console": true}),
            json!({"level": 7, "console": false})
        ),
        ["logging level 7", "undo logging console"]
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (from, to, message) in [
        (
            "line: 'description {{ value }}'",
            "line: '{{ value }} {{ value }}'",
            "at cli.lines[0].line: a device's output is read with this, too",
        ),
        (
            "default: 1500",
            "default: x",
            "at cli.lines[1].default: `x` is not known here",
        ),
        (
            "'interface {{ name }}( vrf \\S+)?'",
            "interface",
            "at cli.get.block: expected `{{ name }}` here",
        ),
        (
            "{ attribute: shutdown, flag: shutdown }",
            "{ attribute: mtu, line: 'x {{ value }}' }",
            "at cli.lines[2]: `mtu` has a line already that is read",
        ),
        (
            "    block: ",
            "    blocks: ",
            "at cli.get: unknown key `blocks`; did you mean `block`?",
        ),
    ] {
        assert!(PORT.contains(from), "{from}");
        let problem = read(&PORT.replace(from, to)).expect_err("refused");
        assert!(problem.contains(message), "{problem}");
    }
    let (form, _) = LOG.split_once("  lines:").expect("there are lines");
    let problem = read(&format!("{form}  create: x")).expect_err("refused");
    assert!(
        problem.contains("expected `textfsm`, or `values`, or the type's `lines`"),
        "{problem}"
    );
}
