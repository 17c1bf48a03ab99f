//! Tests of connections: host keys, logins, and error messages.

use std::borrow::Cow;
use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::{Level, Value};
use russh::keys::ssh_key::LineEnding;
use russh::{MethodKind, Preferred, cipher, kex, mac};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket};

use super::Ssh;
use super::server::{InteractiveRound, PASSWORD, Server, ServerOptions, key};
use super::settings::Settings;
use crate::cli::fake::TestBench;
use crate::error::{HostKeyProblem, Phase};
use crate::{Error, Result, SshCli};

async fn connect(server: &Server, more: &[(&str, Value)]) -> Result<Ssh> {
    let bench = TestBench::default();
    let settings = Settings::read(&bench.ctx(), &server.info(more))?;
    Ssh::connect(&bench.ctx(), &settings, settings.deadline()).await
}

async fn refused(server: &Server, more: &[(&str, Value)]) -> (Error, String) {
    let error = connect(server, more).await.expect_err("refused");
    let text = error.to_string();
    assert!(
        !text.contains(PASSWORD) && !format!("{error:?}").contains(PASSWORD),
        "{text}"
    );
    (error, text)
}

/// Returns a port where nothing listens, and nothing can as long as the socket lives.
fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = "127.0.0.1:0".parse().expect("an address");
    socket.bind(any).expect("a free port");
    let port = socket.local_addr().expect("it is bound").port();
    (socket, port)
}

#[tokio::test]
async fn a_password_logs_in_and_the_version_is_known() {
    let server = Server::start(ServerOptions::default()).await;
    let ssh = connect(&server, &[]).await.expect("let in");
    assert!(ssh.version().starts_with("SSH-2.0-"), "{}", ssh.version());
    ssh.close().await;
    assert_eq!((server.connections(), server.logins()), (1, 1));
}

#[tokio::test]
async fn a_wrong_password_is_tried_once_and_the_error_lists_the_offered_methods() {
    let server = Server::start(ServerOptions {
        methods: &[
            MethodKind::PublicKey,
            MethodKind::Password,
            MethodKind::KeyboardInteractive,
        ],
        ..ServerOptions::default()
    })
    .await;
    let (error, text) = refused(&server, &[("password", Value::from("wrong-canary"))]).await;
    assert!(matches!(error, Error::Authentication(_)) && !error.is_transient());
    assert!(
        text.contains("refuses the login of `admin` (password)"),
        "{text}"
    );
    assert!(
        text.contains("it offers publickey, password, keyboard-interactive"),
        "{text}"
    );
    assert!(text.contains("check `user` and `password`"), "{text}");
    assert_eq!(server.logins(), 1);
}

#[tokio::test]
async fn a_single_hidden_question_is_answered_with_the_password() {
    let options = || ServerOptions {
        methods: &[MethodKind::KeyboardInteractive],
        ..ServerOptions::default()
    };
    let server = Server::start(options()).await;
    connect(&server, &[]).await.expect("let in");
    let server = Server::start(ServerOptions {
        rounds: &[("", &[("Token: ", false), ("Pin: ", false)])],
        ..options()
    })
    .await;
    let (_, text) = refused(&server, &[]).await;
    assert!(text.contains("it asks `Token:`"), "{text}");
    assert_eq!(server.logins(), 0);
}

#[tokio::test]
async fn questions_after_the_password_are_quoted_with_advice() {
    let options = |rounds| ServerOptions {
        methods: &[MethodKind::KeyboardInteractive],
        rounds,
        ..ServerOptions::default()
    };
    // Rounds without a question only carry instructions.
    let instructions_only: &[InteractiveRound] = &[
        ("Work is watched.", &[]),
        ("", &[("Password: ", false)]),
        ("Welcome.", &[]),
    ];
    let server = Server::start(options(instructions_only)).await;
    connect(&server, &[]).await.expect("let in");

    let second: &[InteractiveRound] = &[
        ("", &[("Password: ", false)]),
        (
            "Duo two-factor login",
            &[("Passcode or option (1-2): ", true)],
        ),
    ];
    let expired: &[InteractiveRound] = &[
        ("", &[("Password: ", false)]),
        ("Your password has expired.", &[]),
        ("", &[("New password: ", false), ("Again: ", false)]),
    ];
    let cases: [(_, &[&str]); 2] = [
        (
            second,
            &[
                "it says `Duo two-factor login`",
                "it asks `Passcode or option (1-2):` behind the password",
                "an account without a second factor",
            ],
        ),
        (
            expired,
            &[
                "it says `Your password has expired.`",
                "it took the password and wants a new one (`New password:`)",
                "log in by hand",
            ],
        ),
    ];
    for (rounds, expected) in cases {
        let server = Server::start(options(rounds)).await;
        let (error, text) = refused(&server, &[]).await;
        assert!(!error.is_transient());
        assert!(
            expected.iter().all(|expected| text.contains(expected)),
            "{text}"
        );
        assert_eq!((server.connections(), server.logins()), (1, 1));
    }
}

#[tokio::test]
async fn a_host_that_does_not_answer_a_password_times_out_and_may_want_a_new_one() {
    let server = Server::start(ServerOptions {
        is_silent: true,
        ..ServerOptions::default()
    })
    .await;
    let (error, text) = refused(&server, &[("timeout", Value::Float(3.0))]).await;
    assert!(!error.is_transient(), "{text}");
    assert!(text.contains("during authentication"), "{text}");
    assert!(text.contains("it wants a new password"), "{text}");
    assert_eq!(server.logins(), 1);
}

#[tokio::test]
async fn a_connection_lost_during_a_login_is_no_refusal() {
    let server = Server::start(ServerOptions {
        drops_at_password: true,
        ..ServerOptions::default()
    })
    .await;
    let (error, text) = refused(&server, &[]).await;
    let phase = Phase::Authentication;
    assert!(
        matches!(&error, Error::Closed { phase: at, .. } if *at == phase) && error.is_transient(),
        "{text}"
    );
    // Some hosts refuse logins in this way, and too many logins could lock the account.
    let bench = TestBench::default();
    let error = SshCli::new()
        .open(&bench.ctx(), &server.info(&[]))
        .await
        .expect_err("cut");
    let text = error.to_string();
    assert!(matches!(error, Error::RetryBudgetSpent(_)), "{text}");
    assert!(text.contains("3 logins of this run"), "{text}");
    assert!(
        text.contains("closed the connection during authentication"),
        "{text}"
    );
    assert_eq!(server.logins(), 1 + 3);
}

#[tokio::test]
async fn a_long_banner_is_accepted_and_a_refusal_quotes_its_beginning() {
    static BANNER: LazyLock<String> = LazyLock::new(|| {
        let lines = (1..=50).map(|line| format!("switch# line {line}: authorized use only\r\n"));
        lines.collect()
    });
    let server = Server::start(ServerOptions {
        banner: Some(&BANNER),
        ..ServerOptions::default()
    })
    .await;
    connect(&server, &[]).await.expect("let in");
    let (_, text) = refused(&server, &[("password", Value::from("wrong-canary"))]).await;
    assert!(text.contains("saying `switch# line 1: "), "{text}");
    assert!(text.contains("check `user` and `password`"), "{text}");
    assert!(!text.contains('\n') && text.len() < 800, "{text}");
}

#[tokio::test]
async fn the_right_private_key_logs_in_and_another_does_not() {
    let pair = key(9);
    let server = Server::start(ServerOptions {
        key: Some(pair.public_key().clone()),
        ..ServerOptions::default()
    })
    .await;
    let key_info = |seed| {
        let text = key(seed)
            .to_openssh(LineEnding::LF)
            .expect("written")
            .to_string();
        [
            ("private_key", Value::from(text)),
            ("password", Value::Undef),
        ]
    };
    connect(&server, &key_info(9)).await.expect("let in");
    let (_, text) = refused(&server, &key_info(8)).await;
    assert!(text.contains("private key SHA256:"), "{text}");
}

#[tokio::test]
async fn an_unknown_host_is_refused_with_the_line_to_add_to_known_hosts() {
    let server = Server::start(ServerOptions::default()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known_hosts");
    let more = [
        ("verify_hosts", Value::from(true)),
        ("known_hosts_file", Value::from(file.display().to_string())),
    ];
    let (error, text) = refused(&server, &more).await;
    assert!(!error.is_transient() && text.contains("SHA256:"), "{text}");
    assert!(text.contains("`trust_on_first_use: true`") && text.contains("`verify_hosts: false`"));
    assert!(text.contains(&server.known_hosts_line()), "{text}");
    assert_eq!(server.logins(), 0);
    fs::write(&file, server.known_hosts_line()).expect("written");
    connect(&server, &more).await.expect("known now");
}

#[tokio::test]
async fn the_first_key_is_recorded_on_request_and_a_changed_one_is_refused() {
    let server = Server::start(ServerOptions::default()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known_hosts");
    let more = |first_use| {
        [
            ("verify_hosts", Value::from(true)),
            ("trust_on_first_use", Value::from(first_use)),
            ("known_hosts_file", Value::from(file.display().to_string())),
        ]
    };
    connect(&server, &more(true)).await.expect("remembered");
    connect(&server, &more(false)).await.expect("known");
    let other = super::known_hosts::known_hosts_line("127.0.0.1", server.port, key(2).public_key());
    fs::write(&file, format!("# devices\n{other}\n")).expect("written");
    let (error, text) = refused(&server, &more(true)).await;
    let Error::HostKey(problem) = error else {
        panic!("another error: {error}")
    };
    assert!(
        matches!(*problem, HostKeyProblem::Changed { line: 2, .. }),
        "{text}"
    );
    assert!(
        text.contains("known_hosts:2 has ssh-ed25519 SHA256:"),
        "{text}"
    );
    fs::write(
        &file,
        format!(
            "@revoked * {}\n",
            server.host_key.to_openssh().expect("a key")
        ),
    )
    .expect("written");
    let (_, text) = refused(&server, &more(true)).await;
    assert!(text.contains("is revoked at"), "{text}");
    assert_eq!(server.logins(), 2);
}

#[tokio::test]
async fn without_verification_any_key_is_accepted_with_a_warning_unless_it_is_revoked() {
    let server = Server::start(ServerOptions::default()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known_hosts");
    let more = [("known_hosts_file", Value::from(file.display().to_string()))];
    let other = super::known_hosts::known_hosts_line("127.0.0.1", server.port, key(2).public_key());
    fs::write(&file, format!("{other}\n")).expect("written");
    let bench = TestBench::default();
    let settings = Settings::read(&bench.ctx(), &server.info(&more)).expect("settings");
    let ssh = Ssh::connect(&bench.ctx(), &settings, settings.deadline()).await;
    ssh.expect("let in").close().await;
    let warnings = bench.messages(Level::Warning);
    assert!(
        warnings[0].contains("is not verified (`verify_hosts: false`)"),
        "{warnings:?}"
    );
    let revoked = server.host_key.to_openssh().expect("a key");
    fs::write(&file, format!("@revoked * {revoked}\n")).expect("written");
    let (_, text) = refused(&server, &more).await;
    assert!(text.contains("is revoked at"), "{text}");
    assert_eq!(server.logins(), 1);
}

#[tokio::test]
async fn weak_algorithms_are_refused_by_name_and_allowed_on_request() {
    let server = Server::start(ServerOptions {
        preferred: Preferred {
            kex: Cow::Borrowed(&[kex::DH_G14_SHA1]),
            cipher: Cow::Borrowed(&[cipher::AES_128_CBC]),
            mac: Cow::Borrowed(&[mac::HMAC_SHA1]),
            ..Preferred::default()
        },
        ..ServerOptions::default()
    })
    .await;
    let (error, text) = refused(&server, &[]).await;
    assert!(
        matches!(error, Error::Negotiation { .. }) && !error.is_transient(),
        "{text}"
    );
    assert!(
        text.contains("it offers diffie-hellman-group14-sha1"),
        "{text}"
    );
    assert!(text.contains("`ssh_algorithms: legacy`"), "{text}");
    connect(&server, &[("ssh_algorithms", Value::from("legacy"))])
        .await
        .expect("allowed");
}

#[tokio::test]
async fn a_silent_host_is_abandoned_at_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let silent = Server::listen(
        TcpListener::bind("127.0.0.1:0").await.expect("a port"),
        ServerOptions::default(),
    );
    let port = i64::from(listener.local_addr().expect("an address").port());
    let more = [("port", Value::from(port)), ("timeout", Value::Float(0.2))];
    let (error, text) = refused(&silent, &more).await;
    assert!(
        matches!(
            error,
            Error::TimedOut {
                phase: Phase::KeyExchange,
                ..
            }
        ),
        "{text}"
    );
    assert!(error.is_transient());
}

#[tokio::test]
async fn another_protocol_and_a_closed_port_have_different_errors() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = i64::from(listener.local_addr().expect("an address").port());
    let server = Server::start(ServerOptions::default()).await;
    let web = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.shutdown().await;
    });
    let more = [("port", Value::from(port)), ("timeout", Value::from(1))];
    let (error, text) = refused(&server, &more).await;
    assert!(
        text.contains("as a web server does: check `host` and `port`"),
        "{text}"
    );
    assert!(!error.is_transient());
    web.await.expect("no panic");
    let (_held, port) = closed_port();
    let more = [("port", Value::from(i64::from(port)))];
    let (error, text) = refused(&server, &more).await;
    assert!(
        matches!(error, Error::Unreachable { .. }) && error.is_transient(),
        "{text}"
    );
    assert!(text.contains("connection refused"), "{text}");
}

#[tokio::test]
async fn an_invalid_name_is_an_error_at_once() {
    let server = Server::start(ServerOptions::default()).await;
    let (error, text) = refused(&server, &[("host", Value::from("no..where"))]).await;
    assert!(
        matches!(error, Error::Resolve { .. }) && !error.is_transient(),
        "{text}"
    );
    let info = server.info(&[("host", Value::from("[::1]"))]);
    let settings = Settings::read(&TestBench::default().ctx(), &info).expect("settings");
    assert_eq!(settings.peer(), format!("[::1]:{}", server.port));
    assert_eq!(settings.timeout, Duration::from_secs(5));
}

#[tokio::test]
async fn an_unreachable_jump_host_is_named_with_its_setting() {
    let target = Server::start(ServerOptions::default()).await;
    let (_held, port) = closed_port();
    let down = format!("127.0.0.1:{port}");
    let (error, text) = refused(&target, &[("proxyjump", Value::from(down.as_str()))]).await;
    assert!(
        matches!(&error, Error::JumpHostUnreachable { peer, .. } if *peer == down)
            && error.is_transient(),
        "{text}"
    );
    assert!(
        text.contains("connection refused") && text.contains("check `proxyjump`"),
        "{text}"
    );
    let (error, text) = refused(&target, &[("proxyjump", Value::from("no..where"))]).await;
    assert!(
        matches!(error, Error::JumpHostUnreachable { .. }) && !error.is_transient(),
        "{text}"
    );
}
