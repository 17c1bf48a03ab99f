//! Tests of the opening, from the first byte to the first proven prompt.

use std::time::Duration;

use devgate_schemas::Sensitive;
use serde_json::json;
use tokio::time::Instant;

use super::super::dialect::{Dialect, LinePattern};
use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, test_dialect, write};
use crate::Error;
use crate::Line;
use crate::error::Phase;

#[tokio::test(start_paused = true)]
async fn the_blank_behind_a_question_may_come_late() {
    let bench = TestBench::default();
    let fake = Fake::new("r1#").greeting(&[
        write("Username:"),
        FakeStep::Pause(20),
        write(" "),
        FakeStep::Hidden,
        write("\r\nPassword:"),
        FakeStep::Pause(20),
        write(" "),
        FakeStep::Hidden,
        write("\r\n"),
    ]);
    let cli = bench.log_in(fake.start(), &"pw".into()).await;
    cli.expect("a session");
}

#[tokio::test(start_paused = true)]
async fn a_banner_that_looks_like_a_prompt_is_no_prompt() {
    for pause in [0, 100, 2_000] {
        let banner = [
            write("Welcome\r\nnot-a-prompt#"),
            FakeStep::Pause(pause),
            write("\r\nBye#\r\n"),
        ];
        let bench = TestBench::default();
        let fake = Fake::new("r1#")
            .greeting(&banner)
            .on("show x", &[write("x\r\n")]);
        let mut cli = bench.session(fake).await;
        let output = cli
            .run(&bench.ctx(), &"show x".into())
            .await
            .expect("an output");
        assert_eq!(output, "x\n", "after {pause} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_that_waits_for_an_empty_line_gets_one() {
    let bench = TestBench::default();
    let fake = Fake::new("r1#").greeting(&[write("Welcome\r\n"), FakeStep::Key]);
    let mut cli = bench.session(fake).await;
    cli.verify(&bench.ctx()).await.expect("alive");
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_shows_nothing_and_takes_blanks_for_a_command_is_read() {
    let help =
        "Unknown command, one of these is known:\n  show info\n  show stat\n  help\n  quit\n";
    let info = [
        write("Name: x\n"),
        FakeStep::Pause(500),
        write("\n> "),
        FakeStep::Pause(5_000),
        write("Uptime: 1\n"),
    ];
    // Without a terminal and with one.
    for echo in [FakeEcho::Nothing, FakeEcho::Blind] {
        let fake = Fake::new("\n> ")
            .echo(echo)
            .on("", &[write(help)])
            .on("show info", &info)
            .on("show stat", &[write(help)]);
        let bench = TestBench::default();
        let mut cli = bench
            .open(fake.start(), Dialect::generic(), None)
            .await
            .expect("a session");
        for (command, expected) in [
            ("show info", "Name: x\n\n> Uptime: 1\n"),
            ("show stat", help),
            ("show info", "Name: x\n\n> Uptime: 1\n"),
        ] {
            let output = cli.run(&bench.ctx(), &command.into()).await;
            assert_eq!(output.expect("an output"), expected, "{echo:?}");
            cli.verify(&bench.ctx()).await.expect("alive");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_after_a_greeting_like_a_prompt_is_not_confirmed() {
    // Enter is not pressed as long as the reply may still come.
    for (greeting, pause) in [("####", 20), ("####", 250), ("\r\nr1# ", 100)] {
        let greeting = [
            write(greeting),
            FakeStep::Pause(pause),
            write("##\r\nDiscard the changes of others? [Y/n]"),
            FakeStep::Hidden,
            write("\r\ndiscarded\r\n"),
        ];
        let fake = Fake::new("r1#").greeting(&greeting);
        let received = fake.received();
        let bench = TestBench::default();
        let error = bench.open(fake.start(), Dialect::generic(), None).await;
        let error = error.expect_err("a question").to_string();
        assert!(error.contains("Discard the changes"), "{error}");
        assert!(error.contains("may have read"), "{error}");
        assert!(received.lock().expect("no poison").is_empty(), "{pause}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_perhaps_answered_by_return_is_reported() {
    let greeting = [
        write("Welcome\r\nr1# "),
        FakeStep::Pause(1_000),
        write("\r\nWipe the disk? [Y/n] "),
        FakeStep::Hidden,
        write("\r\nwiped\r\n"),
    ];
    let bench = TestBench::default();
    let fake = Fake::new("r1# ").greeting(&greeting);
    let error = bench.open(fake.start(), test_dialect(), None).await;
    let error = error.expect_err("a question").to_string();
    assert!(error.contains("Wipe the disk? [Y/n]"), "{error}");
    assert!(error.contains("may have read"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_question_before_the_prompt_gets_the_answer_of_the_dialect() {
    let mut dialect = test_dialect();
    dialect.login = serde_json::from_value(serde_json::json!([
        { "pattern": "Press RETURN to get started", "answer": "" },
        { "pattern": r"Accept\? \[yes/no\]", "answer": "yes" },
    ]))
    .expect("answers");
    let steps = [
        write("Press RETURN to get started."),
        FakeStep::Hidden,
        write("\r\nAccept? [yes/no] "),
        FakeStep::Hidden,
        write("\r\n"),
    ];
    let fake = Fake::new("r1#").greeting(&steps);
    let received = fake.received();
    let bench = TestBench::default();
    bench
        .open(fake.start(), dialect, None)
        .await
        .expect("a session");
    assert_eq!(
        *received.lock().expect("no poison"),
        ["", "yes", "terminal length 0"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_device_without_a_prompt_is_an_error_with_its_last_line() {
    let bench = TestBench::default();
    let fake = Fake::new("login as: ").greeting(&[write("hello\r\n")]);
    let started = Instant::now();
    let error = bench
        .open(fake.start(), test_dialect(), None)
        .await
        .expect_err("no prompt");
    assert!(
        started.elapsed() <= Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    let text = error.to_string();
    assert!(
        matches!(
            error,
            Error::TimedOut {
                phase: Phase::Prompt,
                ..
            }
        ),
        "{text}"
    );
    assert!(text.contains("`login as:"), "{text}");
    assert!(!error.is_transient());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_closes_before_the_prompt_is_a_transient_error() {
    let bench = TestBench::default();
    let fake = Fake::new("r1#").greeting(&[write("System is booting\r\n"), FakeStep::Close]);
    let error = bench
        .open(fake.start(), test_dialect(), None)
        .await
        .expect_err("closed");
    assert!(error.is_transient());
    assert!(error.to_string().contains("System is booting"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_user_who_may_not_turn_paging_off_gets_a_session_nevertheless() {
    let bench = TestBench::default();
    let refuse = [write("% Authorization failed\r\n")];
    let fake = Fake::new("r1#")
        .on("terminal length 0", &refuse)
        .on("show x", &[write("x\r\n")]);
    assert_eq!(bench.output(fake, "show x").await, "x\n");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_with_a_clock_is_learnt() {
    let bench = TestBench::default();
    let tick = [write("tock\r\n"), FakeStep::Prompt("[10:00:59] r1#")];
    let mut dialect = test_dialect();
    dialect.prompt.exec = serde_json::from_str(r#""\\[[\\d:]+\\] r1#""#).expect("a pattern");
    let fake = Fake::new("[10:00:00] r1#")
        .on("tick", &tick)
        .on("show x", &[write("x\r\n")]);
    let mut cli = bench
        .open(fake.start(), dialect, None)
        .await
        .expect("a session");
    let ctx = bench.ctx();
    assert_eq!(
        cli.run(&ctx, &"tick".into()).await.expect("an output"),
        "tock\n"
    );
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
}

#[tokio::test(start_paused = true)]
async fn privileged_mode_is_entered_with_the_password() {
    let bench = TestBench::default();
    let steps = [
        write("Password: "),
        FakeStep::Hidden,
        write("\r\n"),
        FakeStep::Prompt("r1#"),
    ];
    let fake = Fake::new("r1>").on("enable", &steps);
    let received = fake.received();
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    bench
        .open(fake.start(), test_dialect(), Some(&secret))
        .await
        .expect("a session");
    assert_eq!(
        *received.lock().expect("no poison"),
        ["enable", "canary", "terminal length 0"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_or_missing_enable_password_is_an_error_with_its_setting() {
    let bench = TestBench::default();
    let again = [
        write("Password: "),
        FakeStep::Hidden,
        write("\r\nPassword: "),
        FakeStep::Hidden,
        write("\r\n% Bad secrets\r\n"),
    ];
    let once = [
        write("Password: "),
        FakeStep::Hidden,
        write("\r\n% Access denied\r\n"),
    ];
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    for steps in [&again[..], &once[..]] {
        let fake = Fake::new("r1>").on("enable", steps);
        let error = bench
            .open(fake.start(), test_dialect(), Some(&secret))
            .await
            .expect_err("refused");
        assert!(matches!(error, Error::Enable { .. }), "{error}");
        assert!(
            error.to_string().contains("check `enable_password`"),
            "{error}"
        );
        assert!(!error.to_string().contains("canary"), "{error}");
    }
    let mut dialect = test_dialect();
    dialect.enable = serde_json::from_str(r#"{"required": true}"#).expect("an enable");
    let fake = Fake::new("r1>").on("enable", &again);
    let error = bench
        .open(fake.start(), dialect, None)
        .await
        .expect_err("refused");
    assert!(
        error.to_string().contains("set `enable_password`"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn privileged_mode_is_not_requested_twice() {
    let bench = TestBench::default();
    let fake = Fake::new("r1#");
    let received = fake.received();
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    bench
        .open(fake.start(), test_dialect(), Some(&secret))
        .await
        .expect("a session");
    assert_eq!(*received.lock().expect("no poison"), ["terminal length 0"]);
}

#[tokio::test(start_paused = true)]
async fn the_dialect_defines_how_privileged_mode_is_entered() {
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    let dialect = |exec: &str, privileged: Option<&str>, enable| {
        let mut dialect = test_dialect();
        dialect.prompt.exec = LinePattern::new(exec).expect("a pattern");
        dialect.prompt.privileged =
            privileged.map(|pattern| LinePattern::new(pattern).expect("a pattern"));
        dialect.enable = Some(serde_json::from_value(enable).expect("an enable"));
        dialect
    };
    let opened = async |dialect, fake: Fake, password| {
        let received = fake.received();
        let opened = TestBench::default()
            .open(fake.start(), dialect, password)
            .await;
        let received = received.lock().expect("no poison").clone();
        opened.map(|_| received).map_err(|error| error.to_string())
    };

    // A level, and a user name as well as a password, as AAA servers require.
    let asking = [
        write("Username: "),
        FakeStep::Hidden,
        write("\r\nPassword: "),
        FakeStep::Hidden,
        write("\r\n"),
        FakeStep::Prompt("r1#"),
    ];
    let cisco = dialect(
        r"[\w.-]+[>#]",
        Some(r"[\w.-]+#"),
        json!({ "command": "enable 15" }),
    );
    let fake = Fake::new("r1>").on("enable 15", &asking);
    assert_eq!(
        opened(cisco, fake, Some(&secret)).await.expect("a session"),
        ["enable 15", "me", "canary", "terminal length 0"]
    );

    // A shell from which a program starts the command line.
    let junos = dialect(
        r"[\w.@-]+[%>] ?",
        Some(r"[\w.@-]+> ?"),
        json!({ "command": "cli", "required": true }),
    );
    let fake = || Fake::new("root@r1% ").on("cli", &[FakeStep::Prompt("root@r1> ")]);
    let received = opened(junos.clone(), fake(), None).await;
    assert_eq!(received.expect("a session"), ["cli", "terminal length 0"]);
    let received = opened(junos, Fake::new("me@r1> "), None).await;
    assert_eq!(received.expect("a session"), ["terminal length 0"]);

    // Without a prompt of its own, privileged mode is recognized by the missing error message.
    let same = || dialect(r"[\w.-]+[>#]", None, json!({}));
    let denied = [
        write("Password: "),
        FakeStep::Hidden,
        write("\r\n% Access denied\r\n"),
    ];
    let fake = Fake::new("r1>").on("enable", &denied);
    let error = opened(same(), fake, Some(&secret)).await.expect_err("no");
    assert!(error.contains("it says `% Access denied`"), "{error}");
    let fake = Fake::new("r1>").on("enable", &[]);
    let received = opened(same(), fake, Some(&secret)).await;
    assert_eq!(received.expect("it"), ["enable", "terminal length 0"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_line_is_woken_before_it_asks_for_a_login() {
    let secret = Line::secret(Sensitive::new("canary".to_owned()));
    let asks = [
        write("\r\nlogin: "),
        FakeStep::Hidden,
        write("\r\nPassword: "),
        FakeStep::Hidden,
        write("\r\n"),
    ];
    let silent = [vec![FakeStep::Hidden], asks.to_vec()].concat();
    let greets = [
        vec![write("Connected to port 3.\r\n"), FakeStep::Hidden],
        asks.to_vec(),
    ];
    // A device that is only slow takes Return for an empty user name, and asks again.
    let slow = [
        vec![FakeStep::Pause(2_500), write("login: "), FakeStep::Hidden],
        asks.to_vec(),
    ];
    // Another device asks for the password of the empty user name first.
    let unnamed = [
        write("login: "),
        FakeStep::Hidden,
        FakeStep::Pause(700),
        write("\r\nPassword: "),
        FakeStep::Hidden,
    ];
    let fails = [FakeStep::Pause(3_000), write("\r\nLogin incorrect\r\n")];
    let nobody = [&[FakeStep::Pause(2_500)], &unnamed[..], &fails, &asks].concat();
    for greeting in [
        silent,
        greets.concat(),
        slow.concat(),
        nobody,
        asks.to_vec(),
    ] {
        let fake = Fake::new("r1#").greeting(&greeting);
        let received = fake.received();
        let bench = TestBench::default();
        let opened = bench.log_in(fake.start(), &secret).await;
        opened.expect("a session");
        let received = received.lock().expect("no poison").clone();
        let typed: Vec<_> = received.iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(typed, ["me", "canary", "terminal length 0"], "{greeting:?}");
    }
    let fake = Fake::new("r1#").greeting(&[FakeStep::Hidden, FakeStep::Hidden, FakeStep::Hang]);
    let opened = TestBench::default().log_in(fake.start(), &secret).await;
    let error = opened.expect_err("nothing").to_string();
    assert!(
        error.contains("it showed nothing, even after Return"),
        "{error}"
    );
}

#[test]
fn a_dialect_refuses_unknown_keys() {
    let unknown = serde_json::from_str::<Dialect>(r#"{"promt": {}}"#).expect_err("refused");
    assert!(unknown.to_string().contains("promt"), "{unknown}");
    let wrong = serde_json::from_str::<Dialect>(r#"{"failure": ["("]}"#).expect_err("refused");
    assert!(wrong.to_string().contains("/(/"), "{wrong}");
}
