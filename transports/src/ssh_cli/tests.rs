//! End-to-end tests of sessions, over SSH on the loopback.

use std::sync::atomic::{AtomicUsize, Ordering};

use devgate_schemas::Value;

use super::SshCli;
use crate::cli::fake::{Fake, FakeStep, TestBench, test_dialect, write};
use crate::error::Interruption;
use crate::ssh::server::{Server, ServerOptions};
use crate::{CommandLine, Connect, Error, Line, Transport};

async fn session(server: &Server, bench: &TestBench) -> super::SshCliSession {
    let cli = SshCli::with_dialect(test_dialect());
    cli.open(&bench.ctx(), &server.info(&[]))
        .await
        .expect("a session")
}

#[tokio::test]
async fn a_session_runs_commands_tells_facts_and_says_goodbye() {
    let device = || Fake::new("r1#").on("show x", &[FakeStep::Lines(1_000)]);
    let server = Server::start(ServerOptions {
        device,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let ctx = bench.ctx();
    let cli = SshCli::with_dialect(test_dialect());
    let transport = cli
        .connect(&ctx, &server.info(&[]))
        .await
        .expect("a session");
    transport.verify(&ctx).await.expect("alive");
    let facts = transport.facts(&ctx).await.expect("facts");
    let version = facts
        .get("ssh.version")
        .and_then(Value::as_str)
        .expect("a version");
    assert!(version.starts_with("SSH-2.0-"), "{version}");
    let over = ctx.with_transport(transport.as_ref());
    let session = over
        .transport::<super::SshCliSession>()
        .expect("an ssh_cli session");
    let output = session.exec(&over, "show x").await.expect("an output");
    assert_eq!(output.lines().count(), 1_000);
    transport.close(&ctx).await;
    assert_eq!(server.connections(), 1);
    while server.disconnects() == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn commands_that_are_asked_at_once_take_turns() {
    let device = || {
        Fake::new("r1#")
            .on("show x", &[write("x\r\n")])
            .on("show y", &[write("y\r\n")])
    };
    let server = Server::start(ServerOptions {
        device,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (session(&server, &bench).await, bench.ctx());
    for _ in 0..20 {
        let (x, y) = tokio::join!(session.exec(&ctx, "show x"), session.exec(&ctx, "show y"));
        assert_eq!(
            (x.expect("x").as_str(), y.expect("y").as_str()),
            ("x\n", "y\n")
        );
    }
}

/// Returns a device that loses its first connection in the middle of some commands.
fn forgetful() -> Fake {
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    let fake = Fake::new("r1#").on("configure terminal", &[FakeStep::Prompt("r1(config)#")]);
    if SESSIONS.fetch_add(1, Ordering::Relaxed) == 0 {
        fake.on("show x", &[write("half an ans"), FakeStep::Close])
    } else {
        fake.on("show x", &[write("whole\r\n")])
            .on("fatal", &[FakeStep::Close])
    }
}

#[tokio::test]
async fn what_only_reads_is_asked_again_and_what_changes_is_not() {
    let server = Server::start(ServerOptions {
        device: forgetful,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (session(&server, &bench).await, bench.ctx());
    assert_eq!(
        session.exec(&ctx, "show x").await.expect("an output"),
        "whole\n"
    );
    assert_eq!(server.connections(), 2);
    let notices = bench.notices();
    assert!(
        notices[0].contains("could not run `show x` on 127.0.0.1"),
        "{notices:?}"
    );

    let error = session
        .exec_once(&ctx, &Line::new("fatal"))
        .await
        .expect_err("lost");
    let Error::Interrupted(interrupted) = error else {
        panic!("another error: {error}")
    };
    assert_eq!(interrupted.why, Interruption::Lost);
    assert_eq!(server.connections(), 2);

    let lines = [Line::new("fatal")];
    let error = session
        .configure(&ctx, &lines)
        .await
        .expect_err("lost")
        .to_string();
    assert!(error.contains("not sent again"), "{error}");
    assert_eq!(server.connections(), 3);
    assert_eq!(
        session.exec(&ctx, "show x").await.expect("an output"),
        "whole\n"
    );
}

#[tokio::test]
async fn a_refused_line_closes_the_session_and_what_comes_next_has_another() {
    let device = || {
        Fake::new("r1#")
            .on("configure terminal", &[FakeStep::Prompt("r1(config)#")])
            .on("show x", &[write("x\r\n")])
    };
    let server = Server::start(ServerOptions {
        device,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (session(&server, &bench).await, bench.ctx());
    let lines = [Line::new("nonsense"), Line::new("hostname r2")];
    let error = session.configure(&ctx, &lines).await.expect_err("refused");
    assert!(matches!(error, Error::Configuration(_)), "{error}");
    while server.disconnects() == 0 {
        tokio::task::yield_now().await;
    }
    let output = session.exec(&ctx, "show x").await.expect("an output");
    assert_eq!((output.as_str(), server.connections()), ("x\n", 2));
}

/// Returns a device with a candidate configuration.
fn committing() -> Fake {
    let config = [FakeStep::Prompt("r1(config)#")];
    Fake::new("r1#")
        .on("configure terminal", &config)
        .on("end", &[FakeStep::Prompt("r1#")])
        .on("hostname r2", &[])
        .on("commit confirmed 60", &[])
        .on("commit", &[])
}

/// Returns such a device, which closes every session but the first before its prompt.
fn cut_off() -> Fake {
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    match SESSIONS.fetch_add(1, Ordering::Relaxed) {
        0 => committing(),
        _ => committing().greeting(&[FakeStep::Close]),
    }
}

async fn committing_session(server: &Server, bench: &TestBench) -> super::SshCliSession {
    let mut dialect = test_dialect();
    let commit = serde_json::json!({
        "commit": "commit", "confirmed": "commit confirmed {seconds}", "confirm": "commit", "discard": "abort",
    });
    dialect.commit = Some(serde_json::from_value(commit).expect("a commit"));
    let cli = SshCli::with_dialect(dialect);
    cli.open(&bench.ctx(), &server.info(&[]))
        .await
        .expect("a session")
}

#[tokio::test]
async fn a_commit_is_confirmed_after_a_second_login_by_the_same_way() {
    let server = Server::start(ServerOptions {
        device: committing,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (committing_session(&server, &bench).await, bench.ctx());
    for change in 1..3 {
        let lines = [Line::new("hostname r2")];
        session.configure(&ctx, &lines).await.expect("confirmed");
        assert_eq!(server.connections(), 1 + change);
    }
}

#[tokio::test]
async fn until_an_unconfirmed_change_is_rolled_back_nothing_more_is_committed() {
    let server = Server::start(ServerOptions {
        device: cut_off,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (committing_session(&server, &bench).await, bench.ctx());
    let lines = [Line::new("hostname r2")];
    let error = session.configure(&ctx, &lines).await.expect_err("unproven");
    assert!(matches!(error, Error::UnconfirmedChange(_)), "{error}");
    let again = session.configure(&ctx, &lines).await.expect_err("refused");
    let text = again.to_string();
    assert!(
        text.contains("was not confirmed, and rolls it back"),
        "{text}"
    );
    assert!(text.contains("nothing was sent"), "{text}");
    session.verify(&ctx).await.expect("the session is alive");
}

#[tokio::test]
async fn a_device_that_closes_after_each_command_is_logged_in_to_three_times_and_no_more() {
    let device = || Fake::new("r1#").on("show x", &[write("half an ans"), FakeStep::Close]);
    let server = Server::start(ServerOptions {
        device,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::default();
    let (session, ctx) = (session(&server, &bench).await, bench.ctx());
    let error = session.exec(&ctx, "show x").await.expect_err("lost");
    let text = error.to_string();
    assert!(matches!(error, Error::RetryBudgetSpent(_)), "{text}");
    assert!(text.contains("3 logins of this run"), "{text}");
    assert_eq!(error.partial_output(), Some("half an ans"));
    assert_eq!(server.connections(), 3);
    let error = session.exec(&ctx, "show y").await.expect_err("given up");
    assert!(
        error.to_string().contains("3 logins of this run"),
        "{error}"
    );
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_again_keeps_what_had_arrived() {
    let device = || Fake::new("r1#").on("show x", &[write("half an ans"), FakeStep::Close]);
    let server = Server::start(ServerOptions {
        device,
        ..ServerOptions::default()
    })
    .await;
    let bench = TestBench::with_limit(2);
    let session = session(&server, &bench).await;
    // The open connection remains; no other one is accepted.
    drop(server);
    let error = session
        .exec(&bench.ctx(), "show x")
        .await
        .expect_err("gone");
    assert!(matches!(error, Error::RetryBudgetSpent(_)), "{error}");
    assert_eq!(error.partial_output(), Some("half an ans"));
}

#[test]
fn every_setting_teaches() {
    let cli = SshCli::new();
    assert_eq!(cli.schema().name(), "ssh_cli");
    for (name, attribute) in cli.schema().connection_info() {
        assert!(attribute.desc.len() > 20, "{name}: {}", attribute.desc);
    }
    let secrets: Vec<&str> = cli
        .schema()
        .connection_info()
        .iter()
        .filter(|(_, attribute)| attribute.sensitive)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        secrets,
        [
            "password",
            "private_key",
            "private_key_passphrase",
            "line_password",
            "enable_password"
        ]
    );
}
