//! Relays on this node: each interpreter keeps to the same protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::events::silence;
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::*;
use crate::hosts::{HostContext, TaskHostSettings};

/// Answers each line of a client with the same line, and `flood` without end.
struct Echo;

impl Lend for Echo {
    fn serve<'a>(&'a self, clients: &'a RelayedClients) -> LocalBoxFuture<'a, Infallible> {
        let serving = async move {
            let mut served = FuturesUnordered::new();
            loop {
                tokio::select! {
                    Some(()) = served.next() => {}
                    Ok(client) = clients.accept() => served.push(echo(client)),
                }
            }
        };
        serving.boxed_local()
    }
}

async fn echo(client: DuplexStream) {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    while client.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        let is_flood = line == "flood\n";
        while client.write_all(line.as_bytes()).await.is_ok() && is_flood {}
        line.clear();
    }
}

/// Runs a relay in this interpreter while `work` uses its socket. Everything is gone afterwards.
async fn with_relay(interpreter: Interpreter, work: impl AsyncFnOnce(&str)) {
    let sink = silence();
    let host_context = HostContext::new("here", &*sink, Duration::ZERO);
    let tmpdir = tempfile::tempdir().expect("a temporary folder can be made");
    let settings = TaskHostSettings {
        tmpdir: Some(tmpdir.path().to_owned()),
        ..TaskHostSettings::default()
    };
    let shell = Shell::for_local_user(Arc::new(host_context), settings).expect("a shell");
    shell.prepare(None).await.expect("it can be prepared");
    let found = shell.preparation.get().and_then(|known| known.interpreter);
    assert!(found.is_some(), "it finds one by itself");
    let relay = shell.try_relay(Some(interpreter)).await;
    let relay = relay.unwrap_or_else(|why| panic!("{interpreter:?}: {why}"));
    let socket = relay.socket.clone();
    let working = timeout(Duration::from_secs(60), work(&socket));
    let worked = relay.serve_during(&shell, &Echo, working).await;
    worked.unwrap_or_else(|_| panic!("{interpreter:?}: it hangs"));
    assert!(!Path::new(&socket).exists(), "{interpreter:?}");
    assert!(shell.running().is_empty(), "{interpreter:?} has not ended");
    shell.close().await;
    let left = fs::read_dir(tmpdir.path()).expect("it is ours").count();
    assert_eq!(left, 0, "{interpreter:?}");
}

async fn connect(socket: &str) -> BufReader<UnixStream> {
    BufReader::new(UnixStream::connect(socket).await.expect("it listens"))
}

/// Sends a line and asserts that it comes back.
async fn ask(client: &mut BufReader<UnixStream>, line: &str) {
    let mut answer = String::new();
    let (reader, mut writer) = tokio::io::split(client);
    let mut reader = BufReader::new(reader);
    let (sent, read) = tokio::join!(
        writer.write_all(line.as_bytes()),
        reader.read_line(&mut answer)
    );
    sent.expect("it is taken");
    read.expect("it is answered");
    assert!(answer == line, "{} bytes came back", answer.len());
}

const BOTH: [Interpreter; 2] = [Interpreter::Perl, Interpreter::Python];

#[tokio::test]
async fn each_client_gets_its_own_answers_over_a_private_socket() {
    for interpreter in BOTH {
        with_relay(interpreter, async |socket| {
            let mode = |path: &Path| {
                let metadata = fs::metadata(path).expect("it is there");
                metadata.permissions().mode() & 0o777
            };
            let path = Path::new(socket);
            let folder = path.parent().expect("it is in a folder");
            assert_eq!(mode(path) & 0o077, 0);
            assert_eq!(mode(folder), 0o700);
            let mut clients = Vec::new();
            for _ in 0..20 {
                clients.push(connect(socket).await);
            }
            let lines: Vec<String> = (0..20).map(|number| format!("line {number}\n")).collect();
            let asked = clients.iter_mut().zip(&lines);
            let asked = asked.map(async |(client, line)| ask(client, line).await);
            futures_util::future::join_all(asked).await;
            // Larger than every window, in both directions.
            let large = format!("{}\n", "x".repeat(3_000_000));
            ask(&mut clients[7], &large).await;
            drop(clients);
            ask(&mut connect(socket).await, "after all\n").await;
        })
        .await;
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_and_many_that_come_and_go_hinder_no_other() {
    for interpreter in BOTH {
        with_relay(interpreter, async |socket| {
            let mut deaf = connect(socket).await;
            deaf.write_all(b"flood\n").await.expect("it is taken");
            let mut endless = connect(socket).await;
            for _ in 0..300 {
                let mut passing = connect(socket).await;
                passing.write_all(b"half").await.expect("it is taken");
            }
            let mut other = connect(socket).await;
            ask(&mut other, "is somebody there?\n").await;
            // One that sends and reads nothing is stopped by the windows.
            let flood = vec![b'\n'; 4_000_000];
            let sending = timeout(Duration::from_millis(500), endless.write_all(&flood));
            assert!(sending.await.is_err(), "{interpreter:?}");
            ask(&mut other, "still?\n").await;
            let mut first = [0; 6];
            deaf.read_exact(&mut first).await.expect("it was answered");
            assert_eq!(&first, b"flood\n");
        })
        .await;
    }
}

#[tokio::test]
async fn a_relay_that_cannot_listen_says_why() {
    let sink = silence();
    let host_context = HostContext::new("here", &*sink, Duration::ZERO);
    let base = tempfile::tempdir().expect("a temporary folder can be made");
    let deep = base.path().join("x".repeat(100));
    fs::create_dir(&deep).expect("a folder can be made");
    let settings = TaskHostSettings {
        tmpdir: Some(deep),
        ..TaskHostSettings::default()
    };
    let mut shell = Shell::for_local_user(Arc::new(host_context), settings).expect("a shell");
    shell.prepare(None).await.expect("it can be prepared");
    for (interpreter, why) in [
        (Some(Interpreter::Perl), "too long"),
        (Some(Interpreter::Python), "too long"),
        (None, "install perl or python3"),
    ] {
        shell.relays = Relays::default();
        let refused = shell
            .try_relay(interpreter)
            .await
            .err()
            .expect("there is none");
        assert!(refused.contains(why), "{refused}");
        assert!(shell.running().is_empty(), "{interpreter:?}");
    }
    shell.close().await;
}

#[tokio::test]
async fn noise_on_stderr_is_no_answer_of_a_relay_unless_it_ends_without_one() {
    let sink = silence();
    let host_context = HostContext::new("here", &*sink, Duration::ZERO);
    let settings = TaskHostSettings::default();
    let shell = Shell::for_local_user(Arc::new(host_context), settings).expect("a shell");
    for (program, said) in [
        ("echo noise >&2; sleep 0.2; echo ready", "ready"),
        (
            "echo noise >&2; sleep 0.2; echo broken >&2",
            "noise\nbroken",
        ),
    ] {
        let mut script = Script::run();
        let words = ["sh", "-c", program].map(str::to_owned);
        script.set_task(&words, &[], None, None);
        let mut running = shell.start(&script).await.expect("it runs");
        let line = first_line(&mut running).await.expect("it says something");
        assert_eq!(line, said);
    }
}
