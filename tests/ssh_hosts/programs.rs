//! Programs and files on hosts, and the effect of a lost connection on both.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use devgate_schemas::Value;
use devgate_transports::Error;
use devgate_transports::ProxyConnection as _;
use devgate_transports::ssh_host::{Exit, Piece, Source, Upload};
use tokio::time::timeout;

use crate::host::{Host, ok, run};

#[tokio::test]
async fn programs_run_side_by_side_on_one_connection() {
    let host = Host::named("h1").connect(&[]).await;
    let commands: Vec<String> = (0..8).map(|n| format!("sleep 0.2; echo {n}")).collect();
    let running = commands.iter().map(|command| run(&host, command));
    let ended = futures_util::future::join_all(running).await;
    for (n, ended) in ended.into_iter().enumerate() {
        assert_eq!(ended.expect("an end"), ok(&format!("{n}\n")));
    }
    let (_, stderr, exit) = run(&host, "echo no >&2; exit 3").await.expect("an end");
    assert_eq!((stderr.as_str(), exit), ("no\n", Exit::Code(3)));
    let killed = run(&host, "kill -KILL $$").await.expect("an end");
    assert_eq!(killed.2, Exit::Signal("KILL".into()));
    host.close().await;
}

#[tokio::test]
async fn all_that_is_sent_arrives_and_all_that_comes_is_given() {
    let host = Host::named("h1").connect(&[]).await;
    let sent: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut exec = host.exec("cat").await.expect("started");
    let mut stdin = exec.stdin;
    let writing = async {
        stdin.write_all(sent.clone()).await.expect("read");
        drop(stdin);
    };
    let reading = async {
        let mut read = Vec::new();
        loop {
            match exec.output.next().await.expect("a piece") {
                Piece::Stdout(bytes) => read.extend_from_slice(&bytes),
                Piece::Stderr(bytes) => panic!("{bytes:?}"),
                Piece::Ended(_) => {}
                Piece::Exit(exit) => return (read, exit),
            }
        }
    };
    let ((), (read, exit)) = tokio::join!(writing, reading);
    assert!(read == sent && exit == Exit::Code(0));
}

#[tokio::test]
async fn a_third_program_is_too_many_where_two_are_allowed() {
    let host = Host::named("h3").connect(&[]).await;
    let first = host.exec("sleep 60").await.expect("started");
    let second = host.exec("sleep 60").await.expect("started");
    let error = host.exec("true").await.expect_err("full");
    assert!(matches!(error, Error::NoMoreSessions { .. }), "{error}");
    let error = host.put(&[upload("x", b"x", 0o600)]).await;
    let error = error.expect_err("full");
    assert!(matches!(error, Error::NoMoreSessions { .. }), "{error}");
    drop((first, second));
    host.close().await;
}

fn upload(to: &str, bytes: &'static [u8], mode: u32) -> Upload {
    Upload {
        from: Source::Bytes(bytes.into()),
        to: to.to_owned(),
        mode,
    }
}

fn mode(path: &Path) -> u32 {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    metadata.permissions().mode() & 0o7777
}

/// Uploads files to a host, and checks its disk.
async fn puts_files(name: &str) {
    let lab = Host::named(name);
    let host = lab.connect(&[]).await;
    let folder = format!("put-{}", std::process::id());
    let local = tempfile::tempdir().expect("a folder");
    let big = local.path().join("big");
    let content: Vec<u8> = (0..8_000_000_u32).map(|n| (n % 241) as u8).collect();
    fs::write(&big, &content).expect("written");
    let mut files = vec![Upload {
        from: Source::File(big),
        to: format!("/tmp/{folder}/deep/er/big"),
        mode: 0o600,
    }];
    for n in 0..100 {
        files.push(upload(
            &format!("/tmp/{folder}/it's {n}"),
            b"#!/bin/sh\necho it\n",
            0o700,
        ));
    }
    files.push(upload(&format!("/tmp/{folder}/empty"), b"", 0o644));
    host.put(&files).await.expect("put");
    let there = lab.tmp(&folder);
    assert!(fs::read(there.join("deep/er/big")).expect("a file") == content);
    assert_eq!(mode(&there.join("deep/er/big")), 0o600);
    assert_eq!(mode(&there.join("deep")), 0o700);
    assert_eq!(mode(&there.join("it's 99")), 0o700);
    assert_eq!(mode(&there.join("empty")), 0o644);
    let command = format!("'/tmp/{folder}/it'\\''s 42'; ls /tmp/{folder} | wc -l");
    assert_eq!(run(&host, &command).await.expect("an end"), ok("it\n102\n"));
    // A second upload replaces the file and its permissions.
    let again = upload(&format!("/tmp/{folder}/empty"), b"2", 0o600);
    host.put(&[again]).await.expect("put");
    assert_eq!(fs::read(there.join("empty")).expect("a file"), b"2");
    assert_eq!(mode(&there.join("empty")), 0o600);
    for (to, why) in [
        ("/proc/no/file", ""),
        ("/etc/shadow", "ermission denied"),
        (&format!("/tmp/{folder}/empty/file"), ""),
    ] {
        let error = host.put(&[upload(to, b"x", 0o600)]).await.expect_err(to);
        assert!(matches!(error, Error::Upload { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(why) && text.contains("cannot put"), "{text}");
    }
    run(&host, &format!("rm -r /tmp/{folder}"))
        .await
        .expect("an end");
    host.close().await;
}

#[tokio::test]
async fn files_are_put_by_sftp() {
    puts_files("h1").await;
}

#[tokio::test]
async fn files_are_put_without_sftp() {
    puts_files("h4").await;
}

#[tokio::test]
async fn a_full_disk_is_an_error_whichever_way_files_are_put() {
    for name in ["h1", "h4"] {
        let host = Host::named(name).connect(&[]).await;
        let error = host.put(&[upload("/dev/full", b"x", 0o600)]).await;
        // Root owns the device file, so the error is about permissions or space.
        assert!(matches!(error, Err(Error::Upload { .. })), "{error:?}");
        host.close().await;
    }
}

#[tokio::test]
async fn a_connection_that_goes_silent_ends_all_that_runs_on_it() {
    let lab = Host::named("h2");
    let more = [
        ("keepalive-interval", Value::Float(0.2)),
        ("keepalive-count-max", Value::from(2)),
    ];
    let host = lab.connect(&more).await;
    // The program stops the server's process for this connection, which simulates a cut line.
    let mut exec = host
        .exec("trap '' HUP; kill -STOP $PPID; sleep 3600")
        .await
        .expect("started");
    let ended = timeout(Duration::from_secs(60), exec.output.next()).await;
    let error = ended.expect("it is noticed").expect_err("lost");
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(error.to_string().contains("silent"), "{error}");
    let error = host.exec("true").await.expect_err("lost");
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(host.is_closed());
}

#[tokio::test]
async fn a_host_that_takes_nothing_more_is_detected_in_the_middle_of_writing() {
    let more = [
        ("keepalive-interval", Value::Float(0.3)),
        ("keepalive-count-max", Value::from(2)),
    ];
    let host = Host::named("h2").connect(&more).await;
    let mut writing = Vec::new();
    let (mut outputs, mut sent) = (Vec::new(), Vec::new());
    for n in 0..8 {
        // The last program stops the server's process for this connection.
        let command = if n < 7 {
            "cat >/dev/null"
        } else {
            "kill -STOP $PPID; sleep 3600"
        };
        let exec = host.exec(command).await.expect("started");
        outputs.push(exec.output);
        sent.push(exec.stdin);
    }
    for mut stdin in sent {
        writing.push(tokio::spawn(async move {
            stdin.write_all(vec![0; 100_000_000]).await
        }));
    }
    for output in &mut outputs {
        let ended = timeout(Duration::from_secs(120), output.next()).await;
        let error = ended.expect("it is noticed").expect_err("lost");
        assert!(matches!(error, Error::Lost { .. }), "{error}");
        assert!(error.to_string().contains("silent"), "{error}");
    }
    for writing in writing {
        let ended = timeout(Duration::from_secs(60), writing)
            .await
            .expect("it ends");
        ended.expect("no panic").expect_err("nobody reads");
    }
}
