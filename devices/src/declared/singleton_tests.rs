//! Tests of types with exactly one resource, and of types that only read.

use devgate_schemas::{Hash, Resource, Value};

use super::DeclaredType;
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, ResourceType, SecretVisibility};

const LOG: &str = "
name: log
desc: Settings of the log.
singleton: settings
attributes:
  trap: { type: 'Optional[Integer]', desc: Its severity. }
  origin: { type: 'Optional[String]', desc: Its origin. }
cli:
  get:
    command: show log
    textfsm: |
      Value TRAP (\\d+)
      Value ORIGIN (\\S+)

      Start
        ^trap ${TRAP} -> Record
        ^origin ${ORIGIN} -> Record

      EOF
    resource: { trap: TRAP, origin: ORIGIN }
  create: trap {{ trap }}
";

fn read(text: &str) -> (Option<DeclaredType>, Vec<String>) {
    let file = YamlFile::parse("log.yaml", text).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol::without_dialect(ProtocolKind::Commands);
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    (kind, problems.iter().map(ToString::to_string).collect())
}

fn log() -> DeclaredType {
    let (kind, problems) = read(LOG);
    assert_eq!(problems, [""; 0]);
    kind.expect("nothing is wrong")
}

fn shown(rows: &[Resource]) -> Vec<String> {
    let row = |row: &Resource| serde_json::to_string(row).expect("JSON");
    rows.iter().map(row).collect()
}

#[test]
fn there_is_one_resource_whatever_the_device_says() {
    let rows = |output| shown(&log().parse(output, None).expect("it fits"));
    assert_eq!(rows(""), [r#"{"name":"settings"}"#]);
    assert_eq!(
        rows("trap 3\norigin ip\n"),
        [r#"{"name":"settings","trap":3,"origin":"ip"}"#]
    );
}

#[test]
fn it_has_one_name_and_is_only_updated() {
    let schema = log();
    let schema = schema.schema();
    let given = || [("trap", Value::from(4))].into_iter().collect();
    let error = schema.desire(Some("other"), given()).expect_err("refused");
    assert!(error.to_string().contains("settings"), "{error}");
    let (name, should) = schema.desire(Some("settings"), given()).expect("it fits");
    let is = log().parse("", None).expect("it fits").remove(0);
    let change = Change {
        is: CurrentState::Present(is),
        should: Some(should),
    };
    let lines = log().render(&name, &change, None, SecretVisibility::Redacted);
    assert_eq!(lines.expect("lines"), ["trap 4"]);
    let removal = Change {
        should: None,
        ..change
    };
    let error = log().render(&name, &removal, None, SecretVisibility::Redacted);
    let error = error.expect_err("it stays").to_string();
    assert_eq!(error, "`log` cannot be removed, only changed");
}

#[test]
fn a_singleton_has_neither_a_name_of_its_own_nor_ensure_nor_delete() {
    for (from, to, expected) in [
        (
            "  trap:",
            "  name: { type: String, behaviour: namevar, desc: x }\n  trap:",
            "log.yaml:6:9: at attributes.name: `singleton` names the only resource",
        ),
        (
            "  trap:",
            "  ensure: { type: 'Enum[present, absent]', desc: x }\n  trap:",
            "log.yaml:6:11: at attributes.ensure: a singleton is always there",
        ),
        (
            "  create:",
            "  delete: no log\n  create:",
            "log.yaml:21:11: at cli.delete: a singleton cannot be removed",
        ),
        (
            "{ trap: TRAP,",
            "{ name: TRAP, trap: TRAP,",
            "log.yaml:20:23: at cli.get.resource.name: `singleton` names the only resource",
        ),
        (
            "singleton: settings",
            "singleton: []",
            "log.yaml:4:12: at singleton: expected a text",
        ),
    ] {
        let (_, problems) = read(&LOG.replacen(from, to, 1));
        let is_told = problems.iter().any(|told| told.starts_with(expected));
        assert!(is_told, "{expected}: {problems:#?}");
    }
}

#[test]
fn a_type_that_only_reads_needs_no_create() {
    let without = LOG.replace("  create: trap {{ trap }}\n", "");
    let (_, problems) = read(&without);
    assert_eq!(
        problems,
        [
            "log.yaml:9:3: at cli: missing key `create`: `trap` can be set; expected \
          `behaviour: read_only` for each attribute of a type that only reads"
        ]
    );
    let (_, problems) = read(&LOG.replace("  create:", "  update:"));
    assert!(problems[1].ends_with("there is no `create`: expected both, or neither"));
    let only_reads = without.replace("]', desc", "]', behaviour: read_only, desc");
    let (kind, problems) = read(&only_reads);
    assert_eq!(problems, [""; 0]);
    let kind = kind.expect("nothing is wrong");
    let (name, should) = kind
        .schema()
        .desire(Some("settings"), Hash::new())
        .expect("it fits");
    ResourceType::check(&kind, &name, &should).expect("it may be there");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    let error = kind.render(&name, &change, None, SecretVisibility::Redacted);
    let error = error.expect_err("it only reads").to_string();
    assert_eq!(error, "`log` can only be read");
}
