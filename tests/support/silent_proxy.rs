//! An SSH server that accepts every login, and then does with forwarded connections what broken proxies do.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use russh::keys::key::safe_rng;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session};
use russh::{Channel, ChannelId};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// What the proxy does when it is asked for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// It never answers the request.
    Unanswered,
    /// It opens the channel, and nothing comes from it.
    Silent,
}

/// A running proxy; it ends when it is dropped.
pub(crate) struct SilentProxy {
    pub(crate) port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SilentProxy {
    /// Starts a proxy on a free port of the loopback interface. Any user and any password are right.
    pub(crate) fn start(habit: Habit) -> Self {
        let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("a key");
        let config = Arc::new(Config {
            keys: vec![key],
            ..Config::default()
        });
        let (stop, mut stopped) = oneshot::channel();
        let (listening, ports) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                let listener = TcpListener::bind(address).await.expect("a port is free");
                let port = listener.local_addr().expect("it listens").port();
                listening.send(port).expect("someone has started this");
                loop {
                    let accepted = tokio::select! {
                        accepted = listener.accept() => accepted,
                        _ = &mut stopped => return,
                    };
                    let (stream, _) = accepted.expect("a connection");
                    let client = Client {
                        habit,
                        held: Vec::new(),
                        open: Vec::new(),
                    };
                    let config = Arc::clone(&config);
                    tokio::spawn(async move {
                        // The client ends it as it likes.
                        if let Ok(session) = russh::server::run_stream(config, stream, client).await
                        {
                            drop(session.await);
                        }
                    });
                }
            });
        });
        Self {
            port: ports.recv().expect("it listens"),
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for SilentProxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One connection.
struct Client {
    habit: Habit,
    /// Requests that get no answer.
    held: Vec<ChannelOpenHandle>,
    /// Channels that stay open.
    open: Vec<Channel<Msg>>,
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_password(&mut self, _: &str, _: &str) -> Result<Auth, Self::Error> {
        Ok(Auth::Accept)
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        match self.habit {
            Habit::Unanswered => self.held.push(reply),
            Habit::Silent => {
                reply.accept().await;
                self.open.push(channel);
            }
        }
        Ok(())
    }

    async fn data(&mut self, _: ChannelId, _: &[u8], _: &mut Session) -> Result<(), Self::Error> {
        Ok(())
    }
}
