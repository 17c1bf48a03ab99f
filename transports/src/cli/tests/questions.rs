//! Tests of questions within answers, which are answered only as configured, and of multi-line texts.

use super::super::dialect::{Dialect, LiteralKey};
use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, test_dialect, write};
use super::{interruption, r1};
use crate::Error;
use crate::Line;
use crate::error::Interruption;

fn why(error: Error) -> Interruption {
    match error {
        Error::Interrupted(interrupted) => interrupted.why,
        Error::Configuration(problem) => match problem.interrupted.map(|error| *error) {
            Some(Error::Interrupted(interrupted)) => interrupted.why,
            other => panic!("another error: {other:?}"),
        },
        other => panic!("another error: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_takes_one_key_is_given_no_return_which_would_answer_the_next() {
    let steps = [
        write("Delete a? [confirm]"),
        FakeStep::KeyRecorded,
        write("\r\na deleted\r\nDelete b? [confirm]"),
        FakeStep::KeyRecorded,
        write("\r\n"),
    ];
    let bench = TestBench::default();
    let fake = r1().on("delete", &steps);
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let line = Line::new("delete").answering(vec!["yes".to_owned(), "n".to_owned()]);
    let output = cli.run(&bench.ctx(), &line).await.expect("an output");
    assert!(output.contains("a deleted\n"), "{output}");
    let keys: Vec<String> = received.lock().expect("no poison").clone();
    let asked = keys.iter().skip_while(|line| *line != "delete").skip(1);
    assert_eq!(asked.collect::<Vec<_>>(), ["key 121", "key 110"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_dialect_knows_is_answered_for_the_commands_that_it_names() {
    let asks = [
        write("Proceed with reload? [confirm]"),
        FakeStep::Hidden,
        write("\r\ndone\r\n"),
    ];
    let bench = TestBench::default();
    let fake = Fake::new("r1#")
        .on("reload in 5", &asks)
        .on("erase x", &asks);
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let output = cli
        .run(&bench.ctx(), &"reload in 5".into())
        .await
        .expect("an output");
    assert_eq!(output, "done\n");
    let error = cli
        .run(&bench.ctx(), &"erase x".into())
        .await
        .expect_err("a question");
    assert!(
        error.to_string().contains("devgate session exec --answer"),
        "{error}"
    );
    assert_eq!(
        why(error),
        Interruption::Unanswered("Proceed with reload? [confirm]".to_owned())
    );
    assert!(!cli.is_usable());
    let received = received.lock().expect("no poison");
    assert_eq!(received[1..], ["reload in 5", "", "erase x"]);
}

#[tokio::test(start_paused = true)]
async fn answers_that_were_given_with_a_command_are_typed_in_their_order() {
    let asks = [
        write("Overwrite? [y/n]: "),
        FakeStep::Hidden,
        write("\r\nTo which file [a]? "),
        FakeStep::Hidden,
        write("\r\ncopied\r\n"),
    ];
    let bench = TestBench::default();
    let fake = Fake::new("r1#").on("copy x", &asks);
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let command = Line::new("copy x").answering(vec!["y".to_owned(), "b".to_owned()]);
    let output = cli.run(&bench.ctx(), &command).await.expect("an output");
    assert!(output.ends_with("copied\n"), "{output}");
    assert_eq!(
        received.lock().expect("no poison")[1..],
        ["copy x", "y", "b"]
    );
    let command = Line::new("copy x").answering(vec!["y".to_owned()]);
    let error = cli
        .run(&bench.ctx(), &command)
        .await
        .expect_err("one more question");
    assert_eq!(
        why(error),
        Interruption::Unanswered("To which file [a]?".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_key_is_pressed_for_the_answer_of_a_command_and_not_for_a_pager() {
    let asks = [
        write("All will be deleted.\r\nPress any key to continue"),
        FakeStep::Hidden,
        write("\r\nreloading\r\n"),
    ];
    let bench = TestBench::default();
    let fake = Fake::new("r1#").on("reload", &asks);
    let received = fake.received();
    let mut cli = bench
        .open(fake.start(), Dialect::generic(), None)
        .await
        .expect("a session");
    let command = Line::new("reload").answering(vec!["n".to_owned()]);
    cli.run(&bench.ctx(), &command).await.expect("an output");
    let error = cli.run(&bench.ctx(), &"reload".into()).await;
    assert_eq!(
        why(error.expect_err("a question")),
        Interruption::Unanswered("Press any key to continue".to_owned())
    );
    assert_eq!(
        *received.lock().expect("no poison"),
        ["reload", "n", "reload"]
    );
}

#[tokio::test(start_paused = true)]
async fn what_only_quotes_a_question_is_output() {
    let quotes = [
        write("Save? [yes/no]:"),
        FakeStep::Pause(100),
        write(" is what it asks\r\n"),
    ];
    let bench = TestBench::default();
    let output = bench
        .output(Fake::new("r1#").on("show x", &quotes), "show x")
        .await;
    assert_eq!(output, "Save? [yes/no]: is what it asks\n");
}

/// Returns a router that accepts a banner.
fn router() -> Fake {
    let help = write("Enter TEXT message.  End with the character '^'.\r\n");
    Fake::new("r1#")
        .on("configure terminal", &[FakeStep::Prompt("r1(config)#")])
        .on("banner motd ^C", &[help, FakeStep::Text("^C")])
        .on("banner motd ^one line^", &[])
        .on("banner login @", &[write("% Ambiguous command\r\n")])
        .on("hostname r1", &[])
        .on("end", &[FakeStep::Prompt("r1#")])
}

#[tokio::test(start_paused = true)]
async fn a_text_of_several_lines_is_typed_up_to_its_end() {
    let bench = TestBench::default();
    let fake = router();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let text = [
        "banner motd ^C",
        "Hello#",
        "",
        "hostname evil",
        "Bye ^C",
        "banner motd ^one line^",
        "hostname r1",
    ];
    let lines: Vec<Line> = text.map(Line::new).into();
    cli.configure(&bench.ctx(), &lines).await.expect("applied");
    let received = received.lock().expect("no poison");
    assert_eq!(received[2..received.len() - 1], text);
}

#[tokio::test(start_paused = true)]
async fn a_text_without_an_end_is_not_sent_and_one_that_is_refused_is_not_typed() {
    let bench = TestBench::default();
    let fake = router();
    let received = fake.received();
    let mut cli = bench.session(fake).await;
    let lines = ["banner motd ^C", "Hello"].map(Line::new);
    let error = cli
        .configure(&bench.ctx(), &lines)
        .await
        .expect_err("no end");
    assert!(
        error
            .to_string()
            .contains("no line ends with `^C`: nothing was sent"),
        "{error}"
    );
    let lines = ["banner login @", "hostname evil", "@"].map(Line::new);
    let error = cli
        .configure(&bench.ctx(), &lines)
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("Ambiguous command"), "{error}");
    assert_eq!(
        received.lock().expect("no poison")[1..],
        ["configure terminal", "banner login @"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_text_may_end_with_a_line_of_its_own_and_a_question_mark_is_typed_as_one() {
    let bench = TestBench::default();
    let help = write("Enter TEXT message. Type 'EOF' on its own line to end.\r\n");
    let fake = router()
        .on("banner login", &[help, FakeStep::Text("EOF")])
        .on("description why?", &[]);
    let received = fake.received();
    let mut dialect = test_dialect();
    let opening = serde_json::json!({ "opens": "^banner login$", "end": "EOF" });
    dialect
        .text
        .push(serde_json::from_value(opening).expect("an opening"));
    dialect.literal = Some(LiteralKey::CtrlV);
    let mut cli = bench
        .open(fake.start(), dialect, None)
        .await
        .expect("a session");
    let text = [
        "banner login",
        "  Who are you?",
        "",
        "r1(config)#",
        "EOF",
        "description why?",
        "hostname r1",
    ];
    let lines: Vec<Line> = text.map(Line::new).into();
    cli.configure(&bench.ctx(), &lines).await.expect("applied");
    let received = received.lock().expect("no poison");
    assert_eq!(received[2..received.len() - 1], text);
}

/// Returns whether a key may be taken for consent: Return, a letter, a digit, a blank.
fn consents(typed: u8) -> bool {
    typed.is_ascii_alphanumeric() || matches!(typed, b'\r' | b'\n' | b' ')
}

#[tokio::test(start_paused = true)]
async fn a_question_after_a_line_like_the_prompt_is_never_confirmed() {
    for echo in [FakeEcho::Editor, FakeEcho::Blind, FakeEcho::Terminal] {
        for pause in [1, 200, 1_000, 5_000] {
            let steps = [
                write("r1#"),
                FakeStep::Pause(pause),
                write("\r\nProceed with reload? [confirm]"),
                FakeStep::KeyRecorded,
                write("\r\n"),
            ];
            let fake = r1().echo(echo).on("reload in 5", &steps);
            let received = fake.received();
            let bench = TestBench::default();
            let mut cli = bench.session(fake).await;
            let result = cli.run(&bench.ctx(), &"reload in 5".into()).await;
            let (_, _, text) = interruption(result);
            assert!(text.contains("[confirm]"), "{echo:?}, {pause} ms: {text}");
            let received = received.lock().expect("no poison").clone();
            let key = received.iter().find_map(|line| line.strip_prefix("key "));
            let key = key.map_or(0, |key| key.parse().expect("a byte"));
            assert!(!consents(key), "{echo:?}, {pause} ms: {key}");
        }
    }
}
