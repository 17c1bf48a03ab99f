//! The connections to one host. One connection carries as many programs as the host permits; further ones are opened
//! only when there are more programs, one after another.
//!
//! The number (`MaxSessions` of OpenSSH's server) is learnt from the first refusal and remembered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::lock::locked;
use devgate_transports::{
    ByteStream, Context, Destination, Error, HostSettings, Result, SshHost,
};
use tokio::sync::{Mutex as Turn, Notify};
use tokio::time::Instant;

/// The connections to one host.
pub(crate) struct Lines {
    settings: HostSettings,
    state: Mutex<State>,
    /// Connections are opened one after another, because servers refuse bursts of them (`MaxStartups`).
    opening: Turn<()>,
    changed: Notify,
}

struct State {
    lines: Vec<Arc<Line>>,
    /// How many programs a connection can carry, as far as is known.
    carries: usize,
    /// The most programs that a connection has carried.
    most: usize,
    /// Whether the host accepts no further connection.
    full: bool,
}

/// One connection.
struct Line {
    host: Arc<SshHost>,
    /// The number of programs that run on the connection or are being started.
    used: AtomicUsize,
    /// The number of programs that run on the connection.
    open: AtomicUsize,
}

/// Room for one program on a connection, until it is dropped.
pub(super) struct Lease<'a> {
    lines: &'a Lines,
    line: Arc<Line>,
    is_open: bool,
}

/// How often a program is refused before the refusal counts as final. A host may need a moment to notice that a program
/// on a connection has ended.
const REFUSALS: u32 = 20;

/// How often a connection may turn out to be lost when a program is to be started on it.
const LOSSES: u32 = 3;

impl Lines {
    pub(crate) fn new(settings: HostSettings) -> Self {
        Self {
            settings,
            state: Mutex::new(State {
                lines: Vec::new(),
                carries: usize::MAX,
                most: 0,
                full: false,
            }),
            opening: Turn::default(),
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
    ) -> Result<(T, Lease<'_>)> {
        let (mut refusals, mut losses) = (0, 0);
        loop {
            let mut lease = self.lease(ctx).await?;
            match start(&lease.line.host).await {
                Ok(started) => {
                    lease.opened();
                    return Ok((started, lease));
                }
                Err(error @ Error::NoMoreSessions { .. }) => {
                    refusals += 1;
                    if !lease.refused(refusals) {
                        return Err(error);
                    }
                }
                Err(error) if lease.line.host.is_closed() => {
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
    pub(crate) async fn reach(&self, ctx: &Context<'_>) -> Result<()> {
        self.lease(ctx).await.map(drop)
    }

    /// Connects from the host to another place. A program's room is not needed for it.
    ///
    /// # Errors
    /// Fails when the host cannot be reached, or as [`SshHost::forward`].
    pub(crate) async fn forward(
        &self,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>> {
        let mut losses = 0;
        loop {
            let host = self.any(ctx).await?;
            match host.forward(to, limit, deadline).await {
                Err(error) if host.is_closed() => {
                    losses += 1;
                    if losses == LOSSES {
                        return Err(error);
                    }
                }
                forwarded => return forwarded,
            }
        }
    }

    /// Returns an open connection, however many programs it carries.
    async fn any(&self, ctx: &Context<'_>) -> Result<Arc<SshHost>> {
        loop {
            let first = || {
                let state = self.state();
                let mut open = state.lines.iter().filter(|line| !line.host.is_closed());
                open.next().map(|line| Arc::clone(&line.host))
            };
            if let Some(host) = first() {
                return Ok(host);
            }
            let _turn = self.opening.lock().await;
            if first().is_none() {
                self.state().lines.clear();
                self.open(ctx).await?;
            }
        }
    }

    async fn lease(&self, ctx: &Context<'_>) -> Result<Lease<'_>> {
        loop {
            let changed = self.changed.notified();
            if let Some(lease) = self.free() {
                return Ok(lease);
            }
            tokio::select! {
                () = changed => {}
                _turn = self.opening.lock(), if !self.state().full => {
                    // Another task may have made room during the wait for the turn.
                    if let Some(lease) = self.free() {
                        return Ok(lease);
                    }
                    if !self.state().full {
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
                state.lines.push(Arc::new(Line::new(host)));
                ctx.debug(format!("connection {} is open", state.lines.len()));
            }
            Err(error) if self.state().lines.is_empty() => return Err(error),
            Err(error) => {
                self.state().full = true;
                ctx.notice(format!(
                    "cannot open another connection, so tasks wait for the open ones: {error}"
                ));
            }
        }
        self.changed.notify_waiters();
        Ok(())
    }

    fn free(&self) -> Option<Lease<'_>> {
        let mut state = self.state();
        state.lines.retain(|line| !line.host.is_closed());
        state.full &= !state.lines.is_empty();
        let carries = state.carries;
        let has_room = |line: &&Arc<Line>| line.used.load(Ordering::Relaxed) < carries;
        let line = state.lines.iter().find(has_room)?;
        line.used.fetch_add(1, Ordering::Relaxed);
        Some(Lease {
            lines: self,
            line: Arc::clone(line),
            is_open: false,
        })
    }

    /// Returns the number of open connections.
    pub(super) fn count(&self) -> usize {
        self.state().lines.len()
    }

    /// Closes all connections at once.
    pub(crate) async fn close(&self) {
        let lines = std::mem::take(&mut self.state().lines);
        let closing = lines.into_iter().filter_map(Arc::into_inner);
        futures_util::future::join_all(closing.map(|line| async {
            // A connection that sessions go through stays open for them.
            if let Some(host) = Arc::into_inner(line.host) {
                host.close().await;
            }
        })).await;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl Line {
    fn new(host: SshHost) -> Self {
        Self {
            host: Arc::new(host),
            used: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }
    }
}

impl Lease<'_> {
    fn opened(&mut self) {
        self.is_open = true;
        let open = self.line.open.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = self.lines.state();
        state.most = state.most.max(open);
        // The answers to a burst of requests may be seen in another order than that of their arrival.
        state.carries = state.carries.max(open);
    }

    /// Learns the limit from a refusal. Returns `false` when the host permits nothing at all.
    fn refused(&self, times: u32) -> bool {
        let open = self.line.open.load(Ordering::Relaxed);
        let mut state = self.lines.state();
        if open > 0 && (open >= state.most || times > REFUSALS) {
            state.carries = open;
        }
        open > 0 || times <= REFUSALS
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.line.used.fetch_sub(1, Ordering::Relaxed);
        if self.is_open {
            self.line.open.fetch_sub(1, Ordering::Relaxed);
        }
        self.lines.changed.notify_one();
    }
}
