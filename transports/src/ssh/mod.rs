//! Connections over SSH: what every protocol over it shares.
//!
//! russh waits without end in several places (a silent host, a host that asks for a new password),
//! so everything here has a deadline.

pub(crate) mod algorithms;
mod auth;
mod certificate;
pub(crate) mod config;
mod handler;
pub(crate) mod host_keys;
mod identities;
pub(crate) mod jump;
mod known_hosts;
mod peer;
mod private_key;
#[cfg(test)]
pub(crate) mod server;
pub(crate) mod settings;
mod socket;
#[cfg(test)]
mod tests;
pub(crate) mod wish;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, GexParams, Handle, Msg};
use russh::{AlgorithmKind, Channel, ChannelMsg, ChannelOpenFailure, ChannelStream, Disconnect};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};

use crate::cli::screen::COLUMNS;
use crate::error::Phase;
use crate::{Context, Error, Result};
use algorithms::Strength;
use auth::Login;
use handler::{Client, Failure, Heard};
use host_keys::HostKeys;
pub(crate) use peer::Peer;
use settings::Settings;
use socket::{Owned, Owner};

/// How many rows devices are told that the terminal has: many, so that few pages are made.
const ROWS: u32 = 10_000;

/// An authenticated connection.
pub(crate) struct Ssh {
    peer: Peer,
    /// How long opening may take, for messages.
    limit: Duration,
    /// How long a goodbye may take.
    goodbye: Duration,
    handle: Handle<Client>,
    owner: Owner,
    /// The connection that this one goes through.
    via: Option<Box<Self>>,
}

impl Ssh {
    /// Connects, checks the host's key and logs in.
    ///
    /// # Errors
    /// What went wrong, by phase; everything ends by `deadline`.
    pub(crate) async fn connect(
        ctx: &Context<'_>,
        settings: &Settings,
        deadline: Instant,
    ) -> Result<Self> {
        let way: Vec<&Settings> = settings.jumps.iter().chain([settings]).collect();
        let first = tcp(way[0], deadline).await?;
        let mut ssh = Self::over(ctx, first, way[0], deadline).await?;
        for next in &way[1..] {
            let stream = ssh.forward(&next.host, next.port, deadline).await?;
            let mut beyond = Self::over(ctx, stream, next, deadline).await?;
            beyond.via = Some(Box::new(ssh));
            ssh = beyond;
        }
        Ok(ssh)
    }

    /// Speaks SSH over a stream that is open already.
    pub(crate) async fn over<S>(
        ctx: &Context<'_>,
        stream: S,
        settings: &Settings,
        deadline: Instant,
    ) -> Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let peer = settings.peer();
        let check = HostKeys::check_for(settings).map_err(Error::HostKey)?;
        let preferred = settings
            .algorithms
            .preferred(&check.algorithms(), check.takes_certificates());
        let preferred = preferred.map_err(|(kind, problem)| Error::Setting {
            setting: settings.words.of(kind),
            problem,
        })?;
        let config = client::Config {
            preferred,
            // Devices often know no larger group than this.
            gex: GexParams::new(2048, 2048, 8192).expect("2048 bits are allowed"),
            keepalive_interval: settings.keepalive.map(|keepalive| keepalive.interval),
            keepalive_max: settings.keepalive.map_or(0, |keepalive| keepalive.most),
            ..client::Config::default()
        };
        let heard = Arc::new(Heard::default());
        let stuck = settings.keepalive.map(|keepalive| {
            keepalive.interval * u32::try_from(keepalive.most + 1).unwrap_or(u32::MAX)
        });
        let (stream, owner) = Owned::new(stream, stuck);
        let client = Client {
            check,
            heard: Arc::clone(&heard),
        };
        let connecting = client::connect_stream(Arc::new(config), stream, client);
        let mut handle = match timeout_at(deadline, connecting).await {
            Ok(Ok(handle)) => handle,
            Ok(Err(failure)) => return Err(not_connected(settings, &heard, failure)),
            Err(_) => {
                return Err(Error::TimedOut {
                    peer,
                    phase: Phase::KeyExchange,
                    limit: settings.timeout,
                    hint: ": is it an SSH port?".to_owned(),
                });
            }
        };
        if let Some(file) = heard.remembered() {
            ctx.notice(format!(
                "remembered the host key of {peer} in {}",
                file.display()
            ));
        }
        Login::new(&mut handle, settings, &heard, deadline)
            .log_in()
            .await?;
        Ok(Self {
            peer: Peer::new(&peer, heard),
            limit: settings.timeout,
            goodbye: settings.goodbye,
            handle,
            owner,
            via: None,
        })
    }

    /// Opens a terminal with a shell.
    ///
    /// # Errors
    /// [`Error::ChannelRefused`], [`Error::TimedOut`], [`Error::Closed`].
    pub(crate) async fn shell(&self, deadline: Instant) -> Result<ChannelStream<Msg>> {
        let opening = async {
            let channel = self.handle.channel_open_session().await?;
            let columns = u32::try_from(COLUMNS).unwrap_or(u32::MAX);
            channel
                .request_pty(false, "vt100", columns, ROWS, 0, 0, &[])
                .await?;
            channel.request_shell(false).await?;
            Ok::<_, russh::Error>(channel.into_stream())
        };
        let channel = self.opened(opening, deadline).await?;
        channel.map_err(|reason| Error::ChannelRefused {
            peer: self.peer.name().to_owned(),
            what: "terminal".to_owned(),
            said: format!("{reason:?}"),
            busy: matches!(
                reason,
                ChannelOpenFailure::ResourceShortage | ChannelOpenFailure::ConnectFailed
            ),
        })
    }

    /// Starts a program on a channel of its own, without waiting to hear that it has started.
    ///
    /// # Errors
    /// [`Error::NoMoreSessions`], [`Error::TimedOut`], [`Error::Lost`].
    pub(crate) async fn program(&self, command: &str, deadline: Instant) -> Result<Channel<Msg>> {
        let opening = async {
            let channel = self.handle.channel_open_session().await?;
            channel.exec(true, command).await?;
            Ok(channel)
        };
        self.session(opening, deadline).await
    }

    /// Opens a channel to a subsystem; `None` where the host does not have it.
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub(crate) async fn subsystem(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Option<ChannelStream<Msg>>> {
        let opening = async {
            let mut channel = self.handle.channel_open_session().await?;
            channel.request_subsystem(true, name).await?;
            loop {
                match channel.wait().await {
                    Some(ChannelMsg::Success) => return Ok(Some(channel.into_stream())),
                    Some(ChannelMsg::Failure | ChannelMsg::Close) => {
                        // A host that refuses leaves the channel open.
                        channel.close().await?;
                        return Ok(None);
                    }
                    Some(_) => {}
                    None => return Err(russh::Error::Disconnect),
                }
            }
        };
        self.session(opening, deadline).await
    }

    /// Opens what a host takes a session for.
    async fn session<T>(
        &self,
        opening: impl Future<Output = std::result::Result<T, russh::Error>>,
        deadline: Instant,
    ) -> Result<T> {
        match self.opened(opening, deadline).await {
            Err(Error::Closed { .. }) => Err(self.peer.lost()),
            Err(error) => Err(error),
            Ok(Err(reason)) => Err(Error::NoMoreSessions {
                peer: self.peer.name().to_owned(),
                said: format!("{reason:?}"),
            }),
            Ok(Ok(opened)) => Ok(opened),
        }
    }

    /// Lets the host connect to another one, and gives the stream.
    async fn forward(
        &self,
        host: &str,
        port: u16,
        deadline: Instant,
    ) -> Result<ChannelStream<Msg>> {
        let opening = async {
            let port = u32::from(port);
            let opening = self
                .handle
                .channel_open_direct_tcpip(host, port, "127.0.0.1", 0);
            Ok(opening.await?.into_stream())
        };
        let stream = self.opened(opening, deadline).await?;
        stream.map_err(|reason| Error::ChannelRefused {
            peer: self.peer.name().to_owned(),
            what: format!("connection on to {host}:{port}"),
            said: format!("{reason:?}"),
            busy: matches!(
                reason,
                ChannelOpenFailure::ResourceShortage | ChannelOpenFailure::ConnectFailed
            ),
        })
    }

    /// Bounds the opening of a channel; the inner error is the host's reason for refusing it.
    async fn opened<T>(
        &self,
        opening: impl Future<Output = std::result::Result<T, russh::Error>>,
        deadline: Instant,
    ) -> Result<std::result::Result<T, ChannelOpenFailure>> {
        let (peer, phase) = (self.peer.name().to_owned(), Phase::Channel);
        match timeout_at(deadline, opening).await {
            Ok(Ok(opened)) => Ok(Ok(opened)),
            Ok(Err(russh::Error::ChannelOpenFailure(reason))) => Ok(Err(reason)),
            Ok(Err(_)) => Err(Error::Closed {
                peer,
                phase,
                said: self.peer.said(),
            }),
            Err(_) => Err(Error::TimedOut {
                peer,
                phase,
                limit: self.limit,
                hint: String::new(),
            }),
        }
    }

    /// The other end, for errors.
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The host's version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.peer.version()
    }

    /// Says goodbye and lets go, from the far end to the near one. Whether it arrives does not
    /// matter.
    pub(crate) async fn close(self) {
        let goodbye = self.goodbye;
        let leaving = async {
            let mut next = Some(Box::new(self));
            while let Some(ssh) = next.take() {
                let Self {
                    handle, owner, via, ..
                } = *ssh;
                let _ = handle.disconnect(Disconnect::ByApplication, "", "en").await;
                let _ = handle.await;
                drop(owner);
                next = via;
            }
        };
        let _ = timeout(goodbye, leaving).await;
    }
}

impl fmt::Debug for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ssh")
            .field("peer", &self.peer.name())
            .finish_non_exhaustive()
    }
}

/// Opens a TCP connection to the first of the host's addresses that takes one.
async fn tcp(settings: &Settings, deadline: Instant) -> Result<TcpStream> {
    let Settings {
        host,
        port,
        timeout: limit,
        ..
    } = settings;
    let (peer, phase) = (settings.peer(), Phase::Connection);
    let late = || Error::TimedOut {
        peer: peer.clone(),
        phase,
        limit: *limit,
        hint: ": check `host` and `port`, and what filters the way to it".to_owned(),
    };
    let addresses = timeout_at(deadline, lookup_host((host.as_str(), *port)))
        .await
        .map_err(|_| late())?
        .map_err(|cause| Error::Resolve {
            host: host.clone(),
            cause,
        })?;
    let addresses: Vec<_> = addresses.collect();
    let mut last = None;
    for (index, address) in addresses.iter().enumerate() {
        // An address that does not answer must leave time for the others.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Commands are small writes; waiting for more of them only delays.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(cause)) => {
                last = Some(Error::Unreachable {
                    peer: peer.clone(),
                    cause,
                })
            }
            Err(_) => last = Some(late()),
        }
    }
    Err(last.unwrap_or_else(|| Error::Resolve {
        host: host.clone(),
        cause: io::Error::other("no address"),
    }))
}

/// Why there is no connection, in words that lead on.
fn not_connected(settings: &Settings, heard: &Heard, failure: Failure) -> Error {
    let (peer, phase) = (settings.peer(), Phase::KeyExchange);
    match failure {
        Failure::HostKey(problem) => Error::HostKey(problem),
        Failure::Ssh(russh::Error::NoCommonAlgo { kind, theirs, .. }) => Error::Negotiation {
            peer,
            kind: match kind {
                AlgorithmKind::Kex => "key exchange",
                AlgorithmKind::Key => "host key",
                AlgorithmKind::Cipher => "cipher",
                AlgorithmKind::Compression => "compression",
                AlgorithmKind::Mac => "MAC",
            }
            .to_owned(),
            legacy: (settings.algorithms.strength == Strength::Sound
                && algorithms::is_legacy(&theirs))
            .then_some(settings.words.algorithms),
            theirs: theirs.join(", "),
        },
        Failure::Ssh(russh::Error::IO(cause)) if cause.kind() != io::ErrorKind::InvalidData => {
            Error::Closed {
                peer,
                phase,
                said: heard.said(),
            }
        }
        Failure::Ssh(russh::Error::Disconnect | russh::Error::HUP) => Error::Closed {
            peer,
            phase,
            said: heard.said(),
        },
        Failure::Ssh(error) => Error::Protocol {
            peer,
            phase,
            problem: error.to_string().to_lowercase(),
        },
    }
}
