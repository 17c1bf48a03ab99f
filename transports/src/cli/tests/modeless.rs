//! Tests of configuration at the prompt of commands, and of prompts with a line above.

use super::super::dialect::Dialect;
use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, write};
use crate::{Error, Line, Result};

fn dialect() -> Dialect {
    serde_json::from_value(serde_json::json!({
        "prompt": { "exec": r"fw \$ ?", "config": r"fw \([\w-]+\) \$ ?" },
        "enter_config": "none",
        "leave_mode": "none",
        "failure": ["^(node_check|Command fail)"],
    }))
    .expect("a dialect")
}

fn firewall() -> Fake {
    let prompt = |prompt| [FakeStep::Prompt(prompt)];
    Fake::new("fw $ ")
        .on("config system interface", &prompt("fw (interface) $ "))
        .on("edit port1", &prompt("fw (port1) $ "))
        .on("set mtu 9000", &[])
        .on(
            "set mtu 1",
            &[write(
                "node_check_object fail!\r\nCommand fail. Return code -61\r\n",
            )],
        )
        .on("next", &prompt("fw (interface) $ "))
        .on("end", &prompt("fw $ "))
        .on("get x", &[write("x\r\n")])
}

async fn configure(echo: FakeEcho, lines: &[&str]) -> (Result<()>, Vec<String>, Result<String>) {
    let bench = TestBench::default();
    let fake = firewall().echo(echo);
    let received = fake.received();
    let opened = bench.open(fake.start(), dialect(), None).await;
    let mut cli = opened.expect("a session");
    let lines: Vec<Line> = lines.iter().map(|line| Line::new(*line)).collect();
    let result = cli.configure(&bench.ctx(), &lines).await;
    let output = cli.run(&bench.ctx(), &"get x".into()).await;
    let received = received.lock().expect("no poison").clone();
    (result, received, output)
}

#[tokio::test(start_paused = true)]
async fn lines_are_typed_at_the_prompt_of_commands() {
    let lines = [
        "config system interface",
        "edit port1",
        "set mtu 9000",
        "next",
        "end",
    ];
    for echo in [FakeEcho::Editor, FakeEcho::Blind] {
        let (result, received, output) = configure(echo, &lines).await;
        result.expect("applied");
        assert_eq!(output.expect("an output"), "x\n");
        assert_eq!(received[..5], lines);
        assert_eq!(received[5..], ["get x"]);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_typed_after_a_refused_line() {
    let lines = [
        "config system interface",
        "edit port1",
        "set mtu 1",
        "next",
        "end",
    ];
    let (result, received, output) = configure(FakeEcho::Editor, &lines).await;
    let Err(Error::Configuration(problem)) = result else {
        panic!("a problem");
    };
    let refused = problem.refused.first().expect("a refused line");
    assert_eq!((refused.number, &*refused.line), (3, "set mtu 1"));
    assert!(refused.message.starts_with("node_check_object fail!"));
    assert_eq!(
        received,
        ["config system interface", "edit port1", "set mtu 1"]
    );
    output.expect_err("the session is not used any more");
}

#[tokio::test(start_paused = true)]
async fn lines_must_return_to_the_prompt_of_commands() {
    let (result, ..) = configure(FakeEcho::Editor, &["config system interface"]).await;
    let message = result.expect_err("a problem").to_string();
    assert!(message.contains("do not return to the prompt"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_line_above_the_prompt_is_no_output() {
    let dialect: Dialect = serde_json::from_value(serde_json::json!({
        "prompt": {
            "exec": r"A:admin@sr1# ?",
            "config": r"\(ex\)\S*A:admin@sr1# ?",
            "above": r"\[[^\]]*\]",
        },
        "enter_config": "none",
    }))
    .expect("a dialect");
    for echo in [FakeEcho::Editor, FakeEcho::Blind] {
        let bench = TestBench::default();
        let fake = Fake::new("\r\n[/]\r\nA:admin@sr1# ")
            .echo(echo)
            .on("show x", &[write("[x]\r\n\r\nmore [x]\r\n")])
            .on("pwc", &[])
            .on(
                "go",
                &[FakeStep::Prompt("\r\n[/configure]\r\nA:admin@sr1# ")],
            )
            .on("back", &[FakeStep::Prompt("\r\n[/]\r\nA:admin@sr1# ")]);
        let opened = bench.open(fake.start(), dialect.clone(), None).await;
        let mut cli = opened.expect("a session");
        for (command, expected) in [
            ("show x", "[x]\n\nmore [x]\n"),
            ("pwc", ""),
            ("go", ""),
            ("show x", "[x]\n\nmore [x]\n"),
            ("back", ""),
            ("show x", "[x]\n\nmore [x]\n"),
        ] {
            let output = cli.run(&bench.ctx(), &command.into()).await;
            assert_eq!(output.expect("an output"), expected, "{command} {echo:?}");
        }
    }
}
