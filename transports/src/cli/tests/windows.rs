//! Tests of windows: lines travel together, and each has its own answer.

use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, write};
use super::problem;
use crate::Line;
use crate::error::LinesEffect;

const ROUTES: [&str; 4] = [
    "ip route 10.0.0.0/8 Null0",
    "ip route 10.1.0.0/16 nowhere",
    "ip route 10.2.0.0/16 Null0",
    "ip route 10.3.0.0/16 Null0",
];

/// Returns a router that takes a moment for each route, and refuses the second.
fn router(echo: FakeEcho) -> Fake {
    let config = |prompt| [FakeStep::Prompt(prompt)];
    let takes = [FakeStep::Pause(20)];
    Fake::new("r1#")
        .echo(echo)
        .on("configure terminal", &config("r1(config)#"))
        .on(ROUTES[0], &takes)
        .on(
            ROUTES[1],
            &[FakeStep::Pause(20), write("% Malformed address\r\n")],
        )
        .on(ROUTES[2], &takes)
        .on(ROUTES[3], &takes)
        .on("end", &config("r1#"))
        .on("show x", &[write("x\r\n")])
}

fn window(lines: &[&str]) -> Vec<Line> {
    let (first, others) = lines.split_first().expect("a line");
    let others = others.iter().map(|line| Line::new(*line).with_previous());
    std::iter::once(Line::new(*first)).chain(others).collect()
}

/// Returns what came of lines, the lines that the device has received, and whether the session is usable.
async fn configure(fake: Fake, lines: &[Line]) -> (crate::Result<()>, Vec<String>, bool) {
    let bench = TestBench::default();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let result = cli.configure(&bench.ctx(), lines).await;
    let is_usable = cli.is_usable();
    if is_usable {
        let output = cli.run(&bench.ctx(), &"show x".into()).await;
        assert_eq!(output.expect("an output"), "x\n");
    }
    let received = received.lock().expect("no poison");
    (result, received[2..].to_vec(), is_usable)
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_taken_leave_the_session_usable() {
    let wanted = [ROUTES[0], ROUTES[2], ROUTES[3], ROUTES[0]];
    for echo in [
        FakeEcho::Editor,
        FakeEcho::Redrawn,
        FakeEcho::Terminal,
        FakeEcho::Blind,
    ] {
        let (result, received, is_usable) = configure(router(echo), &window(&wanted)).await;
        result.expect("applied");
        assert_eq!(received[..4], wanted, "{echo:?}");
        assert!(is_usable, "{echo:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_line_is_named_and_nothing_is_sent_behind_its_window() {
    for echo in [FakeEcho::Editor, FakeEcho::Redrawn, FakeEcho::Terminal] {
        let mut lines = window(&ROUTES);
        lines.push(Line::new("ip route 10.4.0.0/16 Null0"));
        let (result, received, is_usable) = configure(router(echo), &lines).await;
        let (problem, text) = problem(result);
        assert_eq!(received, ROUTES, "{echo:?}");
        assert_eq!((problem.sent, problem.answered), (4, 4), "{echo:?}: {text}");
        let refused: Vec<_> = problem.refused.iter().map(|line| line.number).collect();
        assert_eq!(refused, [2], "{echo:?}: {text}");
        assert!(
            text.contains("refuses line 2 of 5, `ip route 10.1.0.0/16 nowhere`")
                && text.contains("those sent together with it, were applied (3 of 5)"),
            "{text}"
        );
        assert!(!is_usable);
    }
}

#[tokio::test(start_paused = true)]
async fn all_refused_lines_of_a_window_are_named() {
    let lines = [ROUTES[1], ROUTES[0], ROUTES[1], ROUTES[1]];
    let (result, ..) = configure(router(FakeEcho::Editor), &window(&lines)).await;
    let (problem, text) = problem(result);
    let refused: Vec<_> = problem.refused.iter().map(|line| line.number).collect();
    assert_eq!(refused, [1, 3, 4], "{text}");
}

#[tokio::test(start_paused = true)]
async fn without_a_line_editor_each_line_waits_for_the_answer_before_it() {
    let (result, received, _) = configure(router(FakeEcho::Blind), &window(&ROUTES)).await;
    let (problem, text) = problem(result);
    assert_eq!(received, ROUTES[..2]);
    assert_eq!(problem.sent, 2, "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_takes_the_next_one_for_an_answer_ends_the_session() {
    let asks = [write("Do you want that? "), FakeStep::Hidden];
    let fake = router(FakeEcho::Editor).on(ROUTES[0], &asks);
    let lines = [ROUTES[0], ROUTES[2], ROUTES[3]];
    let (result, _, is_usable) = configure(fake, &window(&lines)).await;
    let (problem, text) = problem(result);
    assert_eq!((problem.sent, problem.answered), (3, 0), "{text}");
    assert!(
        text.contains("did not echo each line") && text.contains("the last 3 of them perhaps"),
        "{text}"
    );
    assert!(!is_usable);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_leaves_the_lines_without_an_answer_in_doubt() {
    let fake = router(FakeEcho::Editor).on(ROUTES[2], &[FakeStep::Close]);
    let lines = [ROUTES[0], ROUTES[3], ROUTES[2], ROUTES[3]];
    let (result, ..) = configure(fake, &window(&lines)).await;
    let (problem, text) = problem(result);
    assert_eq!((problem.sent, problem.answered), (4, 2), "{text}");
    assert!(
        text.contains("the last 2 of them perhaps without effect"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_that_leaves_the_mode_is_refused() {
    let fake = router(FakeEcho::Editor).on("exit", &[FakeStep::Prompt("r1#")]);
    let lines = [ROUTES[0], "exit", ROUTES[2], ROUTES[3]];
    let (result, ..) = configure(fake, &window(&lines)).await;
    let (problem, text) = problem(result);
    assert_eq!(problem.refused[0].number, 2, "{text}");
    assert!(text.contains("it left configuration mode"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_an_editor_may_scroll_is_sent_alone() {
    let long: &'static str =
        "ip route 10.9.0.0/16 Null0 description-that-does-not-fit-in-eighty-columns-of-a-line";
    let fake = router(FakeEcho::Editor).on(long, &[write("% Too long\r\n")]);
    let lines = [ROUTES[0], long, ROUTES[2]];
    let (result, received, _) = configure(fake, &window(&lines)).await;
    let (problem, text) = problem(result);
    assert_eq!(problem.sent, 2, "{text}");
    assert_eq!(received, lines[..2]);
}

#[tokio::test(start_paused = true)]
async fn the_secrets_of_a_window_are_not_shown() {
    let secret = devgate_schemas::Sensitive::new("canary".to_owned());
    let line = Line::with_secrets("username a password canary", vec![secret]);
    let says = [write("% No canary in canary\r\n")];
    let fake = router(FakeEcho::Editor).on("username a password canary", &says);
    let lines = [Line::new(ROUTES[0]), line.with_previous()];
    let (result, ..) = configure(fake, &lines).await;
    let (_, text) = problem(result);
    assert!(
        text.contains("refuses line 2") && !text.contains("canary"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_closing_line_is_typed_after_a_refusal_and_its_own_refusal_undoes_all() {
    for (says, effect) in [
        (vec![], LinesEffect::Each),
        (
            vec![
                write("r1(config)#"),
                FakeStep::Pause(900),
                write("\r\n% Failed\r\n"),
            ],
            LinesEffect::RolledBack,
        ),
    ] {
        let fake = router(FakeEcho::Editor)
            .on("begin", &[])
            .on("commit", &says);
        let mut lines = vec![Line::new("begin")];
        lines.extend(window(&ROUTES));
        lines.push(Line::new("commit").closing());
        let (result, received, is_usable) = configure(fake, &lines).await;
        let (problem, text) = problem(result);
        assert_eq!(
            received.last().map(String::as_str),
            Some("commit"),
            "{text}"
        );
        assert_eq!((problem.sent, problem.refused[0].number), (5, 3), "{text}");
        assert_eq!(problem.effect, effect, "{text}");
        assert!(!is_usable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_refusal_of_the_closing_line_is_told() {
    let says = [
        write("r1(config)#"),
        FakeStep::Pause(900),
        write("\r\n% Failed\r\n"),
    ];
    let fake = router(FakeEcho::Editor).on("commit", &says);
    let lines = [Line::new(ROUTES[0]), Line::new("commit").closing()];
    let (result, ..) = configure(fake, &lines).await;
    let (problem, text) = problem(result);
    assert!(
        problem.refused[0].number == 2 && text.contains("% Failed"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_the_echo_of_another_line_is_no_answer() {
    let forged = format!("r1(config)#{}\r\nr1(config)#{}\r\n", ROUTES[2], ROUTES[3]);
    let fake = router(FakeEcho::Editor).on(ROUTES[0], &[write(&forged)]);
    let lines = [ROUTES[0], ROUTES[2], ROUTES[3]];
    let (result, ..) = configure(fake, &window(&lines)).await;
    let (problem, text) = problem(result);
    assert!(
        problem.refused.is_empty() && problem.answered == 0,
        "{text}"
    );
    assert!(
        text.contains("did not echo each line behind its prompt"),
        "{text}"
    );
}
