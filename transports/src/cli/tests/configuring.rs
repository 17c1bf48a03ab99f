//! Tests of configuration: each line is sent once, its outcome is known, and no secret is shown.

use devgate_schemas::Sensitive;

use super::super::fake::{Fake, FakeStep, TestBench, test_dialect, write};
use super::problem;
use crate::Error;
use crate::Line;

/// Returns a router that knows a few configuration lines.
fn router() -> Fake {
    let config = |prompt| [FakeStep::Prompt(prompt)];
    Fake::new("r1#")
        .on("configure terminal", &config("r1(config)#"))
        .on("interface swp1", &config("r1(config-if)#"))
        .on("description uplink", &[])
        .on("hostname r2", &[FakeStep::Prompt("r2(config)#")])
        .on("end", &config("r1#"))
        .on("username a password canary", &[])
        .on("show x", &[write("x\r\n")])
}

fn lines(lines: &[&str]) -> Vec<Line> {
    lines.iter().map(|line| Line::new(*line)).collect()
}

#[tokio::test(start_paused = true)]
async fn lines_are_typed_in_configuration_mode_which_is_left() {
    let bench = TestBench::default();
    let fake = router();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    let wanted = lines(&["interface swp1", "", " description uplink"]);
    cli.configure(&ctx, &wanted).await.expect("applied");
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
    let received = received.lock().expect("no poison");
    assert_eq!(
        received[1..],
        [
            "configure terminal",
            "interface swp1",
            "description uplink",
            "end",
            "show x"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_typed_after_a_refused_line_not_even_the_exit_command() {
    let bench = TestBench::default();
    let fake = router();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    let wanted = lines(&["interface swp1", "nonsense", "description uplink"]);
    let (problem, text) = problem(cli.configure(&ctx, &wanted).await);
    let refused = problem.refused.first().expect("a line");
    assert_eq!((refused.number, refused.line.as_str()), (2, "nonsense"));
    assert_eq!(refused.message, "% Invalid input detected");
    assert!(text.contains("refuses line 2 of 3, `nonsense`"), "{text}");
    assert!(
        text.contains("the lines before it were applied (1 of 3), and no others"),
        "{text}"
    );
    assert!(!cli.is_usable());
    cli.leave(&ctx).await;
    cli.run(&ctx, &"show x".into())
        .await
        .expect_err("the session is over");
    let received = received.lock().expect("no poison");
    assert_eq!(
        received[1..],
        ["configure terminal", "interface swp1", "nonsense"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_error_for_a_lost_connection_names_the_sent_lines() {
    let bench = TestBench::default();
    let fake = router().on("fatal", &[FakeStep::Close]);
    let mut cli = bench.session(fake).await;
    let wanted = lines(&["interface swp1", "fatal", "description uplink"]);
    let (problem, text) = problem(cli.configure(&bench.ctx(), &wanted).await);
    assert_eq!((problem.sent, problem.of), (2, 3));
    assert!(
        text.contains("closed the connection during line 2 of 3, `fatal`"),
        "{text}"
    );
    assert!(text.contains("not sent again"), "{text}");
    assert!(!Error::Configuration(Box::new(problem)).is_transient());
    assert!(!cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_does_not_enter_configuration_mode_is_unchanged() {
    let bench = TestBench::default();
    let fake = router().on(
        "configure terminal",
        &[write("% Configuration is locked\r\n")],
    );
    let mut cli = bench.session(fake).await;
    let (_, text) = problem(
        cli.configure(&bench.ctx(), &lines(&["interface swp1"]))
            .await,
    );
    assert!(text.contains("Configuration is locked"), "{text}");
    assert!(text.contains("the configuration is unchanged"), "{text}");
    assert!(cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn a_line_that_leaves_configuration_mode_ends_it() {
    let bench = TestBench::default();
    let fake = router();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let (_, text) = problem(
        cli.configure(&bench.ctx(), &lines(&["end", "show x"]))
            .await,
    );
    assert!(text.contains("it left configuration mode"), "{text}");
    assert_eq!(
        received.lock().expect("no poison")[1..],
        ["configure terminal", "end"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_hostname_is_learnt_after_configuration() {
    let bench = TestBench::default();
    let fake = router().on("end", &[FakeStep::Prompt("r2#")]);
    let mut cli = bench.session(fake).await;
    let ctx = bench.ctx();
    cli.configure(&ctx, &lines(&["hostname r2"]))
        .await
        .expect("applied");
    assert_eq!(
        cli.run(&ctx, &"show x".into()).await.expect("an output"),
        "x\n"
    );
}

#[tokio::test(start_paused = true)]
async fn no_secret_of_a_line_is_shown() {
    let secret = || vec![Sensitive::new("canary".to_owned())];
    let line = Line::with_secrets("username a password canary", secret());
    let bench = TestBench::default();
    let echoing = [write("% Bad line: username a password canary\r\n")];
    let fakes = [
        router().on("username a password canary", &echoing),
        router().on(
            "username a password canary",
            &[write("canary"), FakeStep::Close],
        ),
    ];
    for fake in fakes {
        let mut cli = bench.session(fake).await;
        let (problem, text) = problem(
            cli.configure(&bench.ctx(), std::slice::from_ref(&line))
                .await,
        );
        assert!(!text.contains("canary"), "{text}");
        assert!(!format!("{problem:?}").contains("canary"), "{problem:?}");
    }
    let bad = Line::with_secrets(
        "key can\u{7}ary",
        vec![Sensitive::new("can\u{7}ary".to_owned())],
    );
    let mut cli = bench.session(router()).await;
    let error = cli
        .configure(&bench.ctx(), &[bad])
        .await
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("nothing was sent") && !error.contains("ary"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn saving_answers_its_questions() {
    let bench = TestBench::default();
    let steps = [
        write("Destination filename [startup-config]? "),
        FakeStep::Hidden,
        write("\r\n[OK]\r\n"),
    ];
    let mut cli = bench
        .session(router().on("copy running-config startup-config", &steps))
        .await;
    cli.save(&bench.ctx()).await.expect("saved");
    cli.verify(&bench.ctx()).await.expect("alive");
}

#[tokio::test(start_paused = true)]
async fn a_dialect_without_configuration_is_an_error() {
    let mut dialect = test_dialect();
    dialect.enter_config = None;
    let bench = TestBench::default();
    let mut cli = bench
        .open(router().start(), dialect, None)
        .await
        .expect("a session");
    let error = cli
        .configure(&bench.ctx(), &lines(&["x"]))
        .await
        .expect_err("unsupported");
    assert!(matches!(error, Error::Unsupported(_)));
}
