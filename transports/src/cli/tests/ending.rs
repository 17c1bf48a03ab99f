//! Where an answer ends, and what belongs to it.

use std::time::Duration;

use tokio::io::{AsyncWriteExt, duplex};
use tokio::time::{Instant, timeout};

use super::super::Line;
use super::super::dialect::Dialect;
use super::super::fake::{Bench, Do, Echoing, Fake, say, usual};
use crate::error::Interruption;
use crate::{Error, Result};

fn r1() -> Fake {
    Fake::new("r1#")
}

fn interruption<T: std::fmt::Debug>(result: Result<T>) -> (Interruption, String, String) {
    match result.expect_err("interrupted") {
        Error::Interrupted(it) => {
            let text = it.to_string();
            (it.why, it.partial, text)
        }
        other => panic!("another error: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_like_the_prompt_does_not_end_an_answer_however_long_the_pause_behind_it() {
    for pause in [1, 20, 300, 2_000, 20_000] {
        for line_end in ["", "\r\n"] {
            let pausing = [
                say("one\r\nr1#"),
                say(line_end),
                Do::Pause(pause),
                say(if line_end.is_empty() {
                    "\r\ntwo\r\n"
                } else {
                    "two\r\n"
                }),
            ];
            let bench = Bench::default();
            let mut cli = bench
                .session(r1().on("show log", &pausing).on("show x", &[say("x\r\n")]))
                .await;
            let ctx = bench.ctx();
            let output = cli.run(&ctx, &"show log".into()).await.expect("an output");
            assert_eq!(output, "one\nr1#\ntwo\n", "after {pause} ms");
            let next = cli.run(&ctx, &"show x".into()).await.expect("an output");
            assert_eq!(next, "x\n", "after {pause} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn several_such_lines_do_not_either() {
    let steps = [
        say("r1#"),
        Do::Pause(700),
        say("\r\none\r\nr1#"),
        Do::Pause(700),
        say(" show version\r\ntwo\r\n"),
    ];
    let bench = Bench::default();
    let output = bench.output(r1().on("show log", &steps), "show log").await;
    assert_eq!(output, "r1#\none\nr1# show version\ntwo\n");
}

#[tokio::test(start_paused = true)]
async fn slow_output_has_all_the_time_it_needs() {
    let mut steps = Vec::new();
    for number in 0..35 {
        steps.push(say(&format!("line {number}\r\n")));
        steps.push(Do::Pause(1_000));
    }
    let bench = Bench::default();
    let output = bench
        .output(r1().on("show tech", &steps), "show tech")
        .await;
    assert_eq!(output.lines().count(), 35);
    assert!(bench.notices().is_empty());
}

#[tokio::test(start_paused = true)]
async fn output_that_never_ends_is_given_up_after_the_command_timeout() {
    let steps: Vec<Do> = (0..1_000)
        .flat_map(|_| [say("tick\r\n"), Do::Pause(1_000)])
        .collect();
    let bench = Bench::default();
    let mut cli = bench.session(r1().on("monitor", &steps)).await;
    let started = Instant::now();
    let (why, partial, _) = interruption(cli.run(&bench.ctx(), &"monitor".into()).await);
    assert_eq!(why, Interruption::TooLong(Duration::from_secs(600)));
    assert_eq!(started.elapsed().as_secs(), 600);
    assert!(partial.lines().count() >= 599);
}

#[tokio::test(start_paused = true)]
async fn silence_is_told_every_five_seconds_and_ends_after_the_idle_timeout() {
    let bench = Bench::default();
    let mut cli = bench
        .session(r1().on("hang", &[say("part\r\n"), Do::Hang]))
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
async fn a_closed_connection_is_told_at_once_with_what_had_arrived() {
    let bench = Bench::default();
    let mut cli = bench
        .session(r1().on("show x", &[say("one\r\ntw"), Do::Close]))
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
    let bench = Bench::default();
    let fake = r1()
        .on("hang", &[Do::Pause(40_000), say("late\r\n")])
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
    let bench = Bench::default();
    let mut cli = bench
        .session(r1().on("slow", &[Do::Pause(9_000), say("late\r\n")]))
        .await;
    let ctx = bench.ctx();
    let slow = Line::new("slow");
    let abandoned = timeout(Duration::from_secs(1), cli.run(&ctx, &slow)).await;
    assert!(abandoned.is_err());
    assert!(!cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn pagers_are_answered_and_leave_no_trace() {
    let wiped = "\x08\x08\x08\x08\x08\x08\x08\x08        \x08\x08\x08\x08\x08\x08\x08\x08";
    for after in [wiped, "\r        \r", "\r\x1b[K", "\r\n", ""] {
        let steps = [
            say("one\r\n--More--"),
            Do::Key,
            say(after),
            say("two\r\n--More--"),
            Do::Key,
            say(after),
            say("3\r\n"),
        ];
        let bench = Bench::default();
        let output = bench.output(r1().on("show run", &steps), "show run").await;
        assert_eq!(output, "one\ntwo\n3\n", "wiped with {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn messages_around_the_prompt_are_not_output() {
    let message = "*Nov 21 10:00:00.123: %SYS-5-CONFIG_I: Configured from console\r\n";
    let bench = Bench::default();
    let steps = [say("out\r\nr1#\r\n"), say(message)];
    let fake = r1()
        .on("show one", &steps)
        .on("show two", &[say("two\r\n")])
        .greeting(&[say("r1#\r\n"), say(message)]);
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
    let bench = Bench::default();
    // The device does not show its prompt again.
    let steps = [say("out\r\nr1#"), say(message), Do::Prompt("")];
    let fake = r1().on("show one", &steps).on("", &[]);
    let mut cli = bench.session(fake).await;
    let (why, partial, _) = interruption(cli.run(&bench.ctx(), &"show one".into()).await);
    assert_eq!(why, Interruption::Silent(Duration::from_secs(30)));
    assert!(partial.starts_with("out\n"), "{partial}");
}

#[tokio::test(start_paused = true)]
async fn devices_without_echo_are_noticed() {
    let bench = Bench::default();
    let fake = r1()
        .echo(Echoing::Never)
        .on("show x", &[say("x\r\n")])
        .on("show y", &[say("y\r\n")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    let started = Instant::now();
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
    assert_eq!(
        cli.run(&ctx, &"show y".into()).await.expect("an output"),
        "y\n"
    );
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_device_that_stops_echoing_is_out_of_step() {
    let bench = Bench::default();
    let fake = r1()
        .on("terminal length 0", &[Do::Echo(Echoing::Never)])
        .on("show x", &[say("x\r\n")]);
    let mut cli = bench.session(fake).await;
    let (why, partial, text) = interruption(cli.run(&bench.ctx(), &"show x".into()).await);
    assert!(matches!(why, Interruption::OutOfStep(_)), "{text}");
    assert!(partial.contains("x\n"), "{partial}");
    assert!(!cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn late_answers_to_empty_lines_are_no_answer_to_a_command() {
    // On a slow line more empty lines are sent than are needed: one answer comes with the next command.
    let script = [
        (0, "r1#"),
        (450, "\r\nr1#"),
        (10, "\r\nr1#terminal length 0\r\nr1#"),
        (450, "\r\nr1#"),
        (10, "\r\nr1#"),
        (2_000, "show x\r\nx\r\nr1#"),
        (10, "\r\nr1#"),
    ];
    let (near, mut far) = duplex(1024);
    tokio::spawn(async move {
        for (pause, text) in script {
            let _ = timeout(Duration::from_millis(pause), std::future::pending::<()>()).await;
            far.write_all(text.as_bytes())
                .await
                .expect("somebody reads");
        }
        std::future::pending::<()>().await;
    });
    let bench = Bench::default();
    let mut cli = bench.open(near, usual(), None).await.expect("a session");
    let output = cli.run(&bench.ctx(), &"show x".into()).await;
    assert_eq!(output.expect("an output"), "x\n");
}

#[tokio::test(start_paused = true)]
async fn wrapped_echoes_are_not_output() {
    let bench = Bench::default();
    let fake = r1().echo(Echoing::Wrapped(20)).on(
        "show running-config interface ethernet 1/1 all",
        &[say("interface ethernet 1/1\r\n")],
    );
    let output = bench
        .output(fake, "show running-config interface ethernet 1/1 all")
        .await;
    assert_eq!(output, "interface ethernet 1/1\n");
}

#[tokio::test(start_paused = true)]
async fn a_changed_hostname_is_learnt() {
    let bench = Bench::default();
    let fake = r1()
        .on("rename", &[Do::Prompt("r2#")])
        .on("show x", &[say("x\r\n")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    assert_eq!(
        cli.run(&ctx, &"rename".into()).await.expect("an output"),
        ""
    );
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
}

#[tokio::test(start_paused = true)]
async fn output_without_a_last_line_end_is_kept() {
    let bench = Bench::default();
    let fake = r1().on("show x", &[say("one\r\ntwo"), Do::Prompt("\r\nr1#")]);
    assert_eq!(bench.output(fake, "show x").await, "one\ntwo\n");
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_in_the_device_s_words() {
    let bench = Bench::default();
    let fake = r1().on(
        "show log",
        &[Do::Lines(50), say("% Invalid quoted\r\n"), Do::Lines(50)],
    );
    let mut cli = bench.session(fake).await;
    let error = cli
        .run(&bench.ctx(), &"nonsense".into())
        .await
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "192.0.2.1:22 refuses `nonsense`: % Invalid input detected"
    );
    // Far inside an answer such a text is only quoted.
    assert!(cli.run(&bench.ctx(), &"show log".into()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn control_characters_are_refused_before_anything_is_sent() {
    let bench = Bench::default();
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
async fn ten_megabytes_arrive_whole() {
    let bench = Bench::default();
    let output = bench
        .output(r1().on("show tech", &[Do::Lines(400_000)]), "show tech")
        .await;
    assert_eq!(output.lines().count(), 400_000);
    assert!(output.len() > 10_000_000);
}

#[tokio::test(start_paused = true)]
async fn too_much_output_is_an_error_that_says_so() {
    let bench = Bench::default();
    let much = say(&"x".repeat(1024 * 1024));
    let mut cli = bench.session(r1().on("flood", &vec![much; 65])).await;
    let (why, ..) = interruption(cli.run(&bench.ctx(), &"flood".into()).await);
    assert_eq!(why, Interruption::TooMuch(64 * 1024 * 1024));
}

#[tokio::test(start_paused = true)]
async fn a_session_is_verified_by_an_empty_line() {
    let bench = Bench::default();
    let mut cli = bench.session(r1().on("die", &[Do::Hang])).await;
    let ctx = bench.ctx();
    for _ in 0..3 {
        cli.verify(&ctx).await.expect("alive");
    }
    interruption(cli.run(&ctx, &"die".into()).await);
    assert_eq!(interruption(cli.verify(&ctx).await).0, Interruption::Broken);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_device_is_talked_to_by_its_prompt_alone() {
    let bench = Bench::default();
    for prompt in ["admin@sw1> ", "[edit]$ ", "sw1%", "<sw1>", "MikroTik /ip> "] {
        let fake = Fake::new(prompt).on("show x", &[say("a > b\r\nc #\r\n")]);
        let mut cli = bench
            .open(fake.start(), Dialect::generic(), None)
            .await
            .expect("a session");
        let output = cli
            .run(&bench.ctx(), &"show x".into())
            .await
            .expect("an output");
        assert_eq!(output, "a > b\nc #\n", "{prompt}");
    }
}
