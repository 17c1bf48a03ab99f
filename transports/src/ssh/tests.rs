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
use super::server::{How, PASSWORD, Round, Server, key};
use super::settings::Settings;
use crate::cli::fake::Bench;
use crate::error::{HostKeyProblem, Phase};
use crate::{Error, Result, SshCli};

async fn connect(server: &Server, more: &[(&str, Value)]) -> Result<Ssh> {
    let bench = Bench::default();
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
async fn a_password_lets_in_and_the_version_is_known() {
    let server = Server::start(How::default()).await;
    let ssh = connect(&server, &[]).await.expect("let in");
    assert!(ssh.version().starts_with("SSH-2.0-"), "{}", ssh.version());
    ssh.close().await;
    assert_eq!((server.connections(), server.logins()), (1, 1));
}

#[tokio::test]
async fn a_wrong_password_is_tried_once_and_told_with_what_the_host_offers() {
    let server = Server::start(How {
        methods: &[
            MethodKind::PublicKey,
            MethodKind::Password,
            MethodKind::KeyboardInteractive,
        ],
        ..How::default()
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
    let how = || How {
        methods: &[MethodKind::KeyboardInteractive],
        ..How::default()
    };
    let server = Server::start(how()).await;
    connect(&server, &[]).await.expect("let in");
    let server = Server::start(How {
        rounds: &[("", &[("Token: ", false), ("Pin: ", false)])],
        ..how()
    })
    .await;
    let (_, text) = refused(&server, &[]).await;
    assert!(text.contains("it asks `Token:`"), "{text}");
    assert_eq!(server.logins(), 0);
}

#[tokio::test]
async fn questions_behind_the_password_are_named_with_what_to_do() {
    let how = |rounds| How {
        methods: &[MethodKind::KeyboardInteractive],
        rounds,
        ..How::default()
    };
    // Rounds without a question only carry instructions.
    let telling: &[Round] = &[
        ("Work is watched.", &[]),
        ("", &[("Password: ", false)]),
        ("Welcome.", &[]),
    ];
    let server = Server::start(how(telling)).await;
    connect(&server, &[]).await.expect("let in");

    let second: &[Round] = &[
        ("", &[("Password: ", false)]),
        (
            "Duo two-factor login",
            &[("Passcode or option (1-2): ", true)],
        ),
    ];
    let expired: &[Round] = &[
        ("", &[("Password: ", false)]),
        ("Your password has expired.", &[]),
        ("", &[("New password: ", false), ("Again: ", false)]),
    ];
    let says: [(_, &[&str]); 2] = [
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
    for (rounds, words) in says {
        let server = Server::start(how(rounds)).await;
        let (error, text) = refused(&server, &[]).await;
        assert!(!error.is_transient());
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
        assert_eq!((server.connections(), server.logins()), (1, 1));
    }
}

#[tokio::test]
async fn a_host_that_does_not_answer_a_password_is_given_up_and_may_want_a_new_one() {
    let server = Server::start(How {
        is_silent: true,
        ..How::default()
    })
    .await;
    let (error, text) = refused(&server, &[("timeout", Value::Float(3.0))]).await;
    assert!(!error.is_transient(), "{text}");
    assert!(text.contains("during authentication"), "{text}");
    assert!(text.contains("it wants a new password"), "{text}");
    assert_eq!(server.logins(), 1);
}

#[tokio::test]
async fn a_connection_that_is_cut_amid_a_login_is_an_interruption_and_no_refusal() {
    let server = Server::start(How {
        is_cut: true,
        ..How::default()
    })
    .await;
    let (error, text) = refused(&server, &[]).await;
    let phase = Phase::Authentication;
    assert!(
        matches!(&error, Error::Closed { phase: at, .. } if *at == phase) && error.is_transient(),
        "{text}"
    );
    // Some hosts refuse logins in this way, and too many logins could lock the account.
    let bench = Bench::default();
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
async fn a_long_banner_is_no_obstacle_and_a_refusal_quotes_its_beginning() {
    static BANNER: LazyLock<String> = LazyLock::new(|| {
        let lines = (1..=50).map(|line| format!("switch# line {line}: authorized use only\r\n"));
        lines.collect()
    });
    let server = Server::start(How {
        banner: Some(&BANNER),
        ..How::default()
    })
    .await;
    connect(&server, &[]).await.expect("let in");
    let (_, text) = refused(&server, &[("password", Value::from("wrong-canary"))]).await;
    assert!(text.contains("saying `switch# line 1: "), "{text}");
    assert!(text.contains("check `user` and `password`"), "{text}");
    assert!(!text.contains('\n') && text.len() < 800, "{text}");
}

#[tokio::test]
async fn a_private_key_lets_in_and_another_does_not() {
    let pair = key(9);
    let server = Server::start(How {
        key: Some(pair.public_key().clone()),
        ..How::default()
    })
    .await;
    let given = |seed| {
        let text = key(seed)
            .to_openssh(LineEnding::LF)
            .expect("written")
            .to_string();
        [
            ("private_key", Value::from(text)),
            ("password", Value::Undef),
        ]
    };
    connect(&server, &given(9)).await.expect("let in");
    let (_, text) = refused(&server, &given(8)).await;
    assert!(text.contains("private key SHA256:"), "{text}");
}

#[tokio::test]
async fn an_unknown_host_is_refused_with_the_line_that_would_make_it_known() {
    let server = Server::start(How::default()).await;
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
async fn the_first_key_is_remembered_where_asked_and_a_changed_one_refused() {
    let server = Server::start(How::default()).await;
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
    let other = super::known_hosts::line("127.0.0.1", server.port, key(2).public_key());
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
async fn any_key_will_do_where_that_is_asked_for_but_it_is_warned_about_and_none_that_is_revoked() {
    let server = Server::start(How::default()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known_hosts");
    let more = [("known_hosts_file", Value::from(file.display().to_string()))];
    let other = super::known_hosts::line("127.0.0.1", server.port, key(2).public_key());
    fs::write(&file, format!("{other}\n")).expect("written");
    let bench = Bench::default();
    let settings = Settings::read(&bench.ctx(), &server.info(&more)).expect("settings");
    let ssh = Ssh::connect(&bench.ctx(), &settings, settings.deadline()).await;
    ssh.expect("let in").close().await;
    let warnings = bench.said(Level::Warning);
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
    let server = Server::start(How {
        preferred: Preferred {
            kex: Cow::Borrowed(&[kex::DH_G14_SHA1]),
            cipher: Cow::Borrowed(&[cipher::AES_128_CBC]),
            mac: Cow::Borrowed(&[mac::HMAC_SHA1]),
            ..Preferred::default()
        },
        ..How::default()
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
async fn a_host_that_says_nothing_is_given_up_at_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let silent = Server::listen(
        TcpListener::bind("127.0.0.1:0").await.expect("a port"),
        How::default(),
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
async fn another_protocol_and_a_closed_port_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = i64::from(listener.local_addr().expect("an address").port());
    let server = Server::start(How::default()).await;
    let web = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.shutdown().await;
    });
    let more = [("port", Value::from(port)), ("timeout", Value::from(1))];
    let (_, text) = refused(&server, &more).await;
    assert!(text.contains("during key exchange"), "{text}");
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
async fn a_name_that_is_none_is_told_at_once() {
    let server = Server::start(How::default()).await;
    let (error, text) = refused(&server, &[("host", Value::from("no..where"))]).await;
    assert!(
        matches!(error, Error::Resolve { .. }) && !error.is_transient(),
        "{text}"
    );
    let info = server.info(&[("host", Value::from("[::1]"))]);
    let settings = Settings::read(&Bench::default().ctx(), &info).expect("settings");
    assert_eq!(settings.peer(), format!("[::1]:{}", server.port));
    assert_eq!(settings.timeout, Duration::from_secs(5));
}

#[tokio::test]
async fn a_host_on_the_way_that_is_down_is_named_with_the_setting_that_names_it() {
    let target = Server::start(How::default()).await;
    let (_held, port) = closed_port();
    let down = format!("127.0.0.1:{port}");
    let (error, text) = refused(&target, &[("proxyjump", Value::from(down.as_str()))]).await;
    assert!(
        matches!(&error, Error::OnTheWay { peer, .. } if *peer == down) && error.is_transient(),
        "{text}"
    );
    assert!(
        text.contains("connection refused") && text.contains("check `proxyjump`"),
        "{text}"
    );
    let (error, text) = refused(&target, &[("proxyjump", Value::from("no..where"))]).await;
    assert!(
        matches!(error, Error::OnTheWay { .. }) && !error.is_transient(),
        "{text}"
    );
}
