//! An SSH server for tests, on the loopback, whose terminals are fake devices.

mod programs;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Hash, RawConnectionInfo, Value};
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::keys::{PrivateKey, PublicKey};
use russh::server::{
    Auth, ChannelOpenHandle, Config, Handler, Msg, Response, Session, VerifiedPublicKey, run_stream,
};
use russh::{Channel, ChannelId, ChannelOpenFailure, MethodKind, MethodSet, Preferred, SshId};
use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::known_hosts;
use crate::cli::fake::Fake;
use crate::{Connect, SshCli};

pub(crate) const PASSWORD: &str = "canary";

/// How a server behaves.
pub(crate) struct ServerOptions {
    pub(crate) methods: &'static [MethodKind],
    /// The banner before the login.
    pub(crate) banner: Option<&'static str>,
    /// The rounds of `keyboard-interactive`.
    pub(crate) rounds: &'static [InteractiveRound],
    /// Whether a password is never answered. russh also stays silent after a request for a new one
    /// (RFC 4252, 8), too.
    pub(crate) is_silent: bool,
    /// Whether the connection is closed without a message when a password arrives.
    pub(crate) drops_at_password: bool,
    pub(crate) key: Option<PublicKey>,
    pub(crate) seed: u8,
    pub(crate) preferred: Preferred,
    pub(crate) device: fn() -> Fake,
    /// The maximum number of channels in a connection.
    pub(crate) max_channels: usize,
    /// Whether it calls itself Dropbear, and closes the first three channels of a connection instead of confirming a
    /// program.
    pub(crate) is_dropbear: bool,
}

/// One round of `keyboard-interactive`: the instructions, the questions, and whether answers are shown.
pub(crate) type InteractiveRound = (&'static str, &'static [(&'static str, bool)]);

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) host_key: PublicKey,
    counts: Arc<Counts>,
    task: AbortHandle,
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    logins: AtomicUsize,
    disconnects: AtomicUsize,
}

struct Client {
    options: Arc<ServerOptions>,
    counts: Arc<Counts>,
    /// The open channels. The value becomes `None` when a program starts on the channel.
    open: HashMap<ChannelId, Option<Channel<Msg>>>,
    /// The number of question rounds so far.
    rounds_sent: usize,
    /// The number of channels that are still closed instead of running a program.
    to_close: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            methods: &[MethodKind::Password, MethodKind::PublicKey],
            banner: None,
            rounds: &[("", &[("Password: ", false)])],
            is_silent: false,
            drops_at_password: false,
            key: None,
            seed: 1,
            preferred: Preferred::default(),
            device: || Fake::new("r1#"),
            max_channels: usize::MAX,
            is_dropbear: false,
        }
    }
}

/// Returns a key that is the same in every run.
pub(crate) fn key(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

impl Server {
    pub(crate) async fn start(options: ServerOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::listen(listener, options)
    }

    pub(crate) fn listen(listener: TcpListener, options: ServerOptions) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let host_key = key(options.seed);
        let config = Arc::new(Config {
            keys: vec![host_key.clone()],
            methods: MethodSet::from(options.methods),
            preferred: options.preferred.clone(),
            auth_rejection_time: Duration::ZERO,
            ..match options.is_dropbear {
                true => Config {
                    server_id: SshId::Standard("SSH-2.0-dropbear_2022.83".into()),
                    ..Config::default()
                },
                false => Config::default(),
            }
        });
        let counts = Arc::new(Counts::default());
        let (options, counting) = (Arc::new(options), Arc::clone(&counts));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counting.connections.fetch_add(1, Ordering::Relaxed);
                let client = Client {
                    options: Arc::clone(&options),
                    counts: Arc::clone(&counting),
                    open: HashMap::new(),
                    rounds_sent: 0,
                    to_close: if options.is_dropbear { 3 } else { 0 },
                };
                let (config, counts) = (Arc::clone(&config), Arc::clone(&counting));
                tokio::spawn(async move {
                    if let Ok(session) = run_stream(config, stream, client).await
                        && session.await.is_ok()
                    {
                        counts.disconnects.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let host_key = host_key.public_key().clone();
        Self {
            port,
            host_key,
            counts,
            task: serving.abort_handle(),
        }
    }

    /// Returns the number of connections.
    pub(crate) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of passwords tried.
    pub(crate) fn logins(&self) -> usize {
        self.counts.logins.load(Ordering::Relaxed)
    }

    /// Returns the number of connections that ended with a disconnect message.
    pub(crate) fn disconnects(&self) -> usize {
        self.counts.disconnects.load(Ordering::Relaxed)
    }

    /// Returns the line of a known hosts file for this server.
    pub(crate) fn known_hosts_line(&self) -> String {
        known_hosts::known_hosts_line("127.0.0.1", self.port, &self.host_key)
    }

    /// Returns the server's connection info. `more` adds attributes or replaces them.
    pub(crate) fn info(&self, more: &[(&str, Value)]) -> ConnectionInfo {
        let mut raw: Hash = [
            ("host", Value::from("127.0.0.1")),
            ("port", Value::from(i64::from(self.port))),
            ("user", Value::from("admin")),
            ("password", Value::from(PASSWORD)),
            ("verify_hosts", Value::from(false)),
            ("timeout", Value::from(5)),
            // Independent of the user who runs the tests.
            ("load_config", Value::from(false)),
        ]
        .into_iter()
        .collect();
        for (key, value) in more {
            raw.insert(*key, value.clone());
        }
        let without_undef = raw
            .into_iter()
            .filter(|(_, value)| !value.is_undef())
            .collect();
        SshCli::new()
            .schema()
            .read(RawConnectionInfo::new(without_undef), |_, _| {})
            .expect("it fits")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn authentication_banner(&mut self) -> Result<Option<String>, Self::Error> {
        Ok(self.options.banner.map(str::to_owned))
    }

    async fn auth_password(&mut self, _: &str, password: &str) -> Result<Auth, Self::Error> {
        self.counts.logins.fetch_add(1, Ordering::Relaxed);
        if self.options.drops_at_password {
            return Err(russh::Error::HUP);
        }
        if self.options.is_silent {
            std::future::pending::<()>().await;
        }
        Ok(if password == PASSWORD {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn auth_publickey_offered(
        &mut self,
        _: &str,
        offer: russh::server::PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        let known = self
            .options
            .key
            .as_ref()
            .is_some_and(|key| key == offer.public_key);
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_publickey(
        &mut self,
        _: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let known = self
            .options
            .key
            .as_ref()
            .is_some_and(|known| known == key.public_key);
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let answers: Vec<_> = response.into_iter().flatten().collect();
        if let [answer] = answers.as_slice() {
            self.counts.logins.fetch_add(1, Ordering::Relaxed);
            if **answer != *PASSWORD.as_bytes() {
                return Ok(Auth::reject());
            }
        }
        let Some((instructions, questions)) = self.options.rounds.get(self.rounds_sent) else {
            return Ok(Auth::Accept);
        };
        self.rounds_sent += 1;
        let prompts: Vec<(Cow<'static, str>, bool)> = questions
            .iter()
            .map(|(question, shown)| (Cow::Borrowed(*question), *shown))
            .collect();
        Ok(Auth::Partial {
            name: "".into(),
            instructions: (*instructions).into(),
            prompts: prompts.into(),
        })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if self.open.len() >= self.options.max_channels {
            reply.reject(ChannelOpenFailure::ConnectFailed).await;
            return Ok(());
        }
        self.open.insert(channel.id(), Some(channel));
        reply.accept().await;
        Ok(())
    }

    async fn channel_close(
        &mut self,
        channel: ChannelId,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        self.open.remove(&channel);
        Ok(())
    }

    async fn shell_request(
        &mut self,
        channel: ChannelId,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(channel) = self.open.get_mut(&channel).and_then(Option::take) else {
            return Ok(());
        };
        let mut device = (self.options.device)().start();
        tokio::spawn(async move {
            let mut stream = channel.into_stream();
            let _ = copy_bidirectional(&mut stream, &mut device).await;
        });
        Ok(())
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let command = String::from_utf8_lossy(command).into_owned();
        let Some(channel) = self.open.get_mut(&id).and_then(Option::take) else {
            return session.channel_failure(id);
        };
        if command == "refused" {
            return session.channel_failure(id);
        }
        if self.to_close > 0 {
            self.to_close -= 1;
            return session.close(id);
        }
        session.channel_success(id)?;
        tokio::spawn(programs::run(command, channel, session.handle()));
        Ok(())
    }
}
