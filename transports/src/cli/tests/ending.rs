//! Tests of where an answer ends, and of what belongs to it.

use std::time::Duration;

use devgate_schemas::Sensitive;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::time::{Instant, timeout_at};

use super::super::dialect::Dialect;
use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, test_dialect, write};
use super::r1;
use crate::Line;

#[tokio::test(start_paused = true)]
async fn a_line_like_the_prompt_does_not_end_an_answer_however_long_the_pause_behind_it() {
    let pauses = [1, 20, 300, 2_000, 20_000];
    let echoes = [
        FakeEcho::Editor,
        FakeEcho::Blind,
        FakeEcho::Terminal,
        FakeEcho::Never,
    ];
    for (pause, echo) in pauses
        .into_iter()
        .flat_map(|pause| echoes.map(|echo| (pause, echo)))
    {
        for line_end in ["", "\r\n"] {
            let pausing = [
                write("one\r\nr1#"),
                write(line_end),
                FakeStep::Pause(pause),
                write(if line_end.is_empty() {
                    "\r\ntwo\r\n"
                } else {
                    "two\r\n"
                }),
            ];
            let bench = TestBench::default();
            let fake = r1()
                .echo(echo)
                .on("show log", &pausing)
                .on("show x", &[write("x\r\n")]);
            let mut cli = bench.session(fake).await;
            let ctx = bench.ctx();
            let output = cli.run(&ctx, &"show log".into()).await.expect("an output");
            assert_eq!(output, "one\nr1#\ntwo\n", "after {pause} ms, {echo:?}");
            let next = cli.run(&ctx, &"show x".into()).await.expect("an output");
            assert_eq!(next, "x\n", "after {pause} ms, {echo:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_last_line_of_the_prompt_and_blanks_is_output_whatever_their_number_and_however_it_comes()
{
    let echoes = [
        FakeEcho::Editor,
        FakeEcho::Blind,
        FakeEcho::Terminal,
        FakeEcho::Never,
    ];
    for (echo, blanks) in echoes
        .into_iter()
        .flat_map(|echo| (0..40).step_by(3).map(move |blanks| (echo, blanks)))
    {
        for cut in [0, 1, 3, 100] {
            let shown = " ".repeat(blanks);
            let (before, after) = shown.split_at(cut.min(blanks));
            for more in ["", "more\r\n"] {
                let steps = [
                    write("first\r\nr1#"),
                    write(before),
                    FakeStep::Pause(20),
                    write(after),
                    FakeStep::Pause(20),
                    write("\r\n"),
                    FakeStep::Pause(700),
                    write(more),
                ];
                let bench = TestBench::default();
                let fake = r1()
                    .echo(echo)
                    .on("show log", &steps)
                    .on("show x", &[write("x\r\n")]);
                let mut cli = bench.session(fake).await;
                let ctx = bench.ctx();
                let case = format!("{echo:?}, {blanks} blanks, {cut} at first, then {more:?}");
                let output = cli.run(&ctx, &"show log".into()).await;
                let expected = format!("first\nr1#{shown}\n{}", more.replace('\r', ""));
                assert_eq!(output.expect("an output"), expected, "{case}");
                let next = cli.run(&ctx, &"show x".into()).await;
                assert_eq!(next.expect("an output"), "x\n", "{case}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn several_such_lines_do_not_end_it_either() {
    let steps = [
        write("r1#"),
        FakeStep::Pause(700),
        write("\r\none\r\nr1#"),
        FakeStep::Pause(700),
        write(" show version\r\ntwo\r\n"),
    ];
    let bench = TestBench::default();
    let output = bench.output(r1().on("show log", &steps), "show log").await;
    assert_eq!(output, "r1#\none\nr1# show version\ntwo\n");
}

#[tokio::test(start_paused = true)]
async fn a_recorded_session_in_the_output_of_a_slow_device_is_only_output() {
    // One character at a time, as over a console server: each prompt is the last line once.
    let recorded = "r1#\r\nr1#\r\nr1#show version\r\nIOS\r\nr1#\r\n";
    for pause in [5, 500] {
        let steps: Vec<FakeStep> = recorded
            .chars()
            .flat_map(|character| [write(&character.to_string()), FakeStep::Pause(pause)])
            .collect();
        let bench = TestBench::default();
        let fake = r1()
            .on("show recording", &steps)
            .on("show x", &[write("x\r\n")]);
        let mut cli = bench.session(fake).await;
        let ctx = bench.ctx();
        let output = cli
            .run(&ctx, &"show recording".into())
            .await
            .expect("an output");
        assert_eq!(output, recorded.replace('\r', ""), "with {pause} ms");
        assert_eq!(
            cli.run(&ctx, &"show x".into()).await.expect("an output"),
            "x\n"
        );
    }
}

/// All output arrives with its command and none later, whatever its contents and its pauses.
#[tokio::test(start_paused = true)]
async fn any_output_with_any_pauses_arrives_completely() {
    const PARTS: [&str; 10] = [
        "r1#",
        "r1#        \r\n",
        "    ",
        "r1# ",
        "\r\n",
        "\r\n",
        "text",
        "r1# show x",
        "#",
        "\r\nr1#\r\n",
    ];
    const PAUSES: [u64; 6] = [0, 0, 1, 40, 700, 3_000];
    let mut state: u64 = 42;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for round in 0..600 {
        let echo = [FakeEcho::Editor, FakeEcho::Blind][round % 2];
        let mut steps = vec![write("begin\r\n")];
        let mut expected = "begin\n".to_owned();
        for _ in 0..random(12) {
            let part = PARTS[random(PARTS.len())];
            steps.push(write(part));
            steps.push(FakeStep::Pause(PAUSES[random(PAUSES.len())]));
            expected.push_str(&part.replace('\r', ""));
        }
        steps.push(write("end\r\n"));
        expected.push_str("end\n");
        let bench = TestBench::default();
        let fake = r1()
            .echo(echo)
            .on("show any", &steps)
            .on("show x", &[write("x\r\n")]);
        let mut cli = bench.session(fake).await;
        let ctx = bench.ctx();
        let output = cli.run(&ctx, &"show any".into()).await.expect("an output");
        assert_eq!(output, expected, "round {round}: {steps:?}");
        assert_eq!(
            cli.run(&ctx, &"show x".into()).await.expect("an output"),
            "x\n"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn two_prompts_without_a_line_end_between_them_are_no_end_on_a_terminal_that_shows_what_nobody_reads()
 {
    let bench = TestBench::default();
    let steps = [
        write("r1#"),
        FakeStep::Pause(900),
        write("r1#"),
        FakeStep::Pause(900),
        write("\r\nmore\r\n"),
    ];
    let fake = r1()
        .echo(FakeEcho::Terminal)
        .on("show log", &steps)
        .on("show x", &[write("x\r\n")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    let output = cli.run(&ctx, &"show log".into()).await.expect("an output");
    assert_eq!(output, "r1#r1#\nmore\n");
    let output = cli.run(&ctx, &"show x".into()).await.expect("an output");
    assert_eq!(output, "x\n");
}

/// A device so slow that each probe is sent twice, and the second reply comes after the first has proven the end.
fn slow(answer: impl Fn(Vec<u8>) -> Vec<u8> + Send + 'static) -> DuplexStream {
    const DELAY: Duration = Duration::from_millis(1_200);
    let (near, far) = duplex(1024);
    let (far, mut writes) = tokio::io::split(far);
    let (typed, mut answers) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut lines = BufReader::new(far).split(b'\n');
        let mut next = b"r1#".to_vec();
        while typed.send((Instant::now() + DELAY, next)).is_ok() {
            let line = lines.next_segment().await;
            next = answer(line.expect("open").expect("a line"));
        }
    });
    tokio::spawn(async move {
        while let Some((due, answer)) = answers.recv().await {
            let _ = timeout_at(due, std::future::pending::<()>()).await;
            writes.write_all(&answer).await.expect("somebody reads");
        }
    });
    near
}

#[tokio::test(start_paused = true)]
async fn late_answers_to_empty_lines_are_no_answer_to_a_command() {
    // Such a device shows no blanks, but a line end after Enter.
    let near = slow(|line| {
        let shown = String::from_utf8_lossy(&line);
        match shown.trim() {
            "" => "\r\nr1#".into(),
            command => format!("{command}\r\nx\r\nr1#").into(),
        }
    });
    let bench = TestBench::default();
    let mut cli = bench
        .open(near, test_dialect(), None)
        .await
        .expect("a session");
    let output = cli.run(&bench.ctx(), &"show x".into()).await;
    assert_eq!(output.expect("an output"), "x\n");
}

#[tokio::test(start_paused = true)]
async fn late_answers_alone_are_no_fault_of_a_session_that_is_tested() {
    let near = slow(|line| [&*line, b"\r\nr1#"].concat());
    let bench = TestBench::default();
    let mut cli = bench
        .open(near, test_dialect(), None)
        .await
        .expect("a session");
    for _ in 0..3 {
        cli.verify(&bench.ctx()).await.expect("it answers");
    }
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_an_end_is_output_and_the_prompt_behind_it_is_none() {
    for echo in [FakeEcho::Editor, FakeEcho::Blind, FakeEcho::Terminal] {
        for last in ["output", "two words: "] {
            let bench = TestBench::default();
            let fake = r1()
                .echo(echo)
                .on("show log", &[write("first\r\n"), write(last)])
                .on("show x", &[write("x\r\n")]);
            let mut cli = bench.session(fake).await;
            let ctx = bench.ctx();
            let output = cli.run(&ctx, &"show log".into()).await.expect("an output");
            assert_eq!(output, format!("first\n{last}"), "{echo:?}");
            let next = cli.run(&ctx, &"show x".into()).await.expect("an output");
            assert_eq!(next, "x\n", "{echo:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_kept_where_each_key_redraws_the_line() {
    for last in ["output", "two words: ", "r1#", "uptime r1#"] {
        for pause in [0, 100, 900, 2000] {
            let bench = TestBench::default();
            let steps = [write("first\r\n"), write(last), FakeStep::Pause(pause)];
            let fake = r1().echo(FakeEcho::Redrawn).on("show log", &steps);
            let output = bench.output(fake, "show log").await;
            assert_eq!(output, format!("first\n{last}"), "{pause} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_hostname_is_learnt() {
    let bench = TestBench::default();
    let fake = r1()
        .on("rename", &[FakeStep::Prompt("r2#")])
        .on("show x", &[write("x\r\n")]);
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
async fn output_without_a_last_line_end_is_kept_and_what_belongs_to_the_prompt_is_not() {
    for (prompt, output) in [
        ("\r\nr1#", "one\r\ntwo"),
        ("\r\n[edit]\r\nadmin@r1# ", "one\r\ntwo"),
        ("\r\n\r\n[/interface]\r\nA:r1#", "one\r\ntwo"),
    ] {
        let bench = TestBench::default();
        let fake = Fake::new(prompt)
            .on("show x", &[write(output)])
            .on("show y", &[write(output), write("\r\n")]);
        let mut dialect = Dialect::generic();
        dialect.on_open = vec!["terminal length 0".to_owned()];
        let mut cli = bench
            .open(fake.start(), dialect, None)
            .await
            .expect("a session");
        let ctx = bench.ctx();
        assert_eq!(
            cli.run(&ctx, &"show x".into()).await.expect("an output"),
            "one\ntwo"
        );
        assert_eq!(
            cli.run(&ctx, &"show y".into()).await.expect("an output"),
            "one\ntwo\n"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn failures_quote_the_device_s_message() {
    let bench = TestBench::default();
    let fake = r1().on(
        "show log",
        &[
            FakeStep::Lines(50),
            write("% Invalid quoted\r\n"),
            FakeStep::Lines(50),
        ],
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
    // Far inside an answer, such a text is only quoted.
    assert!(cli.run(&bench.ctx(), &"show log".into()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_unknown_device_is_usable_by_its_prompt_alone() {
    let bench = TestBench::default();
    for prompt in ["admin@sw1> ", "[edit]$ ", "sw1%", "<sw1>", "MikroTik /ip> "] {
        let fake = Fake::new(prompt).on("show x", &[write("a > b\r\nc #\r\n")]);
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

#[tokio::test(start_paused = true)]
async fn a_session_with_a_password_question_waits_no_longer_than_another() {
    let steps = [
        write("Password: "),
        FakeStep::Hidden,
        write("\r\n"),
        FakeStep::Prompt("r1#"),
    ];
    let fake = Fake::new("r1>")
        .on("enable", &steps)
        .on("show x", &[write("x\r\n")]);
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    let bench = TestBench::default();
    let opened = bench
        .open(fake.start(), test_dialect(), Some(&secret))
        .await;
    let mut cli = opened.expect("a session");
    let started = Instant::now();
    let output = cli.run(&bench.ctx(), &"show x".into()).await;
    assert_eq!(output.expect("an output"), "x\n");
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_line_like_the_prompt_and_a_pause_are_output_on_a_device_that_shows_nothing() {
    let bench = TestBench::default();
    let steps = [write("first\r\nr1#"), FakeStep::Pause(1600), write("\r\n")];
    let fake = r1()
        .echo(FakeEcho::Never)
        .on("show log", &steps)
        .on("show x", &[write("x\r\n")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    for _ in 0..3 {
        let output = cli.run(&ctx, &"show log".into()).await.expect("an output");
        assert_eq!(output, "first\nr1#\n");
        let output = cli.run(&ctx, &"show x".into()).await.expect("an output");
        assert_eq!(output, "x\n");
    }
}
