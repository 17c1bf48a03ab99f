//! Tests of the sequence of requests, and of changes that fail.

use async_trait::async_trait;

use super::*;
use crate::cli::fake::TestBench;
use crate::error::Interruption;
use crate::netconf::fake::{Answer, Fake, OK};
use crate::netconf::operation::DefaultOperation;
use crate::netconf::xml::Element;

const MODERN: [&str; 4] = [
    "base:1.1",
    "candidate:1.0",
    "validate:1.1",
    "confirmed-commit:1.1",
];

/// A check with a configured result.
enum Finds {
    Nothing,
    Fault,
    NoEnd,
}

#[async_trait]
impl Check for Finds {
    async fn check(&self, _: &Context<'_>, _: &mut Client) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Fault => Err(Error::Unsupported("a fault".into())),
            Self::NoEnd => std::future::pending().await,
        }
    }
}

/// Makes a change on a device, and returns the requests it received.
async fn made(
    bench: &TestBench,
    capabilities: &[&'static str],
    check: Finds,
    answer: impl FnMut(&str) -> Answer + Send + 'static,
) -> (Result<Changed>, Vec<String>) {
    let fake = Fake::new(capabilities);
    let mut client = fake.open(bench, answer).await.expect("a session");
    let ctx = bench.ctx();
    let procedure = ChangeProcedure {
        ctx: &ctx,
        peer: "192.0.2.1:830",
        confirm_timeout: Some(Duration::from_secs(60)),
        check: &check,
    };
    let change = Change {
        config: vec![Element::in_namespace("urn:a", "a")],
        default_operation: DefaultOperation::Merge,
    };
    let result = if client.capabilities().has(Capability::Candidate) {
        procedure.by_candidate(&mut client, &change).await
    } else {
        procedure.directly(&mut client, &change).await
    };
    (result, fake.asked())
}

fn aftermath(result: Result<Changed>) -> ChangeOutcome {
    match result.expect_err("it should fail") {
        Error::UnconfirmedChange(unconfirmed) => unconfirmed.outcome,
        other => panic!("another error: {other}"),
    }
}

#[tokio::test]
async fn a_change_is_confirmed_only_behind_its_check() {
    let bench = TestBench::default();
    let (result, asked) = made(&bench, &MODERN, Finds::Nothing, |_| OK).await;
    assert!(result.expect("it goes well").confirmed);
    assert_eq!(
        asked,
        [
            "lock candidate",
            "edit-config candidate",
            "commit confirmed",
            "commit",
            "unlock candidate"
        ]
    );
}

#[tokio::test]
async fn a_device_without_locks_is_changed_without_one() {
    let bench = TestBench::default();
    let answer = |reported: &str| match reported {
        "lock running" => Answer::Refusal("operation-not-supported"),
        _ => OK,
    };
    let capabilities = ["base:1.0", "writable-running:1.0"];
    let (result, asked) = made(&bench, &capabilities, Finds::Nothing, answer).await;
    result.expect("it goes well");
    assert_eq!(asked, ["lock running", "edit-config running"]);
}

#[tokio::test]
async fn a_commit_of_which_junos_tells_more_than_it_ends_is_a_commit() {
    let bench = TestBench::default();
    let answer = |reported: &str| match reported {
        "commit" => Answer::Inside(
            "<commit-results><routing-engine junos:style=\"normal\"><name>re0</name>\
             <commit-success/><ok/></commit-results>",
        ),
        _ => OK,
    };
    let (result, _) = made(
        &bench,
        &["base:1.0", "candidate:1.0"],
        Finds::Nothing,
        answer,
    )
    .await;
    assert!(result.expect("it goes well").committed);
}

#[tokio::test]
async fn a_change_that_does_not_stand_its_check_is_taken_back() {
    let bench = TestBench::default();
    let (result, asked) = made(&bench, &MODERN, Finds::Fault, |_| OK).await;
    assert_eq!(aftermath(result), ChangeOutcome::RolledBack);
    assert_eq!(
        asked[2..],
        [
            "commit confirmed",
            "cancel-commit",
            "discard-changes",
            "unlock candidate"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn where_a_commit_cannot_be_cancelled_the_end_of_the_session_takes_it_back() {
    let bench = TestBench::default();
    let old = ["base:1.0", "candidate:1.0", "confirmed-commit:1.0"];
    let (result, asked) = made(&bench, &old, Finds::NoEnd, |_| OK).await;
    let limit = Duration::from_secs(60);
    assert_eq!(aftermath(result), ChangeOutcome::WillRollBack(limit));
    assert_eq!(
        asked,
        [
            "lock candidate",
            "edit-config candidate",
            "commit confirmed",
            "close-session"
        ]
    );
}

#[tokio::test]
async fn what_is_refused_before_the_commit_is_discarded() {
    for refused in ["edit-config candidate", "commit confirmed"] {
        let bench = TestBench::default();
        let answer = move |asked: &str| {
            if asked == refused {
                Answer::Refusal("invalid-value")
            } else {
                OK
            }
        };
        let (result, asked) = made(&bench, &MODERN, Finds::Nothing, answer).await;
        let error = result.expect_err("it is refused");
        assert!(matches!(error, Error::Refused(_)), "{error}");
        let last = &asked[asked.len() - 3..];
        assert_eq!(last, [refused, "discard-changes", "unlock candidate"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_somebody_else_has_is_waited_for_and_told() {
    let bench = TestBench::default();
    let mut denials = 2;
    let answer = move |asked: &str| {
        if asked == "lock candidate" && denials > 0 {
            denials -= 1;
            return Answer::Refusal("lock-denied");
        }
        OK
    };
    let (result, asked) = made(&bench, &MODERN, Finds::Nothing, answer).await;
    result.expect("in the end");
    assert_eq!(asked[..3], ["lock candidate"; 3]);
    let notices = bench.notices();
    assert_eq!(notices.len(), 2);
    assert!(
        notices[0].contains("lock the candidate configuration"),
        "{notices:?}"
    );

    let bench = TestBench::with_limit(5);
    let answer = |_: &str| Answer::Refusal("lock-denied");
    let (result, asked) = made(&bench, &MODERN, Finds::Nothing, answer).await;
    let error = result.expect_err("somebody keeps it").to_string();
    assert!(error.contains("lock-denied"), "{error}");
    assert!(
        asked.iter().all(|asked| asked == "lock candidate"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_session_that_dies_before_the_commit_changed_nothing_and_later_is_taken_back() {
    let dies_at = |at: &'static str| move |asked: &str| if asked == at { Answer::End } else { OK };
    let bench = TestBench::default();
    let dying = dies_at("edit-config candidate");
    let (result, _) = made(&bench, &MODERN, Finds::Nothing, dying).await;
    let error = result.expect_err("gone");
    assert!(
        matches!(&error, Error::Interrupted(i) if i.why == Interruption::Lost && !i.changing),
        "{error}"
    );
    let dying = dies_at("commit confirmed");
    let (result, _) = made(&bench, &MODERN, Finds::Nothing, dying).await;
    assert!(matches!(aftermath(result), ChangeOutcome::Unanswered(_)));
    let dying = dies_at("commit");
    let (result, _) = made(&bench, &MODERN, Finds::Nothing, dying).await;
    let error = result.expect_err("gone");
    assert!(
        matches!(&error, Error::Interrupted(interrupted) if interrupted.changing),
        "{error}"
    );
}

#[tokio::test]
async fn without_a_candidate_what_runs_is_changed_and_a_check_can_only_tell() {
    let bench = TestBench::default();
    let simple = ["base:1.0", "writable-running:1.0"];
    let (result, asked) = made(&bench, &simple, Finds::Fault, |_| OK).await;
    assert_eq!(aftermath(result), ChangeOutcome::InEffect);
    assert_eq!(
        asked,
        ["lock running", "edit-config running", "unlock running"]
    );
}
