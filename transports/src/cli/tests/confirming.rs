//! Tests of confirmations: a commit that is not confirmed never counts as done, and the error says what becomes of it.

use std::time::Duration;

use super::super::fake::{FakeStep, write};
use super::committing::{LEAVE, Outcome, change, change_with, edit, junos, router};
use crate::Error;
use crate::error::ChangeOutcome;

fn unconfirmed(outcome: &Outcome) -> (ChangeOutcome, String) {
    match &outcome.result {
        Err(Error::UnconfirmedChange(unconfirmed)) => {
            (unconfirmed.outcome, unconfirmed.to_string())
        }
        other => panic!("another outcome: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_on_probation_without_an_answer_is_rolled_back_if_it_was_made() {
    let question = write("Commit on the other node, too? [yes,no] ");
    for answer in [vec![FakeStep::Close], vec![question, FakeStep::Hang]] {
        let outcome = change(router().on("commit confirmed 1", &answer)).await;
        let (then, text) = unconfirmed(&outcome);
        assert_eq!(then, ChangeOutcome::Unanswered(Duration::from_secs(60)));
        let expected = "if it was made at all, the device rolls it back by itself, within 60 s";
        assert!(text.contains(expected), "{text}");
        assert!(!outcome.is_usable);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_second_login_the_commit_is_not_confirmed() {
    for login in [Some(false), None] {
        let outcome = change_with(router(), junos(), login, 60).await;
        let (then, text) = unconfirmed(&outcome);
        assert_eq!(then, ChangeOutcome::WillRollBack(Duration::from_secs(60)));
        let end = outcome.typed.len() - 2;
        assert_eq!(
            outcome.typed[end..],
            ["commit confirmed 1", LEAVE],
            "{text}"
        );
        assert!(outcome.is_usable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_that_can_takes_the_commit_back_at_once() {
    let mut cancelling = junos();
    let commit = cancelling.commit.as_mut().expect("it has one");
    commit.cancel = Some("commit cancel".to_owned());
    let fake = router().on("commit cancel", &[edit("cancelled\r\n")]);
    let outcome = change_with(fake, cancelling, Some(false), 60).await;
    let (then, _) = unconfirmed(&outcome);
    assert_eq!(then, ChangeOutcome::RolledBack);
    assert_eq!(outcome.typed.last().map(String::as_str), Some(LEAVE));
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_without_an_answer_is_in_doubt_and_a_refused_one_is_rolled_back() {
    let outcome = change(router().on("commit", &[FakeStep::Close])).await;
    let (then, text) = unconfirmed(&outcome);
    assert_eq!(then, ChangeOutcome::InDoubt(Duration::from_secs(60)));
    assert!(
        text.contains("keeps it, or rolls it back by itself within 60 s"),
        "{text}"
    );
    let outcome = change(router().on("commit", &[edit("error: no\r\n")])).await;
    let (then, _) = unconfirmed(&outcome);
    assert_eq!(then, ChangeOutcome::WillRollBack(Duration::from_secs(60)));
    assert!(outcome.is_usable);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_after_the_confirmation_changes_nothing_about_it() {
    let outcome = change(router().on(LEAVE, &[FakeStep::Close])).await;
    outcome.result.expect("it is confirmed");
    assert!(!outcome.is_usable);
    assert_eq!(outcome.warnings.len(), 1);
}
