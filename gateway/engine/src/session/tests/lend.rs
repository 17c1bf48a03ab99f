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

use super::fake::{Device, Has};
use crate::session::RetryScope;
use crate::session::borrowed::BorrowedSession;
use crate::session::handle::SessionHandle;

async fn exec(socket: &str, command: &str) -> Result<String, Failure> {
    at(socket).await?.exec(command, &[]).await
}

async fn at(socket: &str) -> Result<SessionHandle<'static>, Failure> {
    Ok(SessionHandle::Lent(BorrowedSession::at(socket).await?))
}

#[tokio::test]
async fn many_requests_are_one_login_and_take_turns() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let commands: Vec<String> = (0..100).map(|number| format!("show {number}")).collect();
            let asked = commands.iter().map(|command| exec(&socket, command));
            let outputs = futures_util::future::join_all(asked).await;
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
async fn clients_that_say_nothing_or_half_a_line_keep_nobody_out() {
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
async fn thousands_that_say_nothing_keep_nobody_out_for_long() {
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
async fn who_has_asked_before_has_five_seconds_where_others_wait_and_one_goes_at_once() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut idle = Vec::new();
            for _ in 0..32 {
                let mut client = at(&socket).await.expect("somebody listens");
                let said = client.exec("show x", &[]).await;
                assert_eq!(said, Ok("show x\n".to_owned()));
                idle.push(client);
            }
            let begun = tokio::time::Instant::now();
            assert_eq!(exec(&socket, "show y").await, Ok("show y\n".to_owned()));
            assert!(
                begun.elapsed() >= Duration::from_secs(4),
                "{:?}",
                begun.elapsed()
            );
            let mut kept = 0;
            for client in &mut idle {
                kept += usize::from(client.exec("show x", &[]).await.is_ok());
            }
            assert_eq!(kept, 31);
        })
        .await;
}

#[tokio::test]
async fn who_never_asks_never_logs_in() {
    let device = Device::new();
    device.lend(Mode::Enforce, async |_| ()).await;
    assert_eq!(device.counts(), [0, 0]);
}

#[tokio::test]
async fn who_is_refused_is_not_sent_again() {
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
    for (bound, again) in [(RetryScope::Run, false), (RetryScope::Request, true)] {
        let device = Device {
            is_down: true,
            ..Device::new()
        };
        let ask = async |socket: String| {
            let mut waited = [Duration::ZERO; 2];
            for waited in &mut waited {
                let asked = tokio::time::Instant::now();
                exec(&socket, "show x").await.expect_err("it is down");
                *waited = asked.elapsed();
            }
            waited
        };
        let [first, second] = device.lend_for(Mode::Enforce, bound, ask).await;
        for (waited, was_waited) in [(first, true), (second, again)] {
            assert!(waited <= RetryBudget::LIMIT, "{bound:?}: {waited:?}");
            let much = waited > RetryBudget::LIMIT / 2;
            assert_eq!(much, was_waited, "{bound:?}: {waited:?}");
        }
    }
}

#[tokio::test]
async fn the_socket_is_gone_with_the_work_and_so_is_who_held_on_to_it() {
    let device = Device::new();
    let (socket, mut kept) = device
        .lend(Mode::Enforce, async |socket| {
            let kept = at(&socket).await.expect("somebody listens");
            (socket, kept)
        })
        .await;
    let kinds = [
        kept.exec("show x", &[]).await,
        exec(&socket, "show x").await,
    ]
    .map(|answer| answer.expect_err("it has ended").kind);
    assert_eq!(kinds, ["devgate/session-ended", "devgate/session-ended"]);
    assert_eq!(device.typed(), [""; 0]);
}

#[tokio::test]
async fn a_dropped_lending_leaves_no_socket() {
    let device = Device::new();
    let (told, hears) = oneshot::channel();
    let lending = device.lend(Mode::Enforce, async |socket| {
        told.send(socket).expect("somebody hears");
        std::future::pending::<()>().await;
    });
    let socket = tokio::select! {
        () = lending => unreachable!("it never ends"),
        socket = hears => socket.expect("somebody tells"),
    };
    assert!(!std::path::Path::new(&socket).exists());
}

#[tokio::test]
async fn a_command_that_was_interrupted_is_told_with_what_came_and_not_sent_again() {
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
async fn a_client_that_goes_gives_up_what_it_asked_for() {
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
        let mut session = at(&socket).await?;
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
async fn data_is_asked_for_and_changed_once_but_not_under_noop() {
    let device = Device {
        has: Has::Data,
        ..Device::new()
    };
    let change = DataRequest {
        what: "/zones".to_owned(),
        method: Some("PATCH".to_owned()),
        body: Some(Value::from("<zone/>")),
    };
    let work = async |socket: String| {
        let mut session = at(&socket).await?;
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
async fn a_transport_that_cannot_do_what_is_asked_says_what_it_can() {
    for (has, lacks, can) in [
        (Has::CommandLine, "has no data", "`devgate session exec`"),
        (Has::Data, "has no command line", "`devgate session get`"),
        (Has::Neither, "has no command line", "`devgate verify`"),
    ] {
        let device = Device {
            has,
            ..Device::new()
        };
        let refused = device.lend(Mode::Enforce, async |socket| {
            let mut session = at(&socket).await?;
            match has {
                Has::CommandLine => session.get("/x".to_owned()).await.map(drop),
                Has::Data | Has::Neither => session.exec("show x", &[]).await.map(drop),
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
async fn what_is_not_understood_is_answered_and_what_is_too_long_ends_the_talk() {
    let device = Device::new();
    device
        .lend(Mode::Enforce, async |socket| {
            let mut stream = UnixStream::connect(&socket).await.expect("it is there");
            let ask = b"{\"get\": 1}\n{\"version\": 1, \"exec\": \"show x\"}\n";
            stream.write_all(ask).await.expect("it is read");
            let mut answers = vec![0; 4096];
            let mut said = String::new();
            while said.lines().count() < 2 {
                let read = stream.read(&mut answers).await.expect("it answers");
                said.push_str(&String::from_utf8_lossy(&answers[..read]));
            }
            let lines: Vec<&str> = said.lines().collect();
            assert!(lines[0].contains("devgate/session-protocol"), "{said}");
            assert_eq!(lines[1], r#"{"output":"show x\n","version":1}"#);

            let mut stream = UnixStream::connect(&socket).await.expect("it is there");
            // The broker may close the connection before everything is written.
            let _ = stream.write_all(&vec![b'x'; 5 * 1024 * 1024]).await;
            let mut said = String::new();
            let read = stream.read_to_string(&mut said).await;
            assert!(read.is_err() || said.contains("more than"), "{said}");
        })
        .await;
}
