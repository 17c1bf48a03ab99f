//! Tests of typing ahead: several commands have the same answers as one by one, in fewer round trips.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, test_dialect, write};
use super::interruption;
use crate::{Error, Line, Result};

const COMMANDS: [&str; 4] = ["show a", "show b", "show c", "show d"];

fn router(echo: FakeEcho) -> Fake {
    Fake::new("r1#")
        .echo(echo)
        .on("show a", &[write("a1\r\na2\r\n")])
        .on("show b", &[FakeStep::Pause(50), FakeStep::Lines(500)])
        .on("show c", &[])
        .on(
            "show d",
            &[write("d\r\n"), FakeStep::Pause(5), write("e\r\n")],
        )
        .on("show x", &[write("x\r\n")])
}

/// Returns a stream, and the number of times that something was sent on it.
fn counted(mut device: DuplexStream) -> (DuplexStream, Arc<AtomicUsize>) {
    let (near, mut far) = duplex(64 * 1024);
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    tokio::spawn(async move {
        let (mut typed, mut shown) = ([0; 4096], [0; 4096]);
        loop {
            let (from, to) = tokio::select! {
                length = far.read(&mut typed) => (&typed[..length.unwrap_or(0)], &mut device),
                length = device.read(&mut shown) => (&shown[..length.unwrap_or(0)], &mut far),
            };
            if from.is_empty() {
                return;
            }
            let is_typed = std::ptr::eq(from.as_ptr(), typed.as_ptr());
            count.fetch_add(usize::from(is_typed), Ordering::Relaxed);
            to.write_all(from).await.expect("it is open");
        }
    });
    (near, sent)
}

/// Returns the answers to commands, the answers to the same one by one, and how often something was sent for each of both.
async fn both(fake: [Fake; 2], commands: &[&str]) -> ([Vec<Result<String>>; 2], [usize; 2]) {
    let bench = TestBench::default();
    let lines: Vec<Line> = commands.iter().copied().map(Line::from).collect();
    let [ahead, single] = fake;
    let (stream, sent_ahead) = counted(ahead.start());
    let mut cli = bench
        .open(stream, test_dialect(), None)
        .await
        .expect("a session");
    let before = sent_ahead.load(Ordering::Relaxed);
    let all = cli.run_all(&bench.ctx(), &lines).await;
    let sent_ahead = sent_ahead.load(Ordering::Relaxed) - before;
    if cli.is_usable() {
        let after = cli.run(&bench.ctx(), &"show x".into()).await;
        assert_eq!(after.expect("an output"), "x\n");
    }
    let (stream, sent) = counted(single.start());
    let mut cli = bench
        .open(stream, test_dialect(), None)
        .await
        .expect("a session");
    let before = sent.load(Ordering::Relaxed);
    let mut one_by_one = Vec::new();
    for line in &lines {
        one_by_one.push(cli.run(&bench.ctx(), line).await);
    }
    let sent = sent.load(Ordering::Relaxed) - before;
    ([all, one_by_one], [sent_ahead, sent])
}

#[tokio::test(start_paused = true)]
async fn answers_are_those_of_single_commands() {
    for (echo, is_quicker) in [
        (FakeEcho::Editor, true),
        (FakeEcho::Redrawn, true),
        (FakeEcho::Terminal, true),
        (FakeEcho::Blind, false),
        (FakeEcho::Never, false),
    ] {
        let devices = [router(echo), router(echo)];
        let ([all, single], [sent_ahead, sent]) = both(devices, &COMMANDS).await;
        let text = |answers: Vec<Result<String>>| -> Vec<String> {
            let answers = answers.into_iter();
            answers.map(|answer| answer.expect("an output")).collect()
        };
        assert_eq!(text(all), text(single), "{echo:?}");
        // A command and its probe are sent together but for the first command and the last probe.
        let expected = if is_quicker { COMMANDS.len() + 1 } else { sent };
        assert_eq!(sent_ahead, expected, "{echo:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_command_does_not_disturb_those_around_it() {
    let commands = ["show a", "show nothing", "show d"];
    let devices = [router(FakeEcho::Editor), router(FakeEcho::Editor)];
    let ([all, _], [sent, _]) = both(devices, &commands).await;
    let [Ok(a), Err(Error::CommandFailed { command, .. }), Ok(d)] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!(
        (a.as_str(), command.as_str(), d.as_str()),
        ("a1\na2\n", "show nothing", "d\ne\n")
    );
    assert_eq!(sent, commands.len() + 1);
}

/// A device may show its prompt in the middle of an output.
#[tokio::test(start_paused = true)]
async fn a_command_that_was_typed_amid_an_output_is_never_answered_by_it() {
    for echo in [FakeEcho::Editor, FakeEcho::Redrawn, FakeEcho::Terminal] {
        let fake = || {
            let steps = [
                write("one\r\nr1#"),
                FakeStep::Pause(3000),
                write("\r\nr1#\r\ntwo\r\n"),
            ];
            router(echo).on("show a", &steps)
        };
        let ([mut all, single], _) = both([fake(), fake()], &COMMANDS).await;
        assert!(single[0].as_ref().expect("an output").contains("two"));
        let first = all.remove(0);
        let (.., text) = interruption(first);
        assert!(
            text.contains("its prompt was not where the next command was typed"),
            "{echo:?}: {text}"
        );
        assert!(all.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_device_asks_about_is_not_typed_ahead() {
    let fake = || {
        router(FakeEcho::Editor).on(
            "reload",
            &[
                write("Proceed with reload? [confirm]"),
                FakeStep::Key,
                write("\r\n"),
            ],
        )
    };
    let ([all, single], [sent_ahead, sent]) =
        both([fake(), fake()], &["show a", "reload", "show d"]).await;
    assert!(
        all.iter().chain(&single).all(Result::is_ok),
        "{all:?} {single:?}"
    );
    assert_eq!(sent_ahead + 1, sent);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_ends_the_list() {
    let fake = || router(FakeEcho::Editor).on("show b", &[write("b\r\n"), FakeStep::Close]);
    let ([mut all, _], _) = both([fake(), fake()], &COMMANDS).await;
    assert_eq!(all.len(), 2);
    let (_, partial, text) = interruption(all.remove(1));
    assert!(
        partial.contains('b') && text.contains("closed the connection"),
        "{text}"
    );
    assert_eq!(all.remove(0).expect("an output"), "a1\na2\n");
}
