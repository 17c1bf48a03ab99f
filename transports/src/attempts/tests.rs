//! Tests of retries and their messages, with a paused clock.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use devgate_schemas::{Event, EventDisplay, EventSink, Level};

use super::*;
use crate::pauses::poll;

#[derive(Debug, Default)]
struct RecordedEvents(Mutex<Vec<Event>>);

impl EventSink for RecordedEvents {
    fn emit(&self, event: Event) {
        self.0.lock().expect("no poison").push(event);
    }
}

fn refused() -> Error {
    Error::Unreachable {
        peer: "192.0.2.1:22".into(),
        cause: io::ErrorKind::ConnectionRefused.into(),
    }
}

async fn retry<F: Future<Output = Result<u32>>>(
    retry_budget: &RetryBudget,
    events: &RecordedEvents,
    mut attempt: impl FnMut(u32) -> F,
) -> Result<u32> {
    let ctx = Context::new("sw1", events, retry_budget);
    let mut attempts = retry_budget.attempts(&ctx, "connect to 192.0.2.1:22");
    let mut tries = 0;
    loop {
        tries += 1;
        match attempts.attempt(attempt(tries)).await {
            Ok(value) => return Ok(value),
            Err(error) => attempts.pause(error).await?,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_port_that_stays_closed_is_abandoned_within_the_limit() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    let started = Instant::now();
    let mut tried = 0;
    let result = retry(&retry_budget, &events, |tries| {
        tried = tries;
        async { Err(refused()) }
    })
    .await;
    let elapsed = started.elapsed();
    assert!(
        elapsed <= RetryBudget::LIMIT && elapsed > RetryBudget::LIMIT / 2,
        "{elapsed:?}"
    );
    assert!(tried > 5, "{tried} tries");
    assert!(retry_budget.is_spent());
    let error = result.expect_err("spent").to_string();
    assert!(
        error.contains("connection refused") && error.contains("tries in "),
        "{error}"
    );
    let events = events.0.lock().expect("no poison");
    assert_eq!(events.len() as u32, tried - 1);
    assert!(events.iter().all(|event| event.level == Level::Notice));
    assert!(
        events
            .iter()
            .all(|event| event.display == EventDisplay::Again)
    );
    assert!(
        events[0].message.contains("try 2 follows in"),
        "{}",
        events[0].message
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_with_its_own_budget_is_abandoned_with_its_run() {
    let (run, events) = (RetryBudget::new(), RecordedEvents::default());
    let own = run.renewed();
    run.give_up();
    let tried = AtomicU32::new(0);
    let result = retry(&own, &events, |tries| {
        tried.store(tries, Ordering::Relaxed);
        async { Err(refused()) }
    });
    assert!(result.await.is_err());
    assert_eq!(tried.into_inner(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_target_is_not_tried_again_and_the_last_error_is_reported() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    let started = Instant::now();
    let tries = retry(&retry_budget, &events, |_| async { Err(refused()) });
    let giving_up = async {
        wait(Duration::from_millis(100)).await;
        assert!(!retry_budget.was_answered());
        retry_budget.give_up();
    };
    let (result, ()) = tokio::join!(tries, giving_up);
    assert_eq!(started.elapsed(), Duration::from_millis(100));
    let error = result.expect_err("given up").to_string();
    assert!(error.contains("connection refused"), "{error}");
    let tried = AtomicU32::new(0);
    let again = retry(&retry_budget, &events, |tries| {
        tried.store(tries, Ordering::Relaxed);
        async { Err(refused()) }
    });
    assert!(again.await.is_err());
    assert_eq!(tried.into_inner(), 1);
    let other = RetryBudget::new();
    assert!(retry(&other, &events, |_| async { Ok(1) }).await.is_ok());
    assert!(other.was_answered());
}

#[tokio::test(start_paused = true)]
async fn attempts_that_hang_count_towards_the_limit() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    let started = Instant::now();
    let result = retry(&retry_budget, &events, |tries| async move {
        wait(Duration::from_secs(if tries < 3 { 10 } else { 3600 })).await;
        Err(refused())
    })
    .await;
    assert!(matches!(result, Err(Error::RetryBudgetSpent(_))));
    assert!(
        started.elapsed() <= RetryBudget::LIMIT + Duration::from_millis(100),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_permanent_error_is_returned_after_one_attempt() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    let started = Instant::now();
    let mut tried = 0;
    let result = retry(&retry_budget, &events, |tries| {
        tried = tries;
        async { Err(Error::Unsupported("no".into())) }
    })
    .await;
    assert!(matches!(result, Err(Error::Unsupported(_))));
    assert_eq!((tried, started.elapsed()), (1, Duration::ZERO));
    assert!(events.0.lock().expect("no poison").is_empty());
    assert!(!retry_budget.is_spent());
}

#[tokio::test(start_paused = true)]
async fn a_target_that_restarts_for_ten_seconds_is_waited_for() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    let started = Instant::now();
    let up = started + Duration::from_secs(10);
    let result = retry(&retry_budget, &events, |tries| async move {
        if Instant::now() < up {
            Err(refused())
        } else {
            Ok(tries)
        }
    })
    .await;
    assert!(result.expect("it came back") > 2);
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn after_the_budget_is_spent_the_run_makes_no_request() {
    let (retry_budget, events) = (
        RetryBudget::at_most(Duration::from_secs(3)),
        RecordedEvents::default(),
    );
    retry(&retry_budget, &events, |_| async { Err(refused()) })
        .await
        .expect_err("spent");
    let asked = AtomicBool::new(false);
    let result = retry(&retry_budget, &events, |_| async {
        asked.store(true, Ordering::Relaxed);
        Ok(1)
    })
    .await;
    let error = result.expect_err("spent").to_string();
    assert!(
        error.contains("has waited 3 s for the target already"),
        "{error}"
    );
    assert!(!asked.into_inner());
}

#[tokio::test(start_paused = true)]
async fn work_of_a_target_is_polled_until_it_ends_or_its_limit_passes() {
    let started = Instant::now();
    let limit = Duration::from_secs(60);
    let mut looks = 0;
    let result = poll(limit, || {
        looks += 1;
        let result = (looks == 10).then_some("done");
        async move { Ok(result) }
    });
    assert_eq!(result.await.expect("it goes well"), Some("done"));
    let lasted = started.elapsed();
    assert!(
        lasted > Duration::from_secs(5) && lasted < limit,
        "{lasted:?}"
    );
    let started = Instant::now();
    let result = poll(limit, async || Ok(None::<()>)).await;
    assert_eq!(result.expect("it goes well"), None);
    assert_eq!(started.elapsed(), limit);
    let hanging = poll(limit, async || {
        wait(Duration::from_secs(3600)).await;
        Ok(Some(()))
    });
    assert_eq!(hanging.await.expect("it goes well"), None);
}

#[tokio::test(start_paused = true)]
async fn success_costs_no_retry_budget() {
    let (retry_budget, events) = (RetryBudget::new(), RecordedEvents::default());
    for _ in 0..10 {
        let slow = |tries| async move {
            wait(Duration::from_secs(9)).await;
            Ok(tries)
        };
        assert_eq!(
            retry(&retry_budget, &events, slow)
                .await
                .expect("it goes well"),
            1
        );
    }
    assert!(!retry_budget.is_spent());
}
