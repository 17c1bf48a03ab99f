//! Tests of devices that echo in other ways than most, or not at all.

use super::super::dialect::Dialect;
use super::super::fake::{FakeEcho, TestBench, write};
use super::{interruption, r1};
use crate::error::Interruption;

#[tokio::test(start_paused = true)]
async fn devices_without_echo_are_noticed() {
    let bench = TestBench::default();
    let fake = r1()
        .echo(FakeEcho::Never)
        .on("show x", &[write("x\r\n")])
        .on("show y", &[write("y\r\n")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
    assert_eq!(
        cli.run(&ctx, &"show y".into()).await.expect("an output"),
        "y\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_device_that_stops_echoing_is_abandoned() {
    let bench = TestBench::default();
    // It stops at the sixth prompt: two probes for each have brought the others.
    let fake = r1()
        .echo(FakeEcho::Blind)
        .echoes(6)
        .on("show x", &[write("x\r\n")]);
    let mut cli = bench.session(fake).await;
    let (why, partial, text) = interruption(cli.run(&bench.ctx(), &"show x".into()).await);
    assert!(matches!(why, Interruption::Silent(_)), "{text}");
    assert!(partial.contains("x\n"), "{partial}");
    assert!(!cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn wrapped_echoes_are_not_output() {
    let bench = TestBench::default();
    let fake = r1().echo(FakeEcho::Wrapped(40)).on(
        "show running-config interface ethernet 1/1 all",
        &[write("interface ethernet 1/1\r\n")],
    );
    let output = bench
        .output(fake, "show running-config interface ethernet 1/1 all")
        .await;
    assert_eq!(output, "interface ethernet 1/1\n");
}

#[tokio::test(start_paused = true)]
async fn an_empty_line_at_the_edge_of_the_screen_is_no_output() {
    let bench = TestBench::default();
    let command =
        "show interface description of the uplink to the core of the building number seven";
    let command = &command[..80 - "r1#".len()];
    let steps = [write("\r\nout\r\n")];
    for (echo, answer) in [
        (FakeEcho::Editor, "\nout\n"),
        (FakeEcho::Wrapped(80), "\nout\n"),
    ] {
        let fake = r1().echo(echo).on(command, &steps);
        assert_eq!(bench.output(fake, command).await, answer, "{echo:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_command_whose_output_is_not_ended_is_read_from_a_device_that_shows_nothing() {
    let bench = TestBench::default();
    let fake = r1().echo(FakeEcho::Never).on("show x", &[write("out")]);
    let cli = bench.open(fake.start(), Dialect::generic(), None).await;
    let mut cli = cli.expect("a session");
    let output = cli.run(&bench.ctx(), &"show x".into()).await;
    assert_eq!(output.expect("an output"), "out");
}
