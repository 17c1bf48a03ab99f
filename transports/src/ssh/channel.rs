//! Channels of a connection: terminals, programs, subsystems, and forwarded connections to other hosts.

use std::io::Cursor;
use std::time::Duration;

use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelOpenFailure, ChannelStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split};
use tokio::time::{Instant, timeout_at};

use super::Ssh;
use crate::error::{ForwardingObstacle, ForwardingRefused, Phase};
use crate::terminal::{COLUMNS, ROWS};
use crate::{Destination, Error, Result};

/// How often a host may close a channel before it confirms the request on it.
const EARLY_CLOSES: u32 = 20;

/// The host's answer to a request on a channel.
enum Answer {
    Confirmed,
    Refused,
    /// The channel was closed instead.
    Closed,
}

impl Ssh {
    /// Opens a terminal with a shell.
    ///
    /// # Errors
    /// Fails with [`Error::ChannelRefused`], [`Error::TimedOut`] or [`Error::Closed`].
    pub(crate) async fn shell(&self, deadline: Instant) -> Result<ChannelStream<Msg>> {
        let opening = async {
            let channel = self.handle.channel_open_session().await?;
            let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
            channel
                .request_pty(false, "vt100", size(COLUMNS), size(ROWS), 0, 0, &[])
                .await?;
            channel.request_shell(false).await?;
            Ok::<_, russh::Error>(channel.into_stream())
        };
        let channel = self.opened(opening, deadline).await?;
        channel.map_err(|reason| Error::ChannelRefused {
            peer: self.peer.name().to_owned(),
            what: "terminal".to_owned(),
            message: self.peer.take_refusal(&reason),
            busy: matches!(
                reason,
                ChannelOpenFailure::ResourceShortage | ChannelOpenFailure::ConnectFailed
            ),
        })
    }

    /// Starts a program on a new channel. Only with Dropbear, this waits for the confirmation that it has started.
    ///
    /// Before its version 2025.87, Dropbear closes a channel whose request has not come when another program ends
    /// (<https://github.com/mkj/dropbear/pull/326>). If the request comes then, the program may start, but it gets no
    /// input, its output is lost, and nothing is confirmed. So the request is repeated on another channel, and input is
    /// sent only to a confirmed program.
    ///
    /// # Errors
    /// Fails with [`Error::NoMoreSessions`], [`Error::TimedOut`] or [`Error::Lost`], and with
    /// [`Error::ChannelRefused`] if Dropbear refuses the program.
    pub(crate) async fn program(&self, command: &str, deadline: Instant) -> Result<Channel<Msg>> {
        let is_dropbear = self.is_dropbear();
        for _ in 0..EARLY_CLOSES {
            let opening = async {
                let mut channel = self.handle.channel_open_session().await?;
                channel.exec(true, command).await?;
                let answer = match is_dropbear {
                    true => answer(&mut channel, &mut Vec::new()).await?,
                    false => Answer::Confirmed,
                };
                Ok((channel, answer))
            };
            match self.session(opening, deadline).await? {
                (channel, Answer::Confirmed) => return Ok(channel),
                (_, Answer::Refused) => break,
                (_, Answer::Closed) => {}
            }
        }
        Err(Error::ChannelRefused {
            peer: self.peer.name().to_owned(),
            what: "program".to_owned(),
            message: self.peer.last_message(),
            busy: false,
        })
    }

    fn is_dropbear(&self) -> bool {
        self.version().contains("dropbear")
    }

    /// Opens a channel to a subsystem. Returns `None` if the host does not provide it.
    ///
    /// # Errors
    /// Fails as [`program`](Self::program) does.
    pub(crate) async fn subsystem(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Option<impl AsyncRead + AsyncWrite + Unpin + Send + use<>>> {
        // As for programs.
        let tries = if self.is_dropbear() { EARLY_CLOSES } else { 1 };
        let opening = async {
            for _ in 0..tries {
                let mut channel = self.handle.channel_open_session().await?;
                channel.request_subsystem(true, name).await?;
                // Some subsystems send data before the host confirms the request.
                let mut early = Vec::new();
                match answer(&mut channel, &mut early).await? {
                    Answer::Confirmed => {
                        let (rest, out) = split(channel.into_stream());
                        return Ok(Some(join(Cursor::new(early).chain(rest), out)));
                    }
                    Answer::Refused => {
                        // The host leaves the channel open after a refusal.
                        channel.close().await?;
                        return Ok(None);
                    }
                    Answer::Closed => channel.close().await?,
                }
            }
            Ok(None)
        };
        self.session(opening, deadline).await
    }

    /// Opens a channel of type `session`.
    async fn session<T>(
        &self,
        opening: impl Future<Output = std::result::Result<T, russh::Error>>,
        deadline: Instant,
    ) -> Result<T> {
        match self.opened(opening, deadline).await {
            Err(Error::Closed { .. }) => Err(self.peer.connection_lost()),
            Err(error) => Err(error),
            Ok(Err(reason)) => Err(Error::NoMoreSessions {
                peer: self.peer.name().to_owned(),
                message: self.peer.take_refusal(&reason),
            }),
            Ok(Ok(opened)) => Ok(opened),
        }
    }

    /// Asks the host to connect to another host, and returns the stream. `limit` is the time limit as shown in
    /// messages.
    ///
    /// If the request is given up, its channel may stay open, so the connection has to be closed then.
    ///
    /// # Errors
    /// Fails with [`Error::ForwardingRefused`] or [`Error::TimedOut`] for the other host, with [`Error::Closed`] for this one.
    pub(crate) async fn forward(
        &self,
        host: &str,
        port: u16,
        limit: Duration,
        deadline: Instant,
    ) -> Result<ChannelStream<Msg>> {
        let to = Destination::Tcp { host, port };
        let opening = async { Ok(self.direct(to).await?.into_stream()) };
        self.forwarded(to, opening, limit, deadline).await
    }

    /// Requests a channel to a port of another host (RFC 4254, 7.2), or to a socket of this one (OpenSSH's PROTOCOL, 2.4).
    pub(crate) async fn direct(
        &self,
        to: Destination<'_>,
    ) -> std::result::Result<Channel<Msg>, russh::Error> {
        match to {
            Destination::Tcp { host, port } | Destination::Udp { host, port } => {
                let (port, from) = (u32::from(port), "127.0.0.1");
                let opening = self.handle.channel_open_direct_tcpip(host, port, from, 0);
                opening.await
            }
            Destination::Unix(path) => {
                let path = path.to_string_lossy();
                self.handle.channel_open_direct_streamlocal(path).await
            }
        }
    }

    /// Waits for a channel to another host, and explains why there is none.
    ///
    /// # Errors
    /// Fails as [`forward`](Self::forward).
    pub(crate) async fn forwarded<T>(
        &self,
        to: Destination<'_>,
        opening: impl Future<Output = std::result::Result<T, russh::Error>>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<T> {
        let (peer, via) = (to.to_string(), self.peer.name().to_owned());
        match self.opened(opening, deadline).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(reason)) => Err(Error::ForwardingRefused(Box::new(ForwardingRefused {
                proxy: None,
                peer,
                via,
                message: self.peer.take_refusal(&reason),
                obstacle: match reason {
                    ChannelOpenFailure::ConnectFailed => ForwardingObstacle::ConnectFailed,
                    ChannelOpenFailure::ResourceShortage => ForwardingObstacle::ResourceShortage,
                    _ => ForwardingObstacle::Forbidden,
                },
            }))),
            Err(Error::TimedOut { .. }) => Err(Error::TimedOut {
                peer,
                phase: Phase::Connection,
                limit,
                hint: format!(
                    ", asked through {via}: check `host` and `port`, and what filters the way from \
                     there"
                ),
            }),
            Err(error) => Err(error),
        }
    }

    /// Limits the time for opening a channel. The inner error is the host's reason for a refusal.
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
                message: self.peer.last_message(),
            }),
            Err(_) => Err(Error::TimedOut {
                peer,
                phase,
                limit: self.limit,
                hint: String::new(),
            }),
        }
    }
}

/// Waits for the answer to a request, and keeps the data that come before it.
async fn answer(
    channel: &mut Channel<Msg>,
    early: &mut Vec<u8>,
) -> std::result::Result<Answer, russh::Error> {
    loop {
        match channel.wait().await {
            Some(ChannelMsg::Success) => return Ok(Answer::Confirmed),
            Some(ChannelMsg::Failure) => return Ok(Answer::Refused),
            Some(ChannelMsg::Close) => return Ok(Answer::Closed),
            Some(ChannelMsg::Data { data }) => early.extend_from_slice(&data),
            Some(_) => {}
            None => return Err(russh::Error::Disconnect),
        }
    }
}
