//! Tests of the declared provider with a simulated device that keeps its configuration.

use devgate_schemas::{Name, Resource, Value};
use devgate_transports::{Context, Mode, Resources, RetryBudget};

use super::DeclaredType;
use crate::fake::{EventLog, FakeSession};
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, InSync, ResourceType, Result, SecretVisibility};

const VLAN: &str = "
name: vlan
desc: A VLAN.
attributes:
  id: { type: 'Integer[1,4094]', behaviour: namevar, desc: Its number. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  name: { type: 'Optional[String]', desc: Its name. }
  key: { type: 'Optional[String]', sensitive: true, desc: A secret. }
title_patterns: ['\\A(?<id>\\d+)\\z']
canonicalize: { name: name | lower }
cli:
  get:
    command: show vlan
    textfsm: |
      Value ID (\\d+)
      Value NAME (\\S*)
      Value KEY (\\S*)

      Start
        ^${ID} ${NAME} ?${KEY}$$ -> Record

      EOF
    resource: { id: ID, name: NAME, key: KEY }
  create: |
    vlan {{ id }}
    {% if name is not none %}
     name {{ name }}
    {% endif %}
    {% if key is changed(is.key) %}
     key {{ key }}
    {% endif %}
  delete: no vlan {{ id }}
";

fn vlan() -> DeclaredType {
    let file = YamlFile::parse("vlan.yaml", VLAN).expect("it is YAML");
    let mut problems = Problems::new();
    let read = |_: &str| Ok(String::new());
    let protocol = FamilyProtocol::without_dialect(ProtocolKind::Commands);
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    assert_eq!(problems, []);
    kind.expect("nothing is wrong")
}

fn change(kind: &DeclaredType, id: i64, name: Option<&str>) -> (Name, Change) {
    let given = name.map(|name| ("name", Value::from(name)));
    let desired = kind
        .schema()
        .desire(Some(&id.to_string()), given.into_iter().collect());
    let (title, should) = desired.expect("it fits");
    (
        title,
        Change {
            is: CurrentState::Absent,
            should: Some(should),
        },
    )
}

struct Outcome {
    result: Result<()>,
    failed: Vec<String>,
    events: Vec<String>,
    typed: Vec<String>,
}

async fn set(session: FakeSession, changes: Vec<(Name, Change)>, mode: Mode) -> Outcome {
    let kind = vlan();
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let resources = Resources::new(kind.schema(), mode);
    let ctx = Context::new("sw1", &events, &retry_budget);
    let ctx = ctx.with_transport(&session);
    let ctx = ctx.for_resources(&resources);
    let result = kind
        .provider()
        .set(&ctx, changes.into_iter().collect())
        .await;
    let failed = resources
        .failed()
        .into_iter()
        .map(|failure| failure.title)
        .collect();
    let events = events.into_lines();
    Outcome {
        result,
        failed,
        events,
        typed: session.typed(),
    }
}

#[tokio::test]
async fn several_changes_go_in_one_visit_and_modes_are_left_in_between() {
    let kind = vlan();
    let changes = vec![change(&kind, 10, Some("users")), change(&kind, 20, None)];
    let outcome = set(FakeSession::default(), changes, Mode::Enforce).await;
    outcome.result.expect("nothing was refused");
    assert_eq!(
        outcome.typed,
        ["configure", "vlan 10", "name users", "exit", "vlan 20"]
    );
    assert_eq!(
        outcome.events,
        ["notice: Created: 10", "notice: Created: 20"]
    );
}

#[tokio::test]
async fn a_refused_resource_fails_alone_and_nothing_is_sent_twice() {
    let kind = vlan();
    let ids = [(10, "a"), (20, "bad"), (30, "c")];
    let changes = ids.map(|(id, name)| change(&kind, id, Some(name))).to_vec();
    let session = FakeSession {
        refuses: Some("bad"),
        ..FakeSession::default()
    };
    let outcome = set(session, changes, Mode::Enforce).await;
    outcome.result.expect("the session is not lost");
    assert_eq!(outcome.failed, ["20"]);
    let typed = [
        "configure",
        "vlan 10",
        "name a",
        "exit",
        "vlan 20",
        "name bad",
        "configure",
        "vlan 30",
        "name c",
    ];
    assert_eq!(outcome.typed, typed);
}

#[tokio::test]
async fn a_lost_session_ends_it_and_what_was_done_before_stays_done() {
    let kind = vlan();
    let changes = [10, 20, 30].map(|id| change(&kind, id, None)).to_vec();
    let session = FakeSession {
        lost_at: Some("vlan 20"),
        ..FakeSession::default()
    };
    let outcome = set(session, changes, Mode::Enforce).await;
    assert!(outcome.result.is_err());
    assert_eq!(outcome.events, ["notice: Created: 10"]);
    assert_eq!(outcome.typed, ["configure", "vlan 10", "vlan 20"]);
}

#[tokio::test]
async fn a_value_with_a_line_end_fails_before_anything_is_sent() {
    let kind = vlan();
    let changes = vec![change(&kind, 10, Some("a\nreload"))];
    let outcome = set(FakeSession::default(), changes, Mode::Enforce).await;
    outcome.result.expect("only the resource failed");
    assert_eq!(outcome.failed, ["10"]);
    assert_eq!(outcome.typed, [""; 0]);
    assert!(outcome.events[0].contains("`name` of vlan[10] holds '\\n'"));
}

#[tokio::test]
async fn noop_sends_nothing() {
    let kind = vlan();
    let outcome = set(
        FakeSession::default(),
        vec![change(&kind, 10, None)],
        Mode::Noop,
    )
    .await;
    outcome.result.expect("it only renders");
    assert_eq!(outcome.typed, [""; 0]);
}

#[tokio::test]
async fn an_unknown_state_is_read_once_and_a_removal_needs_only_the_name() {
    let kind = vlan();
    let (name, mut desired) = change(&kind, 10, Some("b"));
    desired.is = CurrentState::Unknown;
    let removal = Change {
        is: CurrentState::Unknown,
        should: None,
    };
    let (other, _) = change(&kind, 20, None);
    let session = FakeSession {
        output: "10 a\n20 c\n",
        ..FakeSession::default()
    };
    let outcome = set(
        session,
        vec![(name, desired), (other, removal)],
        Mode::Enforce,
    )
    .await;
    outcome.result.expect("nothing was refused");
    assert_eq!(
        outcome.typed,
        [
            "> show vlan",
            "configure",
            "vlan 10",
            "name b",
            "exit",
            "no vlan 20"
        ]
    );
    assert_eq!(
        outcome.events,
        ["notice: Updated: 10", "notice: Deleted: 20"]
    );
}

#[test]
fn a_secret_is_redacted_in_lines_and_never_quoted_in_errors() {
    let kind = vlan();
    let given = [("key", Value::from("canary"))];
    let (name, should) = kind
        .schema()
        .desire(Some("10"), given.into_iter().collect())
        .expect("it fits");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    let lines = |shown| kind.render(&name, &change, None, shown).expect("lines");
    assert_eq!(
        lines(SecretVisibility::Redacted),
        ["vlan 10", " key Sensitive [value redacted]"]
    );
    assert_eq!(lines(SecretVisibility::InClear), ["vlan 10", " key canary"]);
    let rows = kind.parse("10 Users canary\n", None).expect("it fits");
    assert!(!format!("{rows:?}").contains("canary"));
    let unchanged = Change {
        is: CurrentState::Present(rows[0].clone()),
        ..change
    };
    let lines = kind
        .render(&name, &unchanged, None, SecretVisibility::Redacted)
        .expect("lines");
    assert_eq!(
        lines,
        ["vlan 10", " name users"],
        "the same secret is not sent again"
    );
}

#[test]
fn rows_are_in_canonical_form() {
    let rows = vlan().parse("10 USERS\n", None).expect("it fits");
    assert_eq!(rows[0].get("name"), Some(&Value::from("users")));
    assert_eq!(rows[0].get("key"), None);
    assert_eq!(rows[0].get("ensure"), Some(&Value::from("present")));
}

#[test]
fn rows_of_one_name_that_say_different_things_or_the_same_again_are_several_resources() {
    let names = |output| {
        let rows = vlan().parse(output, None).expect("it fits");
        let names = rows
            .iter()
            .map(|row| row.get("name").map(Value::interpolated));
        names.map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    assert_eq!(names("10 a\n20 c\n10 b\n"), ["a", "b", "c"]);
    assert_eq!(names("10 a\n10 a\n"), ["a", "a"]);
    // A row with only the name belongs to the same resource.
    assert_eq!(names("10 \n10 a\n10 \n"), ["a"]);
}

#[tokio::test]
async fn a_value_that_cannot_be_typed_is_not_canonicalized() {
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let ctx = Context::new("sw1", &events, &retry_budget);
    let mut desired = [Resource::new(), Resource::new()];
    desired[0].set("name", Value::from("A\nB"));
    desired[1].set("name", Value::from("AB"));
    vlan()
        .provider()
        .canonicalize(&ctx, &mut desired)
        .await
        .expect("nothing is wrong");
    assert_eq!(desired[0].get("name"), Some(&Value::from("A\nB")));
    assert_eq!(desired[1].get("name"), Some(&Value::from("ab")));
}

#[test]
fn text_that_does_not_match_its_type_is_reported_with_its_location() {
    let error = vlan()
        .parse("1 a\n 5000 b\n5000 c\n", None)
        .expect_err("5000 is too much");
    let text = error.to_string();
    assert!(
        text.starts_with("output of `show vlan`, line 3, column 1: `id`: "),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_desired_empty_is_in_sync_with_nothing() {
    let kind = vlan();
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let ctx = Context::new("sw1", &events, &retry_budget);
    let (name, change) = change(&kind, 10, Some(""));
    let should = change.should.expect("it is wanted");
    let verdict = |is: Resource| {
        let (ctx, name, should) = (&ctx, &name, &should);
        let mut provider = vlan().provider();
        async move {
            provider
                .insync(ctx, name, "name", &is, should)
                .await
                .expect("a verdict")
        }
    };
    assert_eq!(verdict(Resource::new()).await, InSync::Yes);
    let mut named = Resource::new();
    named.set("name", Value::from("a"));
    assert_eq!(verdict(named).await, InSync::ByValue);
}
