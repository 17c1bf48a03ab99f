//! Tests of the limits of time and size, and of the session after they are exceeded.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::fake::{Fake, FakeStep, TestBench, test_dialect, write};
use super::{interruption, r1};
use crate::Error;
use crate::Line;
use crate::error::{Interruption, PartialOutput};
use crate::held::{HeldBytes, MAX_HELD};

#[tokio::test(start_paused = true)]
async fn endless_output_is_abandoned_after_the_command_timeout() {
    let steps: Vec<FakeStep> = (0..1_000)
        .flat_map(|_| [write("tick\r\n"), FakeStep::Pause(1_000)])
        .collect();
    let bench = TestBench::default();
    let mut cli = bench.session(r1().on("monitor", &steps)).await;
    let started = Instant::now();
    let (why, partial, _) = interruption(cli.run(&bench.ctx(), &"monitor".into()).await);
    assert_eq!(why, Interruption::TooLong(Duration::from_secs(600)));
    assert_eq!(started.elapsed().as_secs(), 600);
    assert!(partial.lines().count() >= 599);
}

#[tokio::test(start_paused = true)]
async fn silence_is_reported_every_five_seconds_and_ends_after_the_idle_timeout() {
    let bench = TestBench::default();
    let mut cli = bench
        .session(r1().on("hang", &[write("part\r\n"), FakeStep::Hang]))
        .await;
    let started = Instant::now();
    let (why, partial, text) = interruption(cli.run(&bench.ctx(), &"hang".into()).await);
    assert_eq!(why, Interruption::Silent(Duration::from_secs(30)));
    assert_eq!(started.elapsed().as_secs(), 30);
    assert_eq!(partial, "part\n");
    assert!(
        text.contains("`hang`") && text.contains("partial output"),
        "{text}"
    );
    let notices = bench.notices();
    assert_eq!(notices.len(), 5, "{notices:?}");
    assert!(
        notices[0].contains("for 5 s during `hang`"),
        "{}",
        notices[0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_closed_connection_is_reported_at_once_with_the_partial_output() {
    let bench = TestBench::default();
    let mut cli = bench
        .session(r1().on("show x", &[write("one\r\ntw"), FakeStep::Close]))
        .await;
    let started = Instant::now();
    let (why, partial, text) = interruption(cli.run(&bench.ctx(), &"show x".into()).await);
    assert_eq!((why, partial.as_str()), (Interruption::Lost, "one\ntw"));
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert!(
        text.contains("192.0.2.1:22 closed the connection during `show x`"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn after_a_doubt_the_session_sends_nothing_more() {
    let bench = TestBench::default();
    let fake = r1()
        .on("hang", &[FakeStep::Pause(40_000), write("late\r\n")])
        .on("show x", &[]);
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    interruption(cli.run(&bench.ctx(), &"hang".into()).await);
    assert!(!cli.is_usable());
    let (why, ..) = interruption(cli.run(&bench.ctx(), &"show x".into()).await);
    assert_eq!(why, Interruption::Broken);
    assert_eq!(
        *received.lock().expect("no poison"),
        ["terminal length 0", "hang"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_abandoned_leaves_no_session_behind() {
    let bench = TestBench::default();
    let mut cli = bench
        .session(r1().on("slow", &[FakeStep::Pause(9_000), write("late\r\n")]))
        .await;
    let ctx = bench.ctx();
    let slow = Line::new("slow");
    let abandoned = timeout(Duration::from_secs(1), cli.run(&ctx, &slow)).await;
    assert!(abandoned.is_err());
    assert!(!cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn control_characters_are_refused_before_anything_is_sent() {
    let bench = TestBench::default();
    let fake = r1();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let error = cli
        .run(&bench.ctx(), &"show x\nreload".into())
        .await
        .expect_err("refused");
    assert!(matches!(error, Error::ControlCharacter { .. }));
    assert!(cli.is_usable());
    assert_eq!(received.lock().expect("no poison").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn ten_megabytes_arrive_completely() {
    let bench = TestBench::default();
    let output = bench
        .output(
            r1().on("show tech", &[FakeStep::Lines(400_000)]),
            "show tech",
        )
        .await;
    assert_eq!(output.lines().count(), 400_000);
    assert!(output.len() > 10_000_000);
}

#[tokio::test(start_paused = true)]
async fn too_much_output_is_an_error_of_its_own() {
    let bench = TestBench::default();
    let much = write(&"x".repeat(1024 * 1024));
    let mut cli = bench.session(r1().on("flood", &vec![much; 65])).await;
    let (why, partial, text) = interruption(cli.run(&bench.ctx(), &"flood".into()).await);
    assert_eq!(why, Interruption::TooMuch(64 * 1024 * 1024));
    assert!(
        partial.len() <= PartialOutput::OF_REQUEST,
        "{}",
        partial.len()
    );
    assert!(partial.ends_with(" bytes left out]\n"));
    assert!(text.contains("ask for less at once"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_stops_sending_leaves_little_in_the_error_for_its_session() {
    let bench = TestBench::default();
    let steps = [FakeStep::Lines(3_000_000), FakeStep::Hang];
    let stream = Fake::new("r1#").greeting(&steps).start();
    let opening = bench.open(stream, test_dialect(), None).await;
    let (why, partial, text) = interruption(opening.map(drop));
    assert_eq!(why, Interruption::TooMuch(64 * 1024 * 1024));
    assert!(partial.len() < PartialOutput::OF_OPENING + 100);
    assert!(text.contains("check `host` and `port`"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_answers_of_all_command_lines_share_one_limit() {
    let bench = TestBench::default();
    let much = write(&"x".repeat(1024 * 1024));
    let fake = || r1().on("flood", std::slice::from_ref(&much));
    let mut cli = bench.session(fake()).await;
    let mut held = HeldBytes::default();
    assert_eq!(held.reserve(MAX_HELD - 1024 * 1024), Ok(()));
    let (why, _, text) = interruption(cli.run(&bench.ctx(), &"flood".into()).await);
    assert_eq!(why, Interruption::TooMuchAtOnce(MAX_HELD));
    assert!(text.contains("--concurrency"), "{text}");
    drop(held);
    let mut cli = bench.session(fake()).await;
    for _ in 0..2 {
        assert!(cli.run(&bench.ctx(), &"flood".into()).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_verified_by_an_empty_line() {
    let bench = TestBench::default();
    let mut cli = bench.session(r1().on("die", &[FakeStep::Hang])).await;
    let ctx = bench.ctx();
    for _ in 0..3 {
        cli.verify(&ctx).await.expect("alive");
    }
    interruption(cli.run(&ctx, &"die".into()).await);
    assert_eq!(interruption(cli.verify(&ctx).await).0, Interruption::Broken);
}

#[tokio::test(start_paused = true)]
async fn slow_output_has_all_the_time_it_needs() {
    let mut steps = Vec::new();
    for number in 0..35 {
        steps.push(write(&format!("line {number}\r\n")));
        steps.push(FakeStep::Pause(1_000));
    }
    let bench = TestBench::default();
    let output = bench
        .output(r1().on("show tech", &steps), "show tech")
        .await;
    assert_eq!(output.lines().count(), 35);
    assert!(bench.notices().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_enters_configuration_mode_is_an_error_at_once() {
    let configure = [FakeStep::Prompt("r1(config)#")];
    let quoting = [
        write("r1(config)#"),
        FakeStep::Pause(2_000),
        write(" hostname r1\r\n"),
    ];
    let fake = r1().on("conf t", &configure).on("show history", &quoting);
    let bench = TestBench::default();
    let mut cli = bench.session(fake).await;
    let quoted = cli.run(&bench.ctx(), &"show history".into()).await;
    assert_eq!(quoted.expect("an output"), "r1(config)# hostname r1\n");
    let started = Instant::now();
    let error = cli
        .run(&bench.ctx(), &"conf t".into())
        .await
        .expect_err("it is no command");
    assert!(started.elapsed() < Duration::from_secs(3), "{error}");
    assert!(
        error
            .to_string()
            .contains("in configuration mode after `conf t`"),
        "{error}"
    );
    assert!(!error.is_transient() && !cli.is_usable());
}
