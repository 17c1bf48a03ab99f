//! A session with a device. It is reopened after the connection was lost.

use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, MAX_VALUES, TransportSchema};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use tokio::time::Instant;

use super::change::Check;
use super::client::{Client, ClientSettings};
use super::operation::{Datastore, Filter, Operation};
use super::probation::Probation;
use super::procedure::ChangeProcedure;
use super::reply::Reply;
use crate::error::{Interruption, Phase};
use crate::info::{count, duration};
use crate::ssh::Ssh;
use crate::ssh::settings::Settings;
use crate::{Context, Error, ProtocolSession, Result, ssh};

/// A session with a device. It handles one request at a time.
#[derive(Debug)]
pub struct NetconfSession {
    settings: Settings,
    pub(super) client_settings: ClientSettings,
    /// The timeout of confirmed commits; `None` turns them off.
    pub(super) confirm_timeout: Option<Duration>,
    /// Whether the startup configuration is updated after changes.
    pub(super) save: bool,
    pub(super) open: Mutex<Open>,
}

/// The connection and its state.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// `None` after the connection was lost or abandoned, until the next operation opens it again.
    pub(super) client: Option<Client>,
    /// The changes that are not confirmed yet, if the run uses probation.
    pub(super) probation: Option<Probation>,
}

/// Like [`Open`], but certainly with a connection.
pub(super) struct Ready<'o> {
    pub(super) client: &'o mut Client,
    pub(super) probation: &'o mut Option<Probation>,
}

impl ProtocolSession for NetconfSession {
    const NAME: &'static str = "netconf";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&ssh::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let settings = Settings::read(ctx, info)?;
        let client_settings = ClientSettings {
            peer: settings.peer(),
            user: settings.user.clone(),
            timeout: settings.timeout,
            command_timeout: duration(info, "command_timeout", 120.0),
            answer_limit: count(info, "answer_limit", MAX_VALUES),
        };
        let confirm_timeout = info.integer("confirm_timeout").unwrap_or(60);
        let confirm_timeout = u64::try_from(confirm_timeout).ok().filter(|s| *s > 0);
        let session = Self {
            settings,
            client_settings,
            confirm_timeout: confirm_timeout.map(Duration::from_secs),
            save: info.boolean("save").unwrap_or(true),
            open: Mutex::default(),
        };
        let client = session.reach(ctx).await?;
        session.open.lock().await.client = Some(client);
        Ok(session)
    }
}

impl NetconfSession {
    /// Performs an independent operation. If it only reads and the connection is lost before the answer, it is
    /// sent again, within the context's retry budget.
    ///
    /// For operations that belong together (a lock and the changes it protects), use [`hold`](Self::hold) or
    /// [`change`](Self::change).
    ///
    /// # Errors
    /// Fails as [`Client::perform`] does, and when the device cannot be reached.
    pub async fn perform(&self, ctx: &Context<'_>, operation: &Operation) -> Result<Reply> {
        let mut open = self.open.lock().await;
        let what = format!(
            "ask {} for `{}`",
            self.client_settings.peer,
            operation.name()
        );
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        let mut again = false;
        loop {
            let started = Instant::now();
            let Ready { client, probation } = self.ready(ctx, &mut open).await?;
            if let Some(probation) = probation {
                let check = SecondSession(self);
                probation
                    .keep_up(&self.procedure(ctx, &check), client)
                    .await;
            }
            let result = client.perform(ctx, operation).await;
            ctx.retry_budget().record_result(&result);
            match result {
                Err(error @ Error::Interrupted(_)) if error.is_transient() => {
                    if again {
                        // Only the first try may have spent its time with work.
                        attempts.deduct(started.elapsed());
                    }
                    again = true;
                    attempts.pause(error).await?;
                }
                result => return result,
            }
        }
    }

    /// Locks the underlying NETCONF session for requests that belong together. It is not reopened while it
    /// is held, because a lost lock stays lost.
    ///
    /// # Errors
    /// Fails when the device cannot be reached.
    pub async fn hold(&self, ctx: &Context<'_>) -> Result<MappedMutexGuard<'_, Client>> {
        let mut open = self.open.lock().await;
        self.ready(ctx, &mut open).await?;
        Ok(MutexGuard::map(open, |open| {
            open.client.as_mut().expect("it is ready")
        }))
    }

    /// Returns the limit for opening a session.
    pub(super) fn timeout(&self) -> Duration {
        self.client_settings.timeout
    }

    /// Returns `host:port`.
    pub(super) fn peer(&self) -> &str {
        &self.client_settings.peer
    }

    /// Returns the open connection, and reopens it if it was lost. Its probation ends with a lost connection.
    pub(super) async fn ready<'o>(
        &self,
        ctx: &Context<'_>,
        open: &'o mut Open,
    ) -> Result<Ready<'o>> {
        let Open { client, probation } = open;
        if let Some(broken) = client.take_if(|client| !client.is_usable()) {
            if let Some(probation) = probation {
                probation.lose();
            }
            broken.close(ctx).await;
        }
        if client.is_none() {
            *client = Some(self.reach(ctx).await?);
        }
        Ok(Ready {
            client: client.as_mut().expect("it was opened just now"),
            probation,
        })
    }

    /// Returns the procedure for changes through this session.
    pub(super) fn procedure<'a>(
        &'a self,
        ctx: &'a Context<'a>,
        check: &'a dyn Check,
    ) -> ChangeProcedure<'a> {
        ChangeProcedure {
            ctx,
            peer: self.peer(),
            confirm_timeout: self.confirm_timeout,
            check,
        }
    }

    /// Connects, logs in and exchanges hellos. Retries transient errors.
    async fn reach(&self, ctx: &Context<'_>) -> Result<Client> {
        let what = format!("open a session with {}", self.client_settings.peer);
        let persisting = ctx.retry_budget().retry(ctx, what, || self.reach_once(ctx));
        persisting.await
    }

    /// Connects, logs in and exchanges hellos.
    pub(super) async fn reach_once(&self, ctx: &Context<'_>) -> Result<Client> {
        let deadline = self.settings.deadline();
        let ssh = Ssh::connect(ctx, &self.settings, deadline).await?;
        let channel = match ssh.subsystem("netconf", deadline).await {
            Ok(Some(channel)) => channel,
            Ok(None) => {
                let peer = self.client_settings.peer.clone();
                ssh.close().await;
                return Err(Error::ChannelRefused {
                    peer,
                    what: "NETCONF session: NETCONF is not enabled on this port (the SSH server \
                           has no subsystem `netconf`); enable it on the device, or set `port` to \
                           where it is, which is usually 830"
                        .to_owned(),
                    message: String::new(),
                    busy: false,
                });
            }
            // Nothing has been requested yet, so a restarting device may be waited for.
            Err(Error::Lost { peer, why }) => {
                return Err(Error::Closed {
                    peer,
                    phase: Phase::Channel,
                    message: why,
                });
            }
            Err(error) => return Err(error),
        };
        Client::open(
            ctx,
            channel,
            Some(ssh),
            self.client_settings.clone(),
            deadline,
        )
        .await
    }
}

/// The default check: a second session can be opened, and the device answers there.
pub(super) struct SecondSession<'a>(pub(super) &'a NetconfSession);

#[async_trait]
impl Check for SecondSession<'_> {
    async fn check(&self, ctx: &Context<'_>, _: &mut Client) -> Result<()> {
        let mut second = self.0.reach_once(ctx).await?;
        let answers = probe(ctx, &mut second, self.0.timeout()).await;
        second.close(ctx).await;
        answers
    }
}

/// Checks that the device answers, with a request that costs it nothing. A refusal is an answer.
pub(super) async fn probe(ctx: &Context<'_>, client: &mut Client, limit: Duration) -> Result<()> {
    let nothing = Operation::get_config(Datastore::Running, &Filter::Subtree(Vec::new()));
    match client.perform_within(ctx, &nothing, limit).await {
        Ok(_) | Err(Error::Refused(_)) => Ok(()),
        Err(Error::Interrupted(interrupted))
            if matches!(interrupted.why, Interruption::TooLong(_)) =>
        {
            Err(Error::TimedOut {
                peer: interrupted.peer,
                phase: Phase::Request,
                limit,
                hint: ": it keeps the session open, and is silent".to_owned(),
            })
        }
        Err(error) => Err(error),
    }
}
