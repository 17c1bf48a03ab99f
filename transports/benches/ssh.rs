//! The cost of a session: connect, one command, close, over SSH; devgate's client beside a bare russh
//! program.
//!
//! `transports/benches/ssh.sh` starts the server that it needs and compares with OpenSSH's client.
#![expect(clippy::print_stdout, reason = "a bench tells its figures")]

use std::env;
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use devgate_schemas::{Hash, NullSink, RawConnectionInfo, Value};
use devgate_transports::ssh_host::{Exec, Piece};
use devgate_transports::{
    CommandLine, Connect, Context, Environment, Error, HostSettings, RetryBudget, SshCli,
    SshCliSession, SshHost, Transport,
};
use futures_util::stream::{self, StreamExt};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use russh::client::{self, AuthResult, Handle, Handler};
use russh::keys::{PrivateKeyWithHashAlg, PublicKeyOrCertificate, decode_secret_key};
use russh::{ChannelMsg, Disconnect};

const SEQUENCE: usize = 50;
const ROUNDS: usize = 5;

struct Server {
    port: u16,
    user: String,
    key: String,
    known_hosts: String,
    /// Shared by all sessions, as in the gateway.
    cli: SshCli,
}

#[derive(Clone, Copy)]
enum Who {
    Bare,
    Ours,
}

/// A session at a prompt.
enum Session {
    Bare(Handle<Anyone>, russh::Channel<client::Msg>),
    Ours(Box<SshCliSession>),
}

struct Anyone;

impl Handler for Anyone {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

impl Session {
    async fn open(who: Who, server: &Server) -> Self {
        match who {
            Who::Bare => {
                let config = client::Config {
                    nodelay: true,
                    ..client::Config::default()
                };
                let address = ("127.0.0.1", server.port);
                let mut handle = client::connect(Arc::new(config), address, Anyone)
                    .await
                    .expect("a server");
                let text = fs::read_to_string(&server.key).expect("a key file");
                let key = Arc::new(decode_secret_key(&text, None).expect("a key"));
                let key = PrivateKeyWithHashAlg::new(key, None);
                let result = handle.authenticate_publickey(&server.user, key).await;
                assert!(matches!(result, Ok(AuthResult::Success)), "{result:?}");
                let mut channel = handle.channel_open_session().await.expect("a channel");
                channel
                    .request_pty(false, "vt100", 511, 24, 0, 0, &[])
                    .await
                    .expect("a terminal");
                channel.request_shell(false).await.expect("a shell");
                read_until(&mut channel, b"bench# ").await;
                Self::Bare(handle, channel)
            }
            Who::Ours => {
                let raw: Hash = [
                    ("host", Value::from("127.0.0.1")),
                    ("port", Value::from(i64::from(server.port))),
                    ("user", Value::from(server.user.as_str())),
                    ("private_key", Value::from(server.key.as_str())),
                    ("known_hosts_file", Value::from(server.known_hosts.as_str())),
                    ("timeout", Value::from(60)),
                ]
                .into_iter()
                .collect();
                let cli = &server.cli;
                let info = cli
                    .schema()
                    .read(RawConnectionInfo::new(raw), |_, _| {})
                    .expect("it fits");
                let retry_budget = RetryBudget::new();
                let ctx = Context::new("bench", &NullSink, &retry_budget);
                Self::Ours(Box::new(cli.open(&ctx, &info).await.expect("a session")))
            }
        }
    }

    async fn ask(&mut self) {
        match self {
            Self::Bare(_, channel) => {
                channel.data_bytes("echo hello\n").await.expect("sent");
                read_until(channel, b"\r\nhello\r\nbench# ").await;
            }
            Self::Ours(session) => {
                let retry_budget = RetryBudget::new();
                let ctx = Context::new("bench", &NullSink, &retry_budget);
                let output = session.exec(&ctx, "echo hello").await.expect("an output");
                assert_eq!(output, "hello\n");
            }
        }
    }

    async fn close(self) {
        match self {
            Self::Bare(handle, channel) => {
                drop(channel);
                let _ = handle.disconnect(Disconnect::ByApplication, "", "en").await;
                let _ = handle.await;
            }
            Self::Ours(session) => {
                let retry_budget = RetryBudget::new();
                session
                    .close(&Context::new("bench", &NullSink, &retry_budget))
                    .await;
            }
        }
    }
}

async fn read_until(channel: &mut russh::Channel<client::Msg>, end: &[u8]) {
    let mut seen = Vec::new();
    while !seen.ends_with(end) {
        match channel.wait().await {
            Some(ChannelMsg::Data { data }) => seen.extend_from_slice(&data),
            Some(_) => {}
            None => panic!("the session ended: {}", String::from_utf8_lossy(&seen)),
        }
    }
}

async fn whole(who: Who, server: &Server) {
    let mut session = Session::open(who, server).await;
    session.ask().await;
    session.close().await;
}

/// Runs both clients in turns, so that other load on the machine affects both.
async fn sequence(server: &Server) {
    for round in 0..ROUNDS {
        for (name, who) in [("bare", Who::Bare), ("ours", Who::Ours)] {
            let (cpu, wall) = (cpu_ms(), Instant::now());
            for _ in 0..SEQUENCE {
                whole(who, server).await;
            }
            let (cpu, wall) = (cpu_ms() - cpu, wall.elapsed().as_secs_f64() * 1e3);
            let each = SEQUENCE as f64;
            println!(
                "sequence {round} {name} cpu_ms {:.3} wall_ms {:.3}",
                cpu / each,
                wall / each
            );
        }
    }
    for (name, who) in [("bare", Who::Bare), ("ours", Who::Ours)] {
        commands(name, who, server).await;
    }
}

/// Runs commands one after the other in one session.
async fn commands(name: &str, who: Who, server: &Server) {
    const COMMANDS: usize = 2_000;
    let mut session = Session::open(who, server).await;
    let (cpu, wall) = (cpu_ms(), Instant::now());
    for _ in 0..COMMANDS {
        session.ask().await;
    }
    let (cpu, wall) = (cpu_ms() - cpu, wall.elapsed().as_secs_f64() * 1e3);
    let each = COMMANDS as f64;
    println!(
        "command {name} cpu_ms {:.4} wall_ms {:.4}",
        cpu / each,
        wall / each
    );
    session.close().await;
}

/// Opens many concurrent sessions.
async fn crowd(who: Who, server: Server, how_many: usize) {
    let before = memory_kib("VmRSS:");
    let (cpu, wall) = (cpu_ms(), Instant::now());
    let server = Arc::new(server);
    let opening: Vec<_> = (0..how_many)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { Session::open(who, &server).await })
        })
        .collect();
    let mut sessions = Vec::new();
    for opening in opening {
        sessions.push(opening.await.expect("a session"));
    }
    for session in &mut sessions {
        session.ask().await;
    }
    let (open, most) = (memory_kib("VmRSS:"), memory_kib("VmHWM:"));
    for session in sessions {
        session.close().await;
    }
    let each = how_many as f64;
    println!(
        "crowd {how_many} cpu_ms {:.3} wall_s {:.2} open_kib {:.1} peak_mib {:.1}",
        (cpu_ms() - cpu) / each,
        wall.elapsed().as_secs_f64(),
        (open - before) / each,
        most / 1024.0,
    );
}

/// Runs programs on one connection, `width` of them at a time.
async fn programs(server: &Server, how_many: usize, width: usize) {
    let raw: Hash = [
        ("host", Value::from("127.0.0.1")),
        ("port", Value::from(i64::from(server.port))),
        ("user", Value::from(server.user.as_str())),
        ("private-key", Value::from(server.key.as_str())),
        ("known-hosts-file", Value::from(server.known_hosts.as_str())),
        ("connect-timeout", Value::from(60)),
    ]
    .into_iter()
    .collect();
    let info = HostSettings::schema()
        .read(RawConnectionInfo::new(raw), |_, _| {})
        .expect("it fits");
    let settings = HostSettings::read(&info, &Environment::default(), |_, _| {}).expect("settings");
    let retry_budget = RetryBudget::new();
    let ctx = Context::new("bench", &NullSink, &retry_budget);
    let host = SshHost::connect(&ctx, &settings).await.expect("a host");
    let host = &host;
    let (cpu, wall) = (cpu_ms(), Instant::now());
    stream::iter(0..how_many)
        .for_each_concurrent(width, |_| async move {
            let Exec { stdin, mut output } = loop {
                // The host has not yet noticed that an earlier program has ended.
                match host.exec("true").await {
                    Ok(exec) => break exec,
                    Err(Error::NoMoreSessions { .. }) => tokio::task::yield_now().await,
                    Err(error) => panic!("{error}"),
                }
            };
            drop(stdin);
            while !matches!(output.next().await.expect("an end"), Piece::Exit(_)) {}
        })
        .await;
    let each = how_many as f64;
    println!(
        "program ours-{width} cpu_ms {:.4} wall_ms {:.4}",
        (cpu_ms() - cpu) / each,
        wall.elapsed().as_secs_f64() * 1e3 / each
    );
}

fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process has a usage");
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e3
}

fn memory_kib(line: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let found = status.lines().find_map(|found| found.strip_prefix(line));
    found
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(f64::NAN)
}

fn main() {
    let Ok(port) = env::var("BENCH_PORT") else {
        // `cargo test --benches` and `cargo bench` call it without a server.
        println!("run transports/benches/ssh.sh");
        return;
    };
    let set = |name| env::var(name).expect("ssh.sh sets it");
    let server = Server {
        port: port.parse().expect("a port"),
        user: set("BENCH_USER"),
        key: set("BENCH_KEY"),
        known_hosts: set("BENCH_KNOWN_HOSTS"),
        cli: SshCli::new(),
    };
    let words: Vec<String> = env::args().skip(1).collect();
    let who = |name: &str| if name == "bare" { Who::Bare } else { Who::Ours };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["once", name] => runtime.block_on(whole(who(name), &server)),
        ["commands", name] => runtime.block_on(commands(name, who(name), &server)),
        ["sequence"] => runtime.block_on(sequence(&server)),
        ["programs", how_many, width] => {
            let number = |text: &str| text.parse().expect("a number");
            runtime.block_on(programs(&server, number(how_many), number(width)));
        }
        ["crowd", name, how_many] => {
            runtime.block_on(crowd(
                who(name),
                server,
                how_many.parse().expect("a number"),
            ));
        }
        _ => panic!(
            "once bare|ours, sequence, commands bare|ours, crowd bare|ours N, or programs N WIDTH"
        ),
    }
}
