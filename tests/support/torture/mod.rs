//! A device that behaves as badly as real devices do: the table of habits by user ([`habit::HABITS`]), the
//! table of commands ([`answer::KINDS`]), and reproducible randomness in all of it.
//!
//! It serves SSH and telnet on a separate thread. Log in with [`PASSWORD`] as the user with the wanted
//! habit. [`Torture::expected`] returns the output of a command without a device, and so judges what a
//! client has read. [`Torture::journal`] records the device's input.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use russh::keys::key::safe_rng;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::Config;
use russh::{MethodKind, MethodSet};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) mod answer;
pub(crate) mod dice;
mod drawn;
mod editor;
pub(crate) mod habit;
mod journal;
mod ssh;
mod telnet;
mod terminal;
mod wire;
pub(crate) mod world;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use answer::{Answer, Expected};
use journal::Journal;
use terminal::Terminal;
use world::World;

/// The password of every user; the device refuses any other.
pub(crate) const PASSWORD: &str = "canary-torture";

/// A running device; it ends when it is dropped.
pub(crate) struct Torture {
    seed: u64,
    ssh: u16,
    telnet: u16,
    host_key: String,
    pub(crate) journal: Journal,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that all sessions share.
#[derive(Clone)]
struct Shared {
    seed: u64,
    journal: Journal,
}

impl Shared {
    /// Starts a terminal.
    fn begin(
        &self,
        user: &str,
        width: usize,
        from_client: UnboundedReceiver<Vec<u8>>,
        to_client: UnboundedSender<Vec<u8>>,
    ) {
        let session = self.journal.begin(user);
        let link = World::of(self.seed, user).habit.link;
        let dice = dice::Dice::of(self.seed, &format!("wire {session} of {user}"));
        let line = wire::carry(link, dice, from_client, to_client);
        let terminal = Terminal::new(self.seed, user, session, line, width, self.journal.clone());
        tokio::spawn(terminal.serve());
    }
}

impl Torture {
    /// Starts a device on free ports of the loopback interface.
    pub(crate) fn start(seed: u64) -> Self {
        let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("a key");
        let host_key = key
            .public_key()
            .to_openssh()
            .expect("a public key has a text");
        let shared = Shared {
            seed,
            journal: Journal::default(),
        };
        let journal = shared.journal.clone();
        let (stop, stopped) = oneshot::channel();
        let (listening, ports) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                let listen = async || {
                    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                    TcpListener::bind(address).await.expect("a port is free")
                };
                let (ssh, telnet) = (listen().await, listen().await);
                let port =
                    |listener: &TcpListener| listener.local_addr().expect("it listens").port();
                listening
                    .send((port(&ssh), port(&telnet)))
                    .expect("someone has started this");
                tokio::select! {
                    () = accept_ssh(ssh, key, shared.clone()) => {}
                    () = accept_telnet(telnet, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        let (ssh, telnet) = ports.recv().expect("the device listens");
        Self {
            seed,
            ssh,
            telnet,
            host_key,
            journal,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the port of its SSH server on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.ssh
    }

    /// Returns the port of its telnet server on 127.0.0.1.
    pub(crate) fn telnet_port(&self) -> u16 {
        self.telnet
    }

    /// Returns its line for a `known_hosts` file.
    pub(crate) fn known_hosts(&self) -> String {
        format!("[127.0.0.1]:{} {}\n", self.ssh, self.host_key)
    }

    /// Returns the expected result of a user's command, if its question is answered or not.
    pub(crate) fn expected(&self, user: &str, command: &str, is_answered: bool) -> Expected {
        self.answer(user, command).expected(is_answered)
    }

    /// Returns the device's reaction to a user's command.
    pub(crate) fn answer(&self, user: &str, command: &str) -> Answer {
        let world = World::of(self.seed, user);
        Answer::of(self.seed, &world, command).expect("a command of the table")
    }
}

impl Drop for Torture {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the device has already been reported.
            let _ = thread.join();
        }
    }
}

async fn accept_ssh(listener: TcpListener, key: PrivateKey, shared: Shared) {
    let config = Arc::new(Config {
        methods: MethodSet::from(&[MethodKind::Password][..]),
        keys: vec![key],
        auth_rejection_time: Duration::from_millis(50),
        auth_rejection_time_initial: Some(Duration::ZERO),
        nodelay: true,
        ..Config::default()
    });
    while let Ok((stream, _)) = listener.accept().await {
        let (config, client) = (Arc::clone(&config), ssh::Client::new(shared.clone()));
        tokio::spawn(async move {
            if let Ok(session) = russh::server::run_stream(config, stream, client).await {
                // The test judges how the session ends.
                let _ = session.await;
            }
        });
    }
}

async fn accept_telnet(listener: TcpListener, shared: Shared) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(telnet::serve(stream, shared.clone()));
    }
}
