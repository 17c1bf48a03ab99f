//! Lending and borrowing sessions.

use std::sync::atomic::Ordering;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_schemas::Value;
use devgate_transports::{DataRequest, Document, Mode, RetryBudget};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::fake::{Ability, Device};
use crate::session::RetryScope;
use crate::session::borrowed::BorrowedSession;
use crate::session::handle::SessionHandle;

async fn exec(socket: &str, command: &str) -> Result<String, Failure> {
    connect(socket).await?.exec(command, &[]).await
}

async fn connect(socket: &str) -> Result<SessionHandle<'static>, Failure> {
    Ok(SessionHandle::Lent(BorrowedSession::connect(socket).await?))
}

#[tokio::test]
async fn many_requests_are_one_login_and_take_turns() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let commands: Vec<String> = (0..100).map(|number| format!("show {number}")).collect();
            let requests = commands.iter().map(|command| exec(&socket, command));
            let outputs = futures_util::future::join_all(requests).await;
            for (command, output) in commands.iter().zip(outputs) {
                assert_eq!(output, Ok(format!("{command}\n")));
            }
        })
        .await;
    assert_eq!(device.counts(), [1, 1]);
    for turn in device.typed().chunks(2) {
        assert_eq!(turn[0].strip_prefix("> "), turn[1].strip_prefix("< "));
    }
}

#[tokio::test(start_paused = true)]
async fn silent_clients_and_half_lines_block_nobody() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut silent = Vec::new();
            for number in 0..100 {
                let mut client = UnixStream::connect(&socket).await.expect("it is let in");
                if number % 2 == 0 {
                    let half = br#"{"version": 1, "#;
                    client.write_all(half).await.expect("it is taken");
                }
                silent.push(client);
            }
            assert_eq!(exec(&socket, "show x").await, Ok("show x\n".to_owned()));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn thousands_of_silent_clients_block_nobody_for_long() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut silent = Vec::new();
            for _ in 0..2000 {
                silent.push(UnixStream::connect(&socket).await.expect("it is let in"));
            }
            let begun = tokio::time::Instant::now();
            assert_eq!(exec(&socket, "show x").await, Ok("show x\n".to_owned()));
            let waited = begun.elapsed();
            assert!(waited < Duration::from_secs(10), "{waited:?}");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_client_with_an_earlier_request_has_five_seconds_while_others_wait_and_only_one_is_dropped()
 {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut idle = Vec::new();
            for _ in 0..32 {
                let mut client = connect(&socket).await.expect("somebody listens");
                let output = client.exec("show x", &[]).await;
                assert_eq!(output, Ok("show x\n".to_owned()));
                idle.push(client);
            }
            let begun = tokio::time::Instant::now();
            assert_eq!(exec(&socket, "show y").await, Ok("show y\n".to_owned()));
            assert!(
                begun.elapsed() >= Duration::from_secs(4),
                "{:?}",
                begun.elapsed()
            );
            let mut served = 0;
            for client in &mut idle {
                served += usize::from(client.exec("show x", &[]).await.is_ok());
            }
            assert_eq!(served, 31);
        })
        .await;
}

#[tokio::test]
async fn without_a_request_there_is_no_login() {
    let device = Device::new();
    device.lend(Mode::Enforce, async |_| ()).await;
    assert_eq!(device.counts(), [0, 0]);
}

#[tokio::test]
async fn refused_credentials_are_not_sent_again() {
    let device = Device {
        refuses: true,
        ..Device::new()
    };
    device
        .lend(Mode::Enforce, async |socket| {
            for _ in 0..3 {
                let failure = exec(&socket, "show x").await.expect_err("it is refused");
                assert!(failure.msg.contains("the password is wrong"), "{failure}");
            }
        })
        .await;
    assert_eq!(device.counts(), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_device_that_is_down_is_waited_for_once_in_a_run_or_at_each_request() {
    for (retry_scope, again) in [(RetryScope::Run, false), (RetryScope::Request, true)] {
        let device = Device {
            is_down: true,
            ..Device::new()
        };
        let request = async |socket: String| {
            let mut waited = [Duration::ZERO; 2];
            for waited in &mut waited {
                let begun = tokio::time::Instant::now();
                exec(&socket, "show x").await.expect_err("it is down");
                *waited = begun.elapsed();
            }
            waited
        };
        let [first, second] = device.lend_for(Mode::Enforce, retry_scope, request).await;
        for (waited, was_waited) in [(first, true), (second, again)] {
            assert!(waited <= RetryBudget::LIMIT, "{retry_scope:?}: {waited:?}");
            let much = waited > RetryBudget::LIMIT / 2;
            assert_eq!(much, was_waited, "{retry_scope:?}: {waited:?}");
        }
    }
}

#[tokio::test]
async fn the_socket_and_its_clients_are_closed_with_the_work() {
    let device = Device::new();
    let (socket, mut client) = device
        .lend(Mode::Enforce, async |socket| {
            let client = connect(&socket).await.expect("somebody listens");
            (socket, client)
        })
        .await;
    let kinds = [
        client.exec("show x", &[]).await,
        exec(&socket, "show x").await,
    ]
    .map(|answer| answer.expect_err("it has ended").kind);
    assert_eq!(kinds, ["devgate/session-ended", "devgate/session-ended"]);
    assert_eq!(device.typed(), [""; 0]);
}

#[tokio::test]
async fn a_dropped_loan_leaves_no_socket() {
    let device = Device::new();
    let (sender, receiver) = oneshot::channel();
    let lent_session = device.lend(Mode::Enforce, async |socket| {
        sender.send(socket).expect("somebody hears");
        std::future::pending::<()>().await;
    });
    let socket = tokio::select! {
        () = lent_session => unreachable!("it never ends"),
        socket = receiver => socket.expect("somebody tells"),
    };
    assert!(!std::path::Path::new(&socket).exists());
}

#[tokio::test]
async fn an_interrupted_command_is_reported_with_its_partial_output_and_not_sent_again() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let failure = exec(&socket, "lose").await.expect_err("it is lost");
            assert_eq!(failure.kind, "puppetlabs.tasks/connect-error");
            assert_eq!(failure.details.get("partial_output"), Some(&json!("half")));
            assert_eq!(exec(&socket, "show x").await.as_deref(), Ok("show x\n"));
        })
        .await;
    assert_eq!(device.typed(), ["> lose", "> show x", "< show x"]);
}

#[tokio::test]
async fn a_client_that_disconnects_abandons_its_request() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let hanging = exec(&socket, "hang");
            let waiting = exec(&socket, "never sent");
            let both = futures_util::future::join(hanging, waiting);
            let gone = tokio::time::timeout(Duration::from_millis(200), both).await;
            assert!(gone.is_err());
            assert_eq!(exec(&socket, "show x").await.as_deref(), Ok("show x\n"));
        })
        .await;
    assert_eq!(device.typed(), ["> hang", "> show x", "< show x"]);
}

#[tokio::test]
async fn configuration_is_typed_and_saved_but_not_under_noop() {
    let device = Device::new();
    let change = async |socket: String| {
        let mut session = connect(&socket).await?;
        let lines = ["interface x", " shutdown"].map(str::to_owned);
        session.exec("show x", &[]).await?;
        session.configure(lines.to_vec()).await?;
        session.save().await
    };
    let refused = device.lend(Mode::Noop, change).await;
    assert_eq!(refused.expect_err("noop").kind, "devgate/noop");
    assert_eq!(device.typed(), ["> show x", "< show x"]);
    assert_eq!(device.lend(Mode::Enforce, change).await, Ok(()));
    assert_eq!(device.typed()[4..], ["interface x", " shutdown", "save"]);
}

#[tokio::test]
async fn data_is_read_and_changed_once_but_not_under_noop() {
    let device = Device {
        ability: Ability::Data,
        ..Device::new()
    };
    let change = DataRequest {
        what: "/zones".to_owned(),
        method: Some("PATCH".to_owned()),
        body: Some(Value::from("<zone/>")),
    };
    let work = async |socket: String| {
        let mut session = connect(&socket).await?;
        let data = Document::Data(Value::from(json!({"asked": "/json"})));
        assert_eq!(session.get("/json".to_owned()).await, Ok(data));
        let text = Document::Text("<a/>".to_owned());
        assert_eq!(session.get("/xml".to_owned()).await, Ok(text));
        session.set(change.clone()).await
    };
    let kinds = [
        device.lend(Mode::Noop, work).await,
        device.lend(Mode::Enforce, work).await,
    ]
    .map(|done| done.expect_err("it cannot be done").kind);
    assert_eq!(kinds, ["devgate/noop", "puppetlabs.tasks/connect-error"]);
    let typed = [
        "get /json",
        "get /xml",
        "get /json",
        "get /xml",
        r#"set /zones Some("PATCH") Some(String("<zone/>"))"#,
    ];
    assert_eq!(device.typed(), typed);
}

#[tokio::test]
async fn a_transport_without_an_ability_names_the_one_that_it_has() {
    for (ability, lacks, can) in [
        (
            Ability::CommandLine,
            "has no data",
            "`devgate session exec`",
        ),
        (
            Ability::Data,
            "has no command line",
            "`devgate session get`",
        ),
        (Ability::Neither, "has no command line", "`devgate verify`"),
    ] {
        let device = Device {
            ability,
            ..Device::new()
        };
        let refused = device.lend(Mode::Enforce, async |socket| {
            let mut session = connect(&socket).await?;
            match ability {
                Ability::CommandLine => session.get("/x".to_owned()).await.map(drop),
                Ability::Data | Ability::Neither => session.exec("show x", &[]).await.map(drop),
            }
        });
        let failure = refused.await.expect_err("it cannot be done");
        assert_eq!(failure.kind, "devgate/device-error");
        for word in ["`fake`", lacks, can] {
            assert!(failure.msg.contains(word), "{failure}");
        }
        assert_eq!(device.counts(), [1, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_idle_is_tested_before_it_is_used() {
    let device = Device::new();
    let tests = || device.seen.tests.load(Ordering::SeqCst);
    device
        .lend(Mode::Enforce, async |socket| {
            for (idle, tested) in [(0, 0), (1, 0), (60, 1), (1, 1)] {
                tokio::time::advance(Duration::from_secs(idle)).await;
                exec(&socket, "show x").await.expect("an answer");
                assert_eq!(tests(), tested);
            }
        })
        .await;
}

#[tokio::test]
async fn an_invalid_request_is_answered_and_a_too_long_one_ends_the_connection() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut stream = UnixStream::connect(&socket).await.expect("it is there");
            let requests = b"{\"get\": 1}\n{\"version\": 1, \"exec\": \"show x\"}\n";
            stream.write_all(requests).await.expect("it is read");
            let mut answers = vec![0; 4096];
            let mut text = String::new();
            while text.lines().count() < 2 {
                let read = stream.read(&mut answers).await.expect("it answers");
                text.push_str(&String::from_utf8_lossy(&answers[..read]));
            }
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines[0].contains("devgate/session-protocol"), "{text}");
            assert_eq!(lines[1], r#"{"output":"show x\n","version":1}"#);

            let mut stream = UnixStream::connect(&socket).await.expect("it is there");
            // The broker may close the connection before everything is written.
            let _ = stream.write_all(&vec![b'x'; 5 * 1024 * 1024]).await;
            let mut text = String::new();
            let read = stream.read_to_string(&mut text).await;
            assert!(read.is_err() || text.contains("more than"), "{text}");
        })
        .await;
}
