//! Tests of changes that take effect with a commit: a batch is one commit, and only what is refused fails.

use std::sync::Arc;

use devgate_schemas::{Name, Value};
use devgate_transports::{Context, Mode, Resources, RetryBudget};

use super::DeclaredType;
use crate::fake::{EventLog, FakeCandidate};
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, ResourceType, Result};

const ROUTE: &str = "
name: route
desc: A static route.
attributes:
  prefix: { type: String, behaviour: namevar, desc: Where to. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  via: { type: 'Optional[String]', desc: Through which router. }
cli:
  get:
    command: show configuration | display set
    textfsm: |
      Value PREFIX (\\S+)
      Value VIA (\\S+)

      Start
        ^set route ${PREFIX} via ${VIA} -> Record
    resource: { prefix: PREFIX, via: VIA }
  create: |
    set route {{ prefix }}
    set route {{ prefix }} via {{ via }}
  delete: delete route {{ prefix }}
";

const DIALECT: &str = r#"{"prompt": {"config": "> ?"}, "enter_config": "configure", "leave_config": "exit",
    "commit": {"diff": "show | compare", "commit": "commit", "discard": "rollback 0"}}"#;

fn route() -> DeclaredType {
    let file = YamlFile::parse("route.yaml", ROUTE).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol {
        kind: ProtocolKind::Commands,
        dialect: Some(Arc::new(serde_json::from_str(DIALECT).expect("a dialect"))),
    };
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    assert_eq!(problems, []);
    kind.expect("nothing is wrong")
}

fn change(kind: &DeclaredType, prefix: &str) -> (Name, Change) {
    let given = [("via", Value::from("r9"))].into_iter().collect();
    let (name, should) = kind.schema().desire(Some(prefix), given).expect("it fits");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    (name, change)
}

struct Outcome {
    result: Result<()>,
    /// The titles and messages.
    failed: Vec<(String, String)>,
    events: Vec<String>,
    previews: Vec<String>,
}

async fn set(device: &FakeCandidate, prefixes: &[&str], mode: Mode) -> Outcome {
    let kind = route();
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let resources = Resources::new(kind.schema(), mode);
    let ctx = Context::new("sw1", &events, &retry_budget);
    let ctx = ctx.with_transport(device);
    let ctx = ctx.for_resources(&resources);
    let changes = prefixes.iter().map(|prefix| change(&kind, prefix));
    let mut provider = kind.provider();
    assert!(provider.previews());
    let result = provider.set(&ctx, changes.collect()).await;
    let failed = resources.failed().into_iter();
    let failed = failed.map(|one| (one.title, one.message)).collect();
    let previews = resources.previews();
    Outcome {
        result,
        failed,
        events: events.into_lines(),
        previews,
    }
}

fn titles(outcome: &Outcome) -> Vec<&str> {
    let failed = outcome.failed.iter();
    failed.map(|(title, _)| title.as_str()).collect()
}

fn done(outcome: &Outcome) -> Vec<&str> {
    let events = outcome.events.iter();
    events
        .filter_map(|event| event.strip_prefix("notice: Created: "))
        .collect()
}

#[tokio::test]
async fn a_batch_is_one_commit() {
    let device = FakeCandidate::default();
    let outcome = set(&device, &["a", "b"], Mode::Enforce).await;
    outcome.result.as_ref().expect("nothing was refused");
    assert_eq!((device.visits(), device.running().len()), (vec![4], 4));
    assert_eq!(done(&outcome), ["a", "b"]);
}

#[tokio::test]
async fn a_refused_change_fails_and_the_others_are_committed_without_it() {
    let device = FakeCandidate {
        refuses: Some("bad via"),
        ..FakeCandidate::default()
    };
    let outcome = set(&device, &["a", "bad", "c"], Mode::Enforce).await;
    outcome.result.as_ref().expect("the session is not lost");
    assert_eq!(
        (titles(&outcome), done(&outcome)),
        (vec!["bad"], vec!["a", "c"])
    );
    let message = &outcome.failed[0].1;
    assert!(
        message.ends_with("syntax error.; nothing of it is in effect"),
        "{message}"
    );
    assert_eq!(device.visits(), [6, 4]);
    // Not even the first line of it.
    assert!(!device.running().concat().contains("bad"));
}

#[tokio::test]
async fn a_failed_commit_fails_only_the_change_that_causes_it() {
    let device = FakeCandidate {
        refuses_commit_of: Some("bad"),
        ..FakeCandidate::default()
    };
    let outcome = set(&device, &["a", "b", "bad", "d"], Mode::Enforce).await;
    outcome.result.as_ref().expect("the session is not lost");
    assert_eq!(titles(&outcome), ["bad"]);
    assert_eq!(done(&outcome), ["a", "b", "d"]);
    let message = &outcome.failed[0].1;
    assert!(
        message.contains("refuses `commit`: error: it does not fit / error: check-out failed; nothing was committed"),
        "{message}"
    );
    assert_eq!(device.visits(), [8, 4, 4, 2, 2]);
}

#[tokio::test]
async fn a_commit_in_doubt_settles_no_change() {
    let device = FakeCandidate {
        is_lost: true,
        ..FakeCandidate::default()
    };
    let outcome = set(&device, &["a", "b"], Mode::Enforce).await;
    let error = outcome.result.as_ref().expect_err("lost").to_string();
    assert!(error.contains("either all 4 lines did, or none"), "{error}");
    assert!(done(&outcome).is_empty() && titles(&outcome).is_empty());
    assert_eq!(device.visits(), [4]);
}

#[tokio::test]
async fn under_noop_the_device_shows_what_the_lines_would_change() {
    let device = FakeCandidate {
        refuses: Some("bad"),
        ..FakeCandidate::default()
    };
    let outcome = set(&device, &["a", "bad"], Mode::Noop).await;
    outcome.result.as_ref().expect("the session is not lost");
    assert_eq!(outcome.previews, ["+ set route a\n+ set route a via r9"]);
    assert_eq!(titles(&outcome), ["bad"]);
    assert!(done(&outcome).is_empty() && device.running().is_empty());
}

#[tokio::test]
async fn a_candidate_that_is_locked_is_only_a_warning_under_noop() {
    let device = FakeCandidate {
        is_locked: true,
        ..FakeCandidate::default()
    };
    let outcome = set(&device, &["a"], Mode::Noop).await;
    outcome.result.as_ref().expect("it goes on");
    assert!(outcome.previews.is_empty() && outcome.failed.is_empty());
    let warned = outcome.events.concat();
    assert!(
        warned.contains("the device's own diff cannot be shown"),
        "{warned}"
    );
    assert!(warned.contains("locked by: joe"), "{warned}");
    set(&device, &["a"], Mode::Enforce)
        .await
        .result
        .expect_err("it cannot be changed");
}
