//! Tests of text within an answer that is not output: pagers and unsolicited messages.

use std::time::Duration;

use super::super::dialect::Dialect;
use super::super::fake::{FakeEcho, FakeStep, TestBench, write};
use super::{interruption, r1};
use crate::error::Interruption;

#[tokio::test(start_paused = true)]
async fn pagers_are_answered_and_leave_no_trace() {
    let erased_output = "\x08\x08\x08\x08\x08\x08\x08\x08        \x08\x08\x08\x08\x08\x08\x08\x08";
    for after in [erased_output, "\r        \r", "\r\x1b[K", "\r\n", ""] {
        let steps = [
            write("one\r\n--More--"),
            FakeStep::Key,
            write(after),
            write("two\r\n--More--"),
            FakeStep::Key,
            write(after),
            write("3\r\n"),
        ];
        let bench = TestBench::default();
        let output = bench.output(r1().on("show run", &steps), "show run").await;
        assert_eq!(output, "one\ntwo\n3\n", "wiped with {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_like_a_pager_is_output_where_its_key_stands_at_the_prompt() {
    for echo in [FakeEcho::Editor, FakeEcho::Redrawn, FakeEcho::Blind] {
        let bench = TestBench::default();
        let steps = [
            write("one\r\n--More--"),
            FakeStep::Pause(100),
            write("\r\ntwo\r\n"),
        ];
        let output = bench
            .output(r1().echo(echo).on("show run", &steps), "show run")
            .await;
        assert_eq!(output, "one\n--More--\ntwo\n", "{echo:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pager_that_took_a_question_for_a_key_is_no_output() {
    let steps = [
        write("r1#"),
        FakeStep::Pause(900),
        write("\r\n--More--"),
        FakeStep::Key,
        write("\r\nthe rest\r\n"),
    ];
    let bench = TestBench::default();
    let mut cli = bench.session(r1().on("show run", &steps)).await;
    let error = cli.run(&bench.ctx(), &"show run".into()).await;
    let error = error.expect_err("a line may be missing").to_string();
    assert!(error.contains("it asked for a key"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_pager_that_took_one_and_was_erased_is_reported_too() {
    for erased_output in ["\r        \r", "\x1b[2K\r", "\r\x1b[K"] {
        let steps = [
            write("r1#"),
            FakeStep::Pause(900),
            write("\r\n--More--"),
            FakeStep::Key,
            write(erased_output),
        ];
        let bench = TestBench::default();
        let mut cli = bench.session(r1().on("show run", &steps)).await;
        let error = cli.run(&bench.ctx(), &"show run".into()).await;
        let error = error.expect_err("lines may be missing").to_string();
        assert!(error.contains("it asked for a key"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pager_is_answered_where_nothing_is_shown_of_what_is_typed() {
    let steps = [
        write("one\r\n--More--"),
        FakeStep::Key,
        write("\r        \rtwo\r\n"),
    ];
    let bench = TestBench::default();
    let fake = r1().echo(FakeEcho::Never).on("show run", &steps);
    let cli = bench.open(fake.start(), Dialect::generic(), None).await;
    let mut cli = cli.expect("a session");
    let output = cli.run(&bench.ctx(), &"show run".into()).await;
    assert_eq!(output.expect("an output"), "one\ntwo\n");
}

#[tokio::test(start_paused = true)]
async fn messages_around_the_prompt_are_not_output() {
    let message = "*Nov 21 10:00:00.123: %SYS-5-CONFIG_I: Configured from console\r\n";
    let bench = TestBench::default();
    let steps = [write("out\r\nr1#\r\n"), write(message)];
    let fake = r1()
        .on("show one", &steps)
        .on("show two", &[write("two\r\n")])
        .greeting(&[write("r1#\r\n"), write(message)]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    assert_eq!(
        cli.run(&ctx, &"show one".into()).await.expect("an output"),
        "out\n"
    );
    assert_eq!(
        cli.run(&ctx, &"show two".into()).await.expect("an output"),
        "two\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_in_place_of_the_prompt_does_not_hang_the_session() {
    let message = "\r\n*Nov 21 10:00:00.123: %LINK-3-UPDOWN: swp1 is down\r\n";
    let bench = TestBench::default();
    // The device does not show its prompt again.
    let steps = [write("out\r\nr1#"), write(message), FakeStep::Prompt("")];
    let fake = r1().on("show one", &steps).on("", &[]);
    let mut cli = bench.session(fake).await;
    let (why, partial, _) = interruption(cli.run(&bench.ctx(), &"show one".into()).await);
    assert_eq!(why, Interruption::Silent(Duration::from_secs(30)));
    assert!(partial.starts_with("out\n"), "{partial}");
}
