//! Tests of the requests during probation, and of its outcomes.

use async_trait::async_trait;

use super::*;
use crate::Context;
use crate::cli::fake::TestBench;
use crate::netconf::change::Check;
use crate::netconf::fake::{Answer, Fake, OK};
use crate::netconf::xml::Element;
use crate::pauses::wait;

const MODERN: [&str; 3] = ["base:1.1", "candidate:1.0", "confirmed-commit:1.1"];
const OLD: [&str; 3] = ["base:1.0", "candidate:1.0", "confirmed-commit:1.0"];
const LIMIT: Duration = Duration::from_secs(60);

/// A check that succeeds or fails as configured.
struct IsWell(bool);

#[async_trait]
impl Check for IsWell {
    async fn check(&self, _: &Context<'_>, _: &mut Client) -> Result<()> {
        match self.0 {
            true => Ok(()),
            false => Err(Error::Unsupported("a fault".into())),
        }
    }
}

/// A session with changes on probation.
struct Run {
    bench: TestBench,
    fake: Fake,
    client: Client,
    probation: Probation,
    check: IsWell,
}

impl Run {
    async fn begin(
        capabilities: &[&'static str],
        answer: impl FnMut(&str) -> Answer + Send + 'static,
    ) -> Self {
        let (bench, fake, check) = (TestBench::default(), Fake::new(capabilities), IsWell(true));
        let mut client = fake.open(&bench, answer).await.expect("a session");
        let ctx = bench.ctx();
        let begun = Probation::begin(&procedure(&ctx, &check), &mut client).await;
        let probation = begun.expect("nobody has the lock").expect("it can");
        Self {
            bench,
            fake,
            client,
            probation,
            check,
        }
    }

    async fn change(&mut self) -> Result<Changed> {
        let ctx = self.bench.ctx();
        let change = Change {
            config: vec![Element::in_namespace("urn:a", "a")],
            ..Change::default()
        };
        let procedure = procedure(&ctx, &self.check);
        self.probation
            .change(&procedure, &mut self.client, &change)
            .await
    }

    async fn keep_up(&mut self) {
        let ctx = self.bench.ctx();
        let procedure = procedure(&ctx, &self.check);
        self.probation.keep_up(&procedure, &mut self.client).await;
    }

    async fn confirm(&mut self) -> Result<()> {
        let ctx = self.bench.ctx();
        let procedure = procedure(&ctx, &self.check);
        self.probation.confirm(&procedure, &mut self.client).await
    }

    async fn take_back(&mut self) -> bool {
        let ctx = self.bench.ctx();
        let procedure = procedure(&ctx, &self.check);
        self.probation.take_back(&procedure, &mut self.client).await
    }

    /// Returns the requests after the lock.
    fn asked(&self) -> Vec<String> {
        let asked = self.fake.asked();
        assert_eq!(asked[0], "lock candidate");
        asked[1..].to_vec()
    }
}

fn procedure<'a>(ctx: &'a Context<'a>, check: &'a IsWell) -> ChangeProcedure<'a> {
    ChangeProcedure {
        ctx,
        peer: "192.0.2.1:830",
        confirm_timeout: Some(LIMIT),
        check,
    }
}

const CHANGE: [&str; 2] = ["edit-config candidate", "commit confirmed"];

#[tokio::test]
async fn all_changes_are_confirmed_at_once_and_not_before() {
    let mut run = Run::begin(&MODERN, |_| OK).await;
    for _ in 0..2 {
        let changed = run.change().await.expect("it is taken");
        assert!(changed.committed && !changed.confirmed);
    }
    assert_eq!(run.asked(), [CHANGE, CHANGE].concat());
    run.confirm().await.expect("all is well");
    assert_eq!(run.asked()[4..], ["commit confirmed", "commit"]);
}

#[tokio::test]
async fn where_nothing_was_committed_there_is_nothing_to_confirm_or_to_take_back() {
    let answer = |asked: &str| match asked {
        "edit-config candidate" => Answer::Refusal("invalid-value"),
        _ => OK,
    };
    let mut run = Run::begin(&MODERN, answer).await;
    run.change().await.expect_err("it is refused");
    run.confirm().await.expect("there is nothing");
    assert!(run.take_back().await);
    assert_eq!(run.asked(), ["edit-config candidate", "discard-changes"]);
}

#[tokio::test]
async fn what_is_taken_back_is_cancelled_or_ends_with_the_session() {
    for (capabilities, at_once, asked) in [
        (MODERN, true, "cancel-commit"),
        (OLD, false, "close-session"),
    ] {
        let mut run = Run::begin(&capabilities, |_| OK).await;
        run.change().await.expect("it is taken");
        assert_eq!(run.take_back().await, at_once);
        assert_eq!(run.asked()[2..], [asked]);
    }
}

#[tokio::test]
async fn a_commit_without_an_answer_may_be_waiting() {
    let answer = |asked: &str| match asked == CHANGE[1] {
        true => Answer::End,
        false => OK,
    };
    let mut run = Run::begin(&MODERN, answer).await;
    run.change().await.expect_err("the session ended");
    assert!(!run.take_back().await, "nobody has seen that");
}

#[tokio::test]
async fn what_does_not_stand_its_check_is_taken_back_once() {
    let mut run = Run::begin(&MODERN, |_| OK).await;
    run.change().await.expect("it is taken");
    run.check = IsWell(false);
    let error = run.confirm().await.expect_err("it is not well").to_string();
    assert!(
        error.contains("a fault") && error.contains("rolled back"),
        "{error}"
    );
    assert!(run.take_back().await, "it was");
    assert_eq!(run.asked()[2..], ["commit confirmed", "cancel-commit"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_long_keeps_the_device_waiting() {
    let mut run = Run::begin(&MODERN, |_| OK).await;
    run.change().await.expect("it is taken");
    for _ in 0..4 {
        wait(LIMIT / 3).await;
        run.keep_up().await;
    }
    let confirmed = run.asked();
    let confirmed = confirmed.iter().filter(|it| *it == "commit confirmed");
    assert_eq!(confirmed.count(), 3, "only where half of the time is gone");
    run.confirm().await.expect("it still waits");
}

#[tokio::test(start_paused = true)]
async fn what_the_device_no_longer_waits_for_is_neither_changed_nor_confirmed() {
    let mut run = Run::begin(&MODERN, |_| OK).await;
    run.change().await.expect("it is taken");
    wait(LIMIT).await;
    run.keep_up().await;
    for error in [
        run.change().await.expect_err("it is over"),
        run.confirm().await.expect_err("it is over"),
    ] {
        let error = error.to_string();
        assert!(error.contains("`confirm_timeout`"), "{error}");
    }
    assert_eq!(run.asked()[2..], [""; 0]);

    // The step itself may take too long.
    let mut edits = 0;
    let answer = move |asked: &str| {
        edits += usize::from(asked == CHANGE[0]);
        match asked == CHANGE[0] && edits == 2 {
            true => Answer::Late(LIMIT.mul_f64(0.8)),
            false => OK,
        }
    };
    let mut run = Run::begin(&MODERN, answer).await;
    run.change().await.expect("it is taken");
    run.change().await.expect_err("it is over");
    assert_eq!(run.asked()[2..], [CHANGE[0], "discard-changes"]);

    let mut run = Run::begin(&MODERN, |_| OK).await;
    run.change().await.expect("it is taken");
    run.probation.lose();
    let error = run.change().await.expect_err("it is lost").to_string();
    assert!(error.contains("the session ended"), "{error}");
    run.confirm().await.expect_err("it is lost");
    assert!(!run.take_back().await, "nobody has seen that");
    assert_eq!(run.asked(), CHANGE);
}

#[tokio::test]
async fn a_device_that_cannot_wait_has_no_probation() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.0", "candidate:1.0"]);
    let mut client = fake.open(&bench, |_| OK).await.expect("a session");
    let ctx = bench.ctx();
    let begun = Probation::begin(&procedure(&ctx, &IsWell(true)), &mut client).await;
    assert!(begun.expect("it is no error").is_none());
    assert_eq!(fake.asked(), [""; 0]);
}
