//! Tests of programs on hosts, over SSH on the loopback.

use std::time::Duration;

use devgate_schemas::{Hash, Level, RawConnectionInfo, Value};
use tokio::time::timeout;

use super::{Exec, Exit, HostSettings, Output, Piece, SshHost};
use crate::cli::fake::TestBench;
use crate::ssh::server::{PASSWORD, Server, ServerOptions};
use crate::{Environment, Error};

/// Reads settings as the gateway does. Also returns the messages.
fn read(raw: &[(&str, Value)]) -> (Result<HostSettings, String>, Vec<(Level, String)>) {
    let raw: Hash = raw
        .iter()
        .map(|(key, value)| (*key, value.clone()))
        .collect();
    let mut reported = Vec::new();
    let info = HostSettings::schema().read(RawConnectionInfo::new(raw), |level, text| {
        reported.push((level, text))
    });
    let settings = info.map_err(|error| error.to_string()).and_then(|info| {
        HostSettings::read(&info, &Environment::default(), |level, text| {
            reported.push((level, text));
        })
        .map_err(|error| error.to_string())
    });
    (settings, reported)
}

fn settings(server: &Server, more: &[(&str, Value)]) -> HostSettings {
    let mut raw = vec![
        ("host", Value::from("127.0.0.1")),
        ("port", Value::from(i64::from(server.port))),
        ("user", Value::from("runner")),
        ("password", Value::from(PASSWORD)),
        ("host-key-check", Value::from(false)),
    ];
    raw.extend(more.iter().cloned());
    let (settings, reported) = read(&raw);
    assert_eq!(reported, []);
    settings.expect("settings")
}

async fn host(server: &Server) -> SshHost {
    SshHost::connect(&TestBench::default().ctx(), &settings(server, &[]))
        .await
        .expect("a connection")
}

/// Returns everything from a program: standard output, standard error, its end.
async fn drained(output: &mut Output) -> Result<(Vec<u8>, Vec<u8>, Exit), Error> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match output.next().await? {
            Piece::Stdout(bytes) => stdout.extend_from_slice(&bytes),
            Piece::Stderr(bytes) => stderr.extend_from_slice(&bytes),
            Piece::Ended(_) => {}
            Piece::Exit(exit) => return Ok((stdout, stderr, exit)),
        }
    }
}

async fn run(host: &SshHost, command: &str) -> (String, String, Exit) {
    let mut exec = host.exec(command).await.expect("started");
    let (stdout, stderr, exit) = drained(&mut exec.output).await.expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(stdout), text(stderr), exit)
}

#[tokio::test]
async fn programs_read_write_and_end() {
    let server = Server::start(ServerOptions::default()).await;
    let host = host(&server).await;
    let Exec {
        mut stdin,
        mut output,
    } = host.exec("cat").await.expect("started");
    let sent: Vec<u8> = (0..5_000_000_u32).map(|byte| byte as u8).collect();
    let writing = async {
        stdin.write_all(sent.clone()).await.expect("read");
        drop(stdin);
    };
    let ((), read) = tokio::join!(writing, drained(&mut output));
    let (stdout, stderr, exit) = read.expect("an end");
    assert!(stdout == sent && stderr.is_empty() && exit == Exit::Code(0));
    let ended = |exit| (String::new(), "bye\n".to_owned(), exit);
    assert_eq!(run(&host, "exit 7").await, ended(Exit::Code(7)));
    let signalled = run(&host, "signal").await;
    assert_eq!(signalled.2, Exit::Signal("TERM".into()));
    // Output after the exit status belongs to the program, too.
    let late = run(&host, "late").await;
    assert_eq!((late.0.as_str(), late.2), ("late\n", Exit::Code(3)));
    assert_eq!(server.connections(), 1);
    host.close().await;
}

#[tokio::test]
async fn a_program_that_dropbear_cuts_off_is_started_again_and_a_refused_one_is_not() {
    let server = Server::start(ServerOptions {
        is_dropbear: true,
        ..ServerOptions::default()
    })
    .await;
    let host = host(&server).await;
    let ended = (String::new(), "bye\n".to_owned(), Exit::Code(7));
    assert_eq!(run(&host, "exit 7").await, ended);
    let refused = host.exec("refused").await.expect_err("refused");
    assert!(matches!(refused, Error::ChannelRefused { .. }), "{refused}");
    assert_eq!(server.connections(), 1);
    host.close().await;
}

#[tokio::test]
async fn an_unread_program_does_not_block_others() {
    let server = Server::start(ServerOptions::default()).await;
    let host = host(&server).await;
    let mut flood = host.exec("flood").await.expect("started");
    let mut hang = host.exec("hang").await.expect("started");
    let (_, _, exit) = run(&host, "count 10000").await;
    assert_eq!(exit, Exit::Code(0));
    // Unread output is kept only up to a limit.
    let error = loop {
        match flood.output.next().await {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Unread { .. }), "{error}");
    // A program that does not read its input blocks only its own writer.
    let writing = hang.stdin.write_all(vec![0; 50_000_000]);
    assert!(
        timeout(Duration::from_millis(200), writing).await.is_err(),
        "the window is closed"
    );
    drop(hang);
    assert_eq!(run(&host, "exit 0").await.2, Exit::Code(0));
}

#[tokio::test]
async fn a_full_connection_is_an_error_until_a_program_ends() {
    let server = Server::start(ServerOptions {
        max_channels: 2,
        ..ServerOptions::default()
    })
    .await;
    let host = host(&server).await;
    let first = host.exec("hang").await.expect("started");
    let _second = host.exec("hang").await.expect("started");
    let error = host.exec("exit 0").await.expect_err("full");
    assert!(matches!(error, Error::NoMoreSessions { .. }), "{error}");
    assert!(!error.is_transient());
    drop(first);
    let again = async {
        while host.exec("exit 0").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), again).await.expect("room");
}

#[tokio::test]
async fn a_refused_program_is_an_error() {
    let server = Server::start(ServerOptions::default()).await;
    let host = host(&server).await;
    let mut exec = host.exec("refused").await.expect("sent");
    let error = drained(&mut exec.output).await.expect_err("refused");
    assert!(matches!(error, Error::ChannelRefused { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("refuses a program"), "{text}");
}

#[tokio::test]
async fn a_lost_connection_ends_every_program_on_it_with_an_error() {
    let server = Server::start(ServerOptions::default()).await;
    let host = host(&server).await;
    let mut execs = Vec::new();
    for _ in 0..5 {
        execs.push(host.exec("hang").await.expect("started"));
    }
    host.close().await;
    for mut exec in execs {
        let error = drained(&mut exec.output).await.expect_err("lost");
        assert!(matches!(error, Error::Lost { .. }), "{error}");
        let broken = exec.stdin.write_all("x").await.expect_err("nobody reads");
        assert_eq!(broken.kind(), std::io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn settings_are_checked_under_their_written_names_and_secrets_are_not_quoted() {
    let (error, _) = read(&[
        ("host", Value::from("h1")),
        ("private-key", Value::from(42)),
        ("connect-timeout", Value::from("soon")),
        ("host-key-check", Value::from("yes")),
    ]);
    let error = error.expect_err("wrong");
    for part in [
        "private-key: << redacted value >>",
        "connect-timeout: ",
        "host-key-check: ",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("42"), "{error}");
    let (error, _) = read(&[
        ("host", Value::from("h1")),
        ("login-shell", Value::from("powershell")),
    ]);
    assert!(error.expect_err("refused").contains("Windows"));
}

#[test]
fn keys_for_openssh_s_programs_are_reported_as_ineffective() {
    let (settings, reported) = read(&[
        ("host", Value::from("h1")),
        ("user", Value::from("runner")),
        ("native-ssh", Value::from(true)),
        ("ssh-command", Value::from("ssh -F other")),
        ("batch-mode", Value::from(false)),
        ("script-dir", Value::from("/opt")),
        ("tty", Value::from(true)),
        ("no-such-key", Value::from(1)),
    ]);
    assert_eq!(settings.expect("settings").peer(), "h1:22");
    for key in [
        "native-ssh",
        "ssh-command",
        "batch-mode",
        "script-dir",
        "tty",
        "no-such-key",
    ] {
        let messages = |(level, text): &(Level, String)| {
            *level == Level::Warning && text.contains(&format!("`{key}"))
        };
        assert_eq!(
            reported
                .iter()
                .filter(|reported| messages(reported))
                .count(),
            1,
            "{key}"
        );
    }
    assert!(
        read(&[
            ("host", Value::from("h1")),
            ("user", Value::from("runner")),
            ("native-ssh", Value::from(false)),
        ])
        .1
        .is_empty()
    );
}

#[test]
fn every_setting_has_a_useful_error() {
    for (name, attribute) in HostSettings::schema().connection_info() {
        assert!(attribute.desc.len() > 20, "{name}: {}", attribute.desc);
    }
}
