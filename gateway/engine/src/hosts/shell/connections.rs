//! The connections to one host. One connection carries as many programs as the host permits; further ones are opened
//! only when there are more programs, one after another.
//!
//! The number (`MaxSessions` of OpenSSH's server) is learnt from the first refusal and remembered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use devgate_core::lock::locked;
use devgate_transports::{Context, Error, HostSettings, Result, SshHost};
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// The connections to one host.
pub(super) struct SshConnections {
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
    host: SshHost,
    /// The number of programs that run on the connection or are being started.
    used: AtomicUsize,
    /// The number of programs that run on the connection.
    open: AtomicUsize,
}

/// Room for one program on a connection, until it is dropped.
pub(super) struct ConnectionLease<'a> {
    connections: &'a SshConnections,
    connection: Arc<SshConnection>,
    is_open: bool,
}

/// How often a program is refused before the refusal counts as final. A host may need a moment to notice that a program
/// on a connection has ended.
const REFUSALS: u32 = 20;

/// How often a connection may turn out to be lost when a program is to be started on it.
const LOSSES: u32 = 3;

impl SshConnections {
    pub(super) fn new(settings: HostSettings) -> Self {
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
        &self,
        ctx: &Context<'_>,
        start: impl AsyncFn(&SshHost) -> Result<T>,
    ) -> Result<(T, ConnectionLease<'_>)> {
        let (mut refusals, mut losses) = (0, 0);
        loop {
            let mut lease = self.lease(ctx).await?;
            match start(&lease.connection.host).await {
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
    pub(super) async fn connect(&self, ctx: &Context<'_>) -> Result<()> {
        self.lease(ctx).await.map(drop)
    }

    async fn lease(&self, ctx: &Context<'_>) -> Result<ConnectionLease<'_>> {
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

    fn lease_free(&self) -> Option<ConnectionLease<'_>> {
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
            connections: self,
            connection: Arc::clone(connection),
            is_open: false,
        })
    }

    /// Returns the number of open connections.
    pub(super) fn count(&self) -> usize {
        self.state().connections.len()
    }

    /// Closes all connections at once.
    pub(super) async fn close(&self) {
        let connections = std::mem::take(&mut self.state().connections);
        let closing = connections.into_iter().filter_map(Arc::into_inner);
        futures_util::future::join_all(closing.map(|connection| connection.host.close())).await;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl SshConnection {
    fn new(host: SshHost) -> Self {
        Self {
            host,
            used: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }
    }
}

impl ConnectionLease<'_> {
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

impl Drop for ConnectionLease<'_> {
    fn drop(&mut self) {
        self.connection.used.fetch_sub(1, Ordering::Relaxed);
        if self.is_open {
            self.connection.open.fetch_sub(1, Ordering::Relaxed);
        }
        self.connections.changed.notify_one();
    }
}
