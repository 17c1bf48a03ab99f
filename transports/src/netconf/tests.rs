//! End-to-end tests of a session with a fake device.

use std::time::Duration;

use devgate_schemas::Level;
use tokio::time::{Instant, timeout};

use super::NetconfSession;
use super::fake::{Answer, Fake, OK, hello};
use super::framing::{Framing, frame};
use super::operation::{Commit, Datastore, Filter, Operation};
use super::xml::BASE;
use crate::cli::fake::TestBench;
use crate::error::Interruption;
use crate::{Error, ProtocolSession};

fn get() -> Operation {
    Operation::get_config(Datastore::Running, &Filter::All)
}

fn reply(id: u32, inside: &str) -> String {
    format!("<rpc-reply xmlns='{BASE}' message-id='{id}'>{inside}</rpc-reply>")
}

fn why(error: Error) -> Interruption {
    match error {
        Error::Interrupted(interrupted) => interrupted.why,
        other => panic!("another error: {other}"),
    }
}

#[tokio::test]
async fn both_versions_are_spoken_and_chunked_only_where_both_sides_know_it() {
    for (capabilities, version) in [
        (&["base:1.0"][..], "1.0"),
        (&["base:1.1"], "1.1"),
        (&["base:1.0", "base:1.1"], "1.1"),
    ] {
        let bench = TestBench::default();
        let fake = Fake::new(capabilities);
        let answer = |_: &str| Answer::Inside("<data><a xmlns=\"urn:a\"/></data>");
        let mut client = fake.open(&bench, answer).await.expect("a session");
        assert_eq!((client.version(), client.session_id()), (version, Some(4)));
        for _ in 0..3 {
            let reply = client.perform(&bench.ctx(), &get()).await.expect("a reply");
            let data = reply.data().expect("data");
            assert_eq!(data.child("a").and_then(|a| a.namespace()), Some("urn:a"));
        }
        client.close(&bench.ctx()).await;
        assert_eq!(
            fake.asked().last().map(String::as_str),
            Some("close-session")
        );
    }
}

#[tokio::test]
async fn an_answer_in_chunks_of_one_byte_behind_a_notification_is_read() {
    let bench = TestBench::default();
    let answer = |_: &str| {
        let notification =
            "<notification xmlns='urn:ietf:params:xml:ns:netconf:notification:1.0'/>";
        let mut bytes = frame(Framing::Chunked, notification);
        for byte in reply(1, "<data>ä</data>").into_bytes() {
            bytes.extend([b"\n#1\n", &[byte][..]].concat());
        }
        bytes.extend(b"\n##\n");
        Answer::Bytes(bytes)
    };
    let fake = Fake::new(&["base:1.1"]);
    let mut client = fake.open(&bench, answer).await.expect("a session");
    let reply = client.perform(&bench.ctx(), &get()).await.expect("a reply");
    assert_eq!(reply.data().expect("data").content(), "ä");
}

#[tokio::test]
async fn characters_that_xml_cannot_have_are_shown_as_such_and_told() {
    let bench = TestBench::default();
    let answer = |_: &str| {
        let mut bytes = frame(Framing::EndOfMessage, &reply(1, "<data>caf\x08|</data>"));
        let bar = bytes.iter().position(|byte| *byte == b'|');
        bytes[bar.expect("it is there")] = 0xe9;
        bytes.push(0);
        Answer::Bytes(bytes)
    };
    let fake = Fake::new(&["base:1.0"]);
    let mut client = fake.open(&bench, answer).await.expect("a session");
    let reported = client.perform(&bench.ctx(), &get()).await.expect("a reply");
    assert_eq!(
        reported.data().expect("data").content(),
        "caf\u{fffd}\u{fffd}"
    );
    let message = bench.messages(Level::Warning);
    assert!(
        message.len() == 1 && message[0].contains("XML can have"),
        "{message:?}"
    );
    // Data behind the end of the message is not part of the next reply.
    let error = client
        .perform(&bench.ctx(), &get())
        .await
        .expect_err("it has the number 1");
    assert!(matches!(
        why(error),
        Interruption::OutOfStep("its answer is to another request")
    ));
}

#[tokio::test]
async fn an_answer_of_too_many_values_is_not_read_and_ends_the_session() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.1"]);
    let many = format!("<data>{}</data>", "<a/>".repeat(400));
    let bytes = frame(Framing::Chunked, &reply(1, &many));
    let answer = move |_: &str| Answer::Bytes(bytes.clone());
    let mut client = fake.open(&bench, answer).await.expect("a session");
    let error = client.perform(&bench.ctx(), &get()).await;
    let error = error.expect_err("it is too much");
    assert_eq!(why(error), Interruption::TooManyValues(1000));
    assert!(!client.is_usable());
}

#[tokio::test]
async fn after_any_doubt_the_session_is_not_used_again() {
    let framed = |text: &str| frame(Framing::Chunked, text);
    for (bytes, expected) in [
        (framed(&reply(2, "<ok/>")), "another request"),
        (framed(&reply(1, "")), "neither `ok` nor"),
        (framed("<hello/>"), "no `rpc-reply`"),
        (framed("<rpc-reply"), "no `rpc-reply`"),
        (b"\n#3\n\xff\xfe\xfd\n##\n".to_vec(), "no `rpc-reply`"),
        (b"<rpc-reply/>]]>]]>".to_vec(), "a chunk should begin"),
    ] {
        let bench = TestBench::default();
        let fake = Fake::new(&["base:1.1"]);
        let answer = move |_: &str| Answer::Bytes(bytes.clone());
        let mut client = fake.open(&bench, answer).await.expect("a session");
        let error = client
            .perform(&bench.ctx(), &get())
            .await
            .expect_err("a doubt");
        assert!(!error.is_transient());
        let Interruption::OutOfStep(problem) = why(error) else {
            panic!("it is no doubt")
        };
        assert!(problem.contains(expected), "{problem}");
        let error = client
            .perform(&bench.ctx(), &get())
            .await
            .expect_err("over");
        assert_eq!(why(error), Interruption::Broken);
        assert_eq!(fake.asked().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_at_once_and_the_session_goes_on() {
    let bench = TestBench::default();
    let mut answers = vec![OK, Answer::Refusal("in-use")];
    let answer = move |_: &str| answers.pop().unwrap_or(Answer::Silence);
    let fake = Fake::new(&["base:1.1", "candidate:1.0"]);
    let mut client = fake.open(&bench, answer).await.expect("a session");
    let started = Instant::now();
    let lock = Operation::lock(Datastore::Candidate);
    let error = client.perform(&bench.ctx(), &lock).await.expect_err("no");
    assert!(matches!(&error, Error::Refused(refused) if refused.status == "in-use"));
    client
        .perform(&bench.ctx(), &lock)
        .await
        .expect("the second time");
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_silent_device_is_given_up_and_what_may_have_changed_it_is_told() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.1", "candidate:1.0"]);
    let mut client = fake
        .open(&bench, |_| Answer::Silence)
        .await
        .expect("a session");
    let commit = Operation::commit(&Commit::default());
    let error = client
        .perform(&bench.ctx(), &commit)
        .await
        .expect_err("late");
    let text = error.to_string();
    assert!(
        text.contains("120 s: `commit` (`command_timeout`)"),
        "{text}"
    );
    assert!(
        text.contains("whether it took effect is not known"),
        "{text}"
    );
    // Closing the session with it takes no time.
    let started = Instant::now();
    client.close(&bench.ctx()).await;
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_left_in_its_middle_ends_the_session() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.1"]);
    let mut client = fake
        .open(&bench, |_| Answer::Silence)
        .await
        .expect("a session");
    let ctx = bench.ctx();
    let left = timeout(Duration::from_secs(1), client.perform(&ctx, &get())).await;
    assert!(left.is_err() && !client.is_usable());
}

#[tokio::test]
async fn a_read_that_lost_its_device_may_be_asked_again_and_a_commit_may_not() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.1", "candidate:1.0"]);
    for (operation, transient) in [
        (get(), true),
        (Operation::commit(&Commit::default()), false),
    ] {
        let mut client = fake.open(&bench, |_| Answer::End).await.expect("a session");
        let error = client
            .perform(&bench.ctx(), &operation)
            .await
            .expect_err("gone");
        assert_eq!(error.is_transient(), transient, "{error}");
        assert_eq!(why(error), Interruption::Lost);
    }
}

#[tokio::test]
async fn what_a_device_cannot_do_is_not_asked_for() {
    let bench = TestBench::default();
    let fake = Fake::new(&["base:1.0"]);
    let mut client = fake.open(&bench, |_| OK).await.expect("a session");
    let xpath = Filter::XPath {
        select: "/a".into(),
        namespaces: Vec::new(),
    };
    for (operation, capability) in [
        (Operation::commit(&Commit::default()), ":candidate"),
        (Operation::get(&xpath), ":xpath"),
        (Operation::validate(Datastore::Running), ":validate"),
    ] {
        let error = client
            .perform(&bench.ctx(), &operation)
            .await
            .expect_err("no");
        assert!(error.to_string().contains(capability), "{error}");
    }
    assert!(fake.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_speaks_something_else_is_told_what_it_says() {
    let bench = TestBench::default();
    for (first, then, expected) in [
        (
            "% Permission denied]]>]]>",
            Answer::Silence,
            "`% Permission denied`",
        ),
        (
            "Bye, canary of nobody",
            Answer::End,
            "closed the connection during the exchange",
        ),
        (
            "router#",
            Answer::Silence,
            "is NETCONF spoken on this port?",
        ),
        ("<hello>]]>]]>", Answer::Silence, "no well-formed XML"),
    ] {
        let error = Fake::says(&bench, first, then).await.to_string();
        assert!(error.contains(expected), "{error}");
    }
    let stranger = format!("{}]]>]]>", hello(&["base:3.0"]));
    let error = Fake::says(&bench, &stranger, Answer::Silence)
        .await
        .to_string();
    assert!(error.contains("neither base:1.0 nor base:1.1"), "{error}");
}

#[test]
fn every_setting_teaches_and_the_port_is_netconfs() {
    let schema = NetconfSession::schema();
    for (name, attribute) in schema.connection_info() {
        assert!(attribute.desc.len() > 20, "{name}: {}", attribute.desc);
    }
    let port = &schema.connection_info()["port"];
    assert_eq!(
        port.default.as_ref().and_then(|port| port.as_integer()),
        Some(830)
    );
}
