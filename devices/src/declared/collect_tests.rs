//! Tests of lists that several rows make, and of resources for which there is no row.

use devgate_schemas::{Resource, Value};
use devgate_transports::{Context, RetryBudget};

use super::DeclaredType;
use crate::fake::{EventLog, FakeSession};
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, Changes, CurrentState, ResourceFilter, ResourceType};

const CHANNEL: &str = "
name: channel
desc: A channel of ports.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  mode: { type: 'Optional[String]', desc: Its mode. }
  ports: { type: 'Optional[Array[String]]', desc: Its ports. }
collect: ports
canonicalize: { ports: ports | map('lower') }
cli:
  get:
    command: show running-config
    textfsm: |
      Value PORT (\\S+)
      Value Required NAME (\\d+)
      Value MODE (\\w+)

      Start
        ^port ${PORT} channel ${NAME} ${MODE} -> Record
        ^channel ${NAME} -> Record

      EOF
    resource: { name: NAME, mode: MODE, ports: PORT }
  create: x
";

const TRAP: &str = "
name: trap
desc: Whether a trap is sent.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  enable: { type: Boolean, desc: Whether it is sent. }
otherwise: { enable: false }
cli:
  get:
    command: show traps
    textfsm: |
      Value NAME (\\S+)

      Start
        ^trap ${NAME} -> Record

      EOF
    resource: { name: NAME, enable: true }
  create: \"{{ '' if enable else 'no ' }}trap {{ name }} was {{ is.enable }}\"
";

fn read(text: &str) -> (Option<DeclaredType>, Vec<String>) {
    let file = YamlFile::parse("type.yaml", text).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol::without_dialect(ProtocolKind::Commands);
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    (kind, problems.iter().map(ToString::to_string).collect())
}

fn declared(text: &str) -> DeclaredType {
    let (kind, problems) = read(text);
    assert_eq!(problems, [""; 0]);
    kind.expect("nothing is wrong")
}

fn shown(rows: &[Resource]) -> Vec<String> {
    let row = |row: &Resource| serde_json::to_string(row).expect("JSON");
    rows.iter().map(row).collect()
}

#[test]
fn rows_of_one_name_add_to_its_list() {
    let output = "channel 1\nport E1 channel 1 active\nport E2 channel 1 active\nport E2 channel 1 active\nchannel 2\n";
    let rows = declared(CHANNEL).parse(output, None).expect("it fits");
    assert_eq!(
        shown(&rows),
        [
            r#"{"name":"1","mode":"active","ports":["e1","e2"]}"#,
            r#"{"name":"2"}"#
        ]
    );
    let rows = declared(CHANNEL).parse("port E1 channel 1 active\nport E2 channel 1 on\n", None);
    assert_eq!(
        rows.expect("rows").len(),
        2,
        "their modes contradict each other"
    );
}

#[tokio::test]
async fn a_named_resource_without_a_row_has_the_other_values() {
    let kind = declared(TRAP);
    let schema = kind.schema();
    let desired = |name| {
        schema.desire(
            Some(name),
            [("enable", Value::from(true))].into_iter().collect(),
        )
    };
    let (snmp, should) = desired("snmp").expect("it fits");
    let session = FakeSession::with_output("trap bgp\n", "nothing");
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let ctx = Context::new("it", &events, &retry_budget);
    let ctx = ctx.with_transport(&session);
    let names = [snmp.clone(), desired("bgp").expect("it fits").0];
    let mut provider = kind.provider();
    let rows = provider
        .get(&ctx, ResourceFilter::Named(&names))
        .await
        .expect("rows");
    assert_eq!(
        shown(&rows),
        [
            r#"{"name":"bgp","enable":true}"#,
            r#"{"name":"snmp","enable":false}"#
        ]
    );
    let rows = provider.get(&ctx, ResourceFilter::All).await.expect("rows");
    assert_eq!(shown(&rows), [r#"{"name":"bgp","enable":true}"#]);
    let change = Change {
        is: CurrentState::Unknown,
        should: Some(should),
    };
    let changes: Changes = [(snmp, change)].into_iter().collect();
    provider.set(&ctx, changes).await.expect("it is set");
    assert_eq!(
        session.typed().last().map(String::as_str),
        Some("trap snmp was false")
    );
}

#[test]
fn what_cannot_be_collected_or_does_not_fit_is_reported() {
    for (text, from, to, expected) in [
        (
            CHANNEL,
            "collect: ports",
            "collect: mode",
            "type.yaml:8:10: at collect: `mode` is no list",
        ),
        (
            CHANNEL,
            "collect: ports",
            "collect: [port]",
            "at collect[0]: `channel` has no attribute `port`",
        ),
        (
            TRAP,
            "{ enable: false }",
            "{ enable: 7 }",
            "type.yaml:7:22: at otherwise.enable: ",
        ),
        (
            TRAP,
            "{ enable: false }",
            "{ name: x }",
            "at otherwise.name: the name is that of the resource",
        ),
        (
            TRAP,
            "  enable:",
            "  ensure: { type: 'Enum[present, absent]', desc: x }\n  enable:",
            "at otherwise: without a row,",
        ),
    ] {
        let (_, problems) = read(&text.replacen(from, to, 1));
        assert!(
            problems.iter().any(|one| one.contains(expected)),
            "{expected}: {problems:#?}"
        );
    }
}
