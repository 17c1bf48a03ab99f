//! A device made to be awkward: an SSH server whose users and commands each have a bad habit.
//!
//! It runs on a separate thread, so that a test can run the binary against it. Log in with [`PASSWORD`];
//! the user's name determines the terminal's behaviour ([`shell::Habit`]), and the command determines the
//! form of its output ([`shell::Shell::answer`]). All input is recorded, so that a test can check what was
//! sent, and that nothing was sent twice.

use std::net::Ipv4Addr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use russh::MethodKind;
use russh::MethodSet;
use russh::keys::key::safe_rng;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::Config;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};

mod client;
mod shell;

/// The password of every user; the device refuses any other.
pub(crate) const PASSWORD: &str = "canary-awkward";

/// A line of input that the device has received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedLine {
    /// The time of its last character.
    pub(crate) at: Instant,
    /// The number of its connection, counted from 1.
    pub(crate) connection: usize,
    /// The input without the line end.
    pub(crate) line: String,
}

/// A running device; it ends when it is dropped.
pub(crate) struct Awkward {
    port: u16,
    host_key: String,
    log: Log,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The record of the input, shared with the sessions.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<ReceivedLine>>>);

impl Log {
    fn add(&self, connection: usize, line: &str) {
        let received = ReceivedLine {
            at: Instant::now(),
            connection,
            line: line.to_owned(),
        };
        self.0
            .lock()
            .expect("no test panics while it holds the log")
            .push(received);
    }
}

impl Awkward {
    /// Starts a device on a free port of the loopback interface.
    pub(crate) fn start() -> Self {
        let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("a key");
        let host_key = key
            .public_key()
            .to_openssh()
            .expect("a public key has a text");
        let log = Log::default();
        let (stop, stopped) = oneshot::channel();
        let (listening, port) = mpsc::channel();
        let received = log.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                let address = (Ipv4Addr::LOCALHOST, 0);
                let listener = TcpListener::bind(address).await.expect("a port is free");
                let address = listener.local_addr().expect("a listener has an address");
                listening
                    .send(address.port())
                    .expect("someone has started this");
                tokio::select! {
                    () = accept(listener, key, received) => {}
                    _ = stopped => {}
                }
            });
        });
        let port = port.recv().expect("the device listens");
        Self {
            port,
            host_key,
            log,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns its port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns its line for a `known_hosts` file.
    pub(crate) fn known_hosts(&self) -> String {
        format!("[127.0.0.1]:{} {}\n", self.port, self.host_key)
    }

    /// Returns every line that it has received since its start, over all connections.
    pub(crate) fn received(&self) -> Vec<ReceivedLine> {
        self.log
            .0
            .lock()
            .expect("no test panics while it holds the log")
            .clone()
    }

    /// Returns how often it has received exactly this line.
    pub(crate) fn count_received(&self, line: &str) -> usize {
        self.received()
            .iter()
            .filter(|received| received.line == line)
            .count()
    }
}

impl Drop for Awkward {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the device has already been reported.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, key: PrivateKey, log: Log) {
    let methods = [MethodKind::Password, MethodKind::KeyboardInteractive];
    let config = Arc::new(Config {
        methods: MethodSet::from(&methods[..]),
        keys: vec![key],
        auth_rejection_time: Duration::from_millis(50),
        auth_rejection_time_initial: Some(Duration::ZERO),
        nodelay: true,
        ..Config::default()
    });
    let (mut connections, lines) = (0, Arc::default());
    while let Ok((stream, _)) = listener.accept().await {
        connections += 1;
        let cut = Arc::new(Notify::new());
        let client = client::Client::new(
            connections,
            log.clone(),
            Arc::clone(&cut),
            Arc::clone(&lines),
        );
        tokio::spawn(carry(stream, Arc::clone(&config), client, cut));
    }
}

/// Forwards a connection over a pipe, so that it can be cut below SSH.
async fn carry(
    mut stream: TcpStream,
    config: Arc<Config>,
    client: client::Client,
    cut: Arc<Notify>,
) {
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        if let Ok(session) = russh::server::run_stream(config, ours, client).await {
            // The test judges how the session ends.
            let _ = session.await;
        }
    });
    tokio::select! {
        _ = copy_bidirectional(&mut stream, &mut theirs) => {}
        () = cut.notified() => stream.set_zero_linger().expect("an open socket"),
    }
}

/// Waits: the device is deliberately slow.
async fn pause(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}
