//! The connections to one host. One connection carries as many programs as the host permits; further ones are opened
//! only when there are more programs, one after another.
//!
//! The number (`MaxSessions` of OpenSSH's server) is learnt from the first refusal and remembered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use devgate_core::lock::locked;
use devgate_transports::error::Phase;
use devgate_transports::{
    ByteStream, Context, Destination, Error, HostSettings, ProxyConnection as _, Result, SshHost,
};
use futures_util::future::BoxFuture;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, timeout_at};

use super::forward_error::{ForwardError, no_session};

/// The connections to one host.
pub(crate) struct SshConnections {
    settings: HostSettings,
    state: Mutex<State>,
    /// Connections are opened one after another, because servers refuse bursts of them (`MaxStartups`).
    opening: AsyncMutex<()>,
    changed: Notify,
}

struct State {
    connections: Vec<Arc<SshConnection>>,
    /// How many programs a connection can carry, as far as is known.
    capacity: usize,
    /// The most programs that a connection has carried.
    most_open: usize,
    /// Whether the host accepts no further connection.
    is_full: bool,
}

/// One connection.
struct SshConnection {
    host: Arc<SshHost>,
    /// The number of programs that run on the connection or are being started.
    used: AtomicUsize,
    /// The number of programs that run on the connection.
    open: AtomicUsize,
}

/// Room for one program on a connection, until it is dropped.
pub(super) struct ConnectionLease {
    connections: Arc<SshConnections>,
    connection: Arc<SshConnection>,
    is_open: bool,
}

/// How often a program is refused before the refusal counts as final. A host may need a moment to notice that a program
/// on a connection has ended.
const REFUSALS: u32 = 20;

/// How long a host may take to prove that it is alive, after a request to it was not answered in time.
const SILENCE: Duration = Duration::from_secs(2);

/// How often a connection may turn out to be lost when a program is to be started on it.
const LOSSES: u32 = 3;

impl SshConnections {
    pub(crate) fn new(settings: HostSettings) -> Self {
        Self {
            settings,
            state: Mutex::new(State {
                connections: Vec::new(),
                capacity: usize::MAX,
                most_open: 0,
                is_full: false,
            }),
            opening: AsyncMutex::default(),
            changed: Notify::new(),
        }
    }

    /// Starts a program on a connection that has room for it. If there is none, a connection is opened.
    ///
    /// # Errors
    /// Fails when no connection can be opened, or when the program was not started for another reason than lack of
    /// room.
    pub(super) async fn start<T>(
        self: &Arc<Self>,
        ctx: &Context<'_>,
        start: impl Fn(Arc<SshHost>) -> BoxFuture<'static, Result<T>>,
    ) -> Result<(T, ConnectionLease)> {
        let (mut refusals, mut losses) = (0, 0);
        loop {
            let mut lease = self.lease(ctx).await?;
            match start(Arc::clone(&lease.connection.host)).await {
                Ok(started) => {
                    lease.program_started();
                    return Ok((started, lease));
                }
                Err(error @ Error::NoMoreSessions { .. }) => {
                    refusals += 1;
                    if !lease.learn_from_refusal(refusals) {
                        return Err(error);
                    }
                }
                Err(error) if lease.connection.host.is_closed() => {
                    losses += 1;
                    if losses == LOSSES {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens the first connection.
    ///
    /// # Errors
    /// Fails when no connection can be opened.
    pub(crate) async fn connect(self: &Arc<Self>, ctx: &Context<'_>) -> Result<()> {
        self.lease(ctx).await.map(drop)
    }

    /// Connects from the host to another place. Only a program there needs room for a program.
    ///
    /// # Errors
    /// Fails with the error of the host, or of the destination.
    pub(crate) async fn forward(
        self: &Arc<Self>,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> std::result::Result<Box<dyn ByteStream>, ForwardError> {
        let by_program = self.settings.forwards_by_program(to);
        let (mut refusals, mut losses) = (0, 0);
        loop {
            let connecting = async {
                if by_program {
                    let lease = self.lease(ctx).await?;
                    Ok((Arc::clone(&lease.connection.host), Some(lease)))
                } else {
                    Ok((self.any(ctx).await?, None))
                }
            };
            let connecting = timeout_at(deadline, connecting).await;
            if by_program && connecting.is_err() && self.count() > 0 {
                let full = Error::NoMoreSessions {
                    peer: self.settings.peer(),
                    message: "all of its sessions are in use".to_owned(),
                };
                return Err(ForwardError::Destination(no_session(full, to)));
            }
            let Ok(connecting) = connecting else {
                // The host may still come back: only the session's own limit has passed.
                let late = self.no_answer(Phase::Connection, limit);
                return Err(ForwardError::Destination(late));
            };
            let (host, lease) = connecting.map_err(ForwardError::Host)?;
            let forwarded = match lease {
                None => host.forward(to, limit, deadline).await,
                Some(mut lease) => match host.start_relay(deadline).await {
                    Ok(relay) => {
                        lease.program_started();
                        host.relay(relay, lease, to, deadline).await
                    }
                    Err(error @ Error::NoMoreSessions { .. }) => {
                        refusals += 1;
                        if lease.learn_from_refusal(refusals) {
                            continue;
                        }
                        Err(no_session(error, to))
                    }
                    Err(error) => Err(error),
                },
            };
            let error = match forwarded {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let is_silent = matches!(error, Error::TimedOut { .. });
            if is_silent && !host.answers(SILENCE).await {
                self.remove(&host);
                let silent = self.no_answer(Phase::Channel, SILENCE);
                return Err(ForwardError::Host(silent));
            }
            if !host.is_closed() {
                return Err(ForwardError::Destination(error));
            }
            losses += 1;
            if losses == LOSSES {
                return Err(ForwardError::Host(error));
            }
        }
    }

    /// Returns an open connection, however many programs it carries.
    async fn any(&self, ctx: &Context<'_>) -> Result<Arc<SshHost>> {
        loop {
            if let Some(host) = self.first(ctx) {
                return Ok(host);
            }
            let _turn = self.opening.lock().await;
            if self.first(ctx).is_none() {
                self.open(ctx).await?;
            }
        }
    }

    /// Removes a connection that does not answer any more.
    fn remove(&self, host: &Arc<SshHost>) {
        let mut state = self.state();
        state
            .connections
            .retain(|connection| !Arc::ptr_eq(&connection.host, host));
    }

    fn no_answer(&self, phase: Phase, limit: Duration) -> Error {
        Error::TimedOut {
            peer: self.settings.peer(),
            phase,
            limit,
            hint: ": it is the proxy; check that it is up".to_owned(),
        }
    }

    /// Returns the connection that sessions go through, without keeping it open.
    pub(crate) fn connection(&self) -> Weak<SshHost> {
        let state = self.state();
        let first = state.connections.first();
        first.map_or_else(Weak::new, |first| Arc::downgrade(&first.host))
    }

    /// Returns the settings of the connections.
    pub(crate) fn settings(&self) -> &HostSettings {
        &self.settings
    }

    fn first(&self, ctx: &Context<'_>) -> Option<Arc<SshHost>> {
        let mut state = self.state();
        let before = state.connections.len();
        state
            .connections
            .retain(|connection| !connection.host.is_closed());
        if state.connections.len() < before {
            ctx.warning("the connection was lost: what went through it has ended");
        }
        let first = state.connections.first()?;
        Some(Arc::clone(&first.host))
    }

    async fn lease(self: &Arc<Self>, ctx: &Context<'_>) -> Result<ConnectionLease> {
        loop {
            let changed = self.changed.notified();
            if let Some(lease) = self.lease_free() {
                return Ok(lease);
            }
            tokio::select! {
                () = changed => {}
                _turn = self.opening.lock(), if !self.state().is_full => {
                    // Another task may have made room during the wait for the turn.
                    if let Some(lease) = self.lease_free() {
                        return Ok(lease);
                    }
                    if !self.state().is_full {
                        self.open(ctx).await?;
                    }
                }
            }
        }
    }

    async fn open(&self, ctx: &Context<'_>) -> Result<()> {
        match SshHost::connect(ctx, &self.settings).await {
            Ok(host) => {
                let mut state = self.state();
                state.connections.push(Arc::new(SshConnection::new(host)));
                ctx.debug(format!("connection {} is open", state.connections.len()));
            }
            Err(error) if self.state().connections.is_empty() => return Err(error),
            Err(error) => {
                self.state().is_full = true;
                ctx.notice(format!(
                    "cannot open another connection, so tasks wait for the open ones: {error}"
                ));
            }
        }
        self.changed.notify_waiters();
        Ok(())
    }

    fn lease_free(self: &Arc<Self>) -> Option<ConnectionLease> {
        let mut state = self.state();
        state
            .connections
            .retain(|connection| !connection.host.is_closed());
        state.is_full &= !state.connections.is_empty();
        let capacity = state.capacity;
        let has_capacity =
            |connection: &&Arc<SshConnection>| connection.used.load(Ordering::Relaxed) < capacity;
        let connection = state.connections.iter().find(has_capacity)?;
        connection.used.fetch_add(1, Ordering::Relaxed);
        Some(ConnectionLease {
            connections: Arc::clone(self),
            connection: Arc::clone(connection),
            is_open: false,
        })
    }

    /// Returns the number of open connections.
    pub(super) fn count(&self) -> usize {
        self.state().connections.len()
    }

    /// Waits until an open connection turns out to be silent for this time. Otherwise, this never ends.
    pub(super) async fn silence(&self, limit: Duration) {
        let hosts: Vec<_> = {
            let state = self.state();
            let hosts = state.connections.iter();
            hosts.map(|one| Arc::clone(&one.host)).collect()
        };
        match hosts.iter().find(|host| !host.is_closed()) {
            Some(host) if !host.answers(limit).await => {}
            Some(_) | None => std::future::pending().await,
        }
    }

    /// Drops all connections without a goodbye.
    pub(super) fn abandon(&self) {
        self.state().connections.clear();
    }

    /// Closes all connections at once.
    pub(crate) async fn close(&self) {
        let connections = std::mem::take(&mut self.state().connections);
        let closing = connections.into_iter().filter_map(Arc::into_inner);
        futures_util::future::join_all(closing.map(async |connection| {
            // A connection that sessions go through stays open for them.
            if let Some(host) = Arc::into_inner(connection.host) {
                host.close().await;
            }
        }))
        .await;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl std::fmt::Debug for SshConnections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SshConnections")
            .field("peer", &self.settings.peer())
            .finish_non_exhaustive()
    }
}

impl SshConnection {
    fn new(host: SshHost) -> Self {
        Self {
            host: Arc::new(host),
            used: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }
    }
}

impl ConnectionLease {
    fn program_started(&mut self) {
        self.is_open = true;
        let open = self.connection.open.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = self.connections.state();
        state.most_open = state.most_open.max(open);
        // The answers to a burst of requests may be seen in another order than that of their arrival.
        state.capacity = state.capacity.max(open);
    }

    /// Learns the limit from a refusal. Returns `false` when the host permits nothing at all.
    fn learn_from_refusal(&self, times: u32) -> bool {
        let open = self.connection.open.load(Ordering::Relaxed);
        let mut state = self.connections.state();
        if open > 0 && (open >= state.most_open || times > REFUSALS) {
            state.capacity = open;
        }
        open > 0 || times <= REFUSALS
    }
}

impl Drop for ConnectionLease {
    fn drop(&mut self) {
        self.connection.used.fetch_sub(1, Ordering::Relaxed);
        if self.is_open {
            self.connection.open.fetch_sub(1, Ordering::Relaxed);
        }
        self.connections.changed.notify_one();
    }
}
