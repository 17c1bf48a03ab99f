//! Connecting: TCP, jump hosts, key exchange, login.

use std::io;
use std::sync::Arc;

use russh::AlgorithmKind;
use russh::client::{self, GexParams};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

use super::algorithms::{self, Strength};
use super::auth::Login;
use super::handler::{EventHandler, HandlerError, PeerMessages};
use super::host_keys::HostKeys;
use super::settings::{Role, Settings};
use super::socket::OwnedStream;
use super::{Peer, Ssh};
use crate::error::Phase;
use crate::{Context, Destination, Error, Result, dial};

impl Ssh {
    /// Connects, checks the host key and logs in.
    ///
    /// # Errors
    /// Fails with an error that names the phase. `deadline` limits the whole operation; each jump host has its own
    /// time limit as well.
    pub(crate) async fn connect(
        ctx: &Context<'_>,
        settings: &Settings,
        deadline: Instant,
    ) -> Result<Self> {
        let hosts: Vec<&Settings> = settings.jumps.iter().chain([settings]).collect();
        let deadline_of = |host: &Settings| deadline.min(Instant::now() + host.timeout);
        let mut deadline = deadline_of(hosts[0]);
        let first = dial::connect(
            ctx,
            Destination::tcp(&hosts[0].host, hosts[0].port),
            hosts[0].timeout,
            deadline,
        )
        .await
        .map_err(|error| match hosts[0].role {
            Role::Target => error,
            Role::JumpHost { .. } => jump_host_error(hosts[0].peer(), error),
        })?;
        let mut ssh = Self::over(ctx, first, hosts[0], deadline).await?;
        for next in &hosts[1..] {
            deadline = deadline_of(next);
            let forwarding = ssh.forward(&next.host, next.port, next.timeout, deadline);
            let next_ssh = match forwarding.await {
                Ok(stream) => Self::over(ctx, stream, next, deadline).await,
                Err(error) => Err(error),
            };
            match next_ssh {
                Ok(mut next_ssh) => {
                    next_ssh.via = Some(Box::new(ssh));
                    ssh = next_ssh;
                }
                Err(error) => {
                    ssh.close().await;
                    return Err(error);
                }
            }
        }
        Ok(ssh)
    }

    /// Opens an SSH connection over an open stream.
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
        if let Some(warning) = check.warning() {
            ctx.warning(warning);
        }
        let preferred = settings
            .algorithms
            .preferred(&check.algorithms(), check.accepts_certificates());
        let preferred = preferred.map_err(|(kind, problem)| Error::Setting {
            setting: settings.setting_names.of_algorithms(kind),
            problem,
        })?;
        let config = client::Config {
            preferred,
            // Many devices support no larger group.
            gex: GexParams::new(2048, 2048, 8192).expect("2048 bits are allowed"),
            keepalive_interval: settings.keepalive.map(|keepalive| keepalive.interval),
            keepalive_max: settings
                .keepalive
                .map_or(0, |keepalive| keepalive.max_unanswered),
            ..client::Config::default()
        };
        let messages = Arc::new(PeerMessages::default());
        let write_timeout = settings.keepalive.map(|keepalive| {
            keepalive.interval * u32::try_from(keepalive.max_unanswered + 1).unwrap_or(u32::MAX)
        });
        let (stream, owner) = OwnedStream::new(stream, write_timeout);
        let client = EventHandler {
            check,
            messages: Arc::clone(&messages),
        };
        let connecting = client::connect_stream(Arc::new(config), stream, client);
        let mut handle = match timeout_at(deadline, connecting).await {
            Ok(Ok(handle)) => handle,
            Ok(Err(_)) if owner.has_http_peer() => {
                return Err(Error::Protocol {
                    peer,
                    protocol: "SSH",
                    phase: Phase::KeyExchange,
                    problem: "it answers as a web server does: check `host` and `port`".to_owned(),
                });
            }
            Ok(Err(error)) => return Err(key_exchange_error(settings, &messages, error)),
            Err(_) => {
                return Err(Error::TimedOut {
                    peer,
                    phase: Phase::KeyExchange,
                    limit: settings.timeout,
                    hint: ": is it an SSH port, and do long packets come through (MTU)?".to_owned(),
                });
            }
        };
        if let Some(file) = messages.take_recorded_in() {
            ctx.notice(format!(
                "remembered the host key of {peer} in {}",
                file.display()
            ));
        }
        Login::new(ctx, &mut handle, settings, &messages, deadline)
            .log_in()
            .await?;
        Ok(Self {
            peer: Peer::new(&peer, messages),
            limit: settings.timeout,
            disconnect_timeout: settings.disconnect_timeout,
            handle,
            owner,
            via: None,
        })
    }
}

/// The problem of a peer that is no SSH server.
const NO_SSH: &str = "what it sends is not SSH: check `host` and `port`";

/// Returns the error for an unreachable jump host. It names another setting than the target's error does.
fn jump_host_error(peer: String, error: Error) -> Error {
    match error {
        Error::Unreachable { cause, .. } | Error::Resolve { cause, .. } => {
            Error::JumpHostUnreachable { peer, cause }
        }
        Error::TimedOut { phase, limit, .. } => Error::TimedOut {
            peer,
            phase,
            limit,
            hint: ": it is a jump host, check `proxyjump` and what filters the way to it"
                .to_owned(),
        },
        error => error,
    }
}

/// Returns the error for a failed key exchange, with advice.
fn key_exchange_error(settings: &Settings, messages: &PeerMessages, error: HandlerError) -> Error {
    let (peer, phase) = (settings.peer(), Phase::KeyExchange);
    match error {
        HandlerError::HostKey(problem) => Error::HostKey(problem),
        HandlerError::Ssh(russh::Error::NoCommonAlgo { kind, theirs, .. }) => Error::Negotiation {
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
            .then_some(settings.setting_names.algorithms),
            theirs: theirs.join(", "),
        },
        HandlerError::Ssh(russh::Error::IO(cause))
            if cause.kind() != io::ErrorKind::InvalidData =>
        {
            Error::Closed {
                peer,
                phase,
                message: messages.last_message(),
            }
        }
        HandlerError::Ssh(russh::Error::Disconnect | russh::Error::HUP) => Error::Closed {
            peer,
            phase,
            message: messages.last_message(),
        },
        HandlerError::Ssh(error) => Error::Protocol {
            peer,
            protocol: "SSH",
            phase,
            problem: match error {
                russh::Error::Version => NO_SSH.to_owned(),
                error => error.to_string().to_lowercase(),
            },
        },
    }
}
