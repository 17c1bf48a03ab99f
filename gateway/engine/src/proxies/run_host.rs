//! A host in a run. It is opened once, when it is first needed. After a failure, it is not used again in this run.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_transports::{ByteStream, Destination, Hop, ProxyLink};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::host_use::HostUse;
use super::loads::{ProxyLoad, Ticket};
use crate::hosts::{
    ForwardError, Host, HostContext, Shell, SshConnections, TaskBudget, TaskHostSettings,
};

/// A host that a run may use.
pub(super) struct RunHost<'v> {
    pub(super) host_context: Arc<HostContext<'v>>,
    usage: HostUse,
    access: Option<HostAccess>,
    /// The number of tasks that may run at once.
    limit: Option<NonZeroUsize>,
    /// The number of running tasks, over all runs.
    load: Arc<ProxyLoad>,
    /// How many slots were given away, and in how many of them nothing came through the host.
    uses: AtomicUsize,
    doubts: AtomicUsize,
    state: Mutex<State<'v>>,
    opener: mpsc::UnboundedSender<Arc<Self>>,
    changed: Arc<Notify>,
}

struct State<'v> {
    health: Health,
    /// The open host. It is kept after a failure, because the run's files are still on it.
    host: Option<Arc<Host<'v>>>,
    /// When opening began.
    opening_since: Option<Instant>,
}

/// The health of a host.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Health {
    /// Not needed so far.
    Untried,
    /// A connection is being opened.
    Opening,
    /// The connection is open, and the host may have the run's directory from now on.
    Preparing,
    /// Tasks can run on the host.
    Up,
    /// The host is not used any more in this run.
    Down(Failure),
}

/// How a host is opened.
#[derive(Debug)]
pub(super) enum HostAccess {
    /// As this node.
    Local(TaskHostSettings),
    /// Over SSH.
    Ssh(Arc<SshConnections>, TaskHostSettings),
}

/// A slot for one target on a host, for a task or for sessions. It is free again when it is dropped.
pub(crate) struct HostSlot<'v> {
    member: Arc<RunHost<'v>>,
    host: Arc<Host<'v>>,
}

/// A preview of a host: what is known without connecting to it.
#[derive(Debug)]
pub(crate) struct HostPreview {
    /// The name.
    pub name: String,
    /// The address.
    pub address: String,
    /// Whether the host is this node.
    pub(crate) is_local: bool,
    /// The features. For another node, only those that every host has.
    pub features: BTreeSet<String>,
    /// The user under which tasks run, unless it is the logged-in user.
    pub run_as: Option<String>,
    /// The directory for the files of tasks, if it is configured.
    pub tmpdir: Option<String>,
    /// Whether the files are removed.
    pub cleanup: bool,
    /// The interpreters of files, by extension.
    pub(crate) interpreters: BTreeMap<String, Vec<String>>,
    /// The limits of tasks.
    pub budget: TaskBudget,
    /// Why the host cannot be used.
    pub fault: Option<Failure>,
}

/// The default capacity of a host: the number of tasks that one connection to OpenSSH's server carries by default.
const DEFAULT_CAPACITY: f64 = 10.0;

impl<'v> RunHost<'v> {
    pub(super) fn new(
        usage: HostUse,
        host_context: HostContext<'v>,
        access: Result<HostAccess, Failure>,
        load: Arc<ProxyLoad>,
        opener: mpsc::UnboundedSender<Arc<Self>>,
        changed: Arc<Notify>,
    ) -> Self {
        let (access, health) = match access {
            Ok(access) => (Some(access), Health::Untried),
            Err(why) => (None, Health::Down(why)),
        };
        let limit = access
            .as_ref()
            .and_then(|access| access.settings().budget.concurrency);
        let state = Mutex::new(State {
            health,
            host: None,
            opening_since: None,
        });
        Self {
            usage,
            host_context: Arc::new(host_context),
            access,
            limit,
            load,
            uses: AtomicUsize::new(0),
            doubts: AtomicUsize::new(0),
            state,
            opener,
            changed,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.host_context.name()
    }

    pub(super) fn health(&self) -> Health {
        self.state().health.clone()
    }

    /// Returns what is known without connecting to the host.
    pub(super) fn preview(&self) -> HostPreview {
        let fault = match self.health() {
            Health::Down(why) => Some(why),
            Health::Untried | Health::Opening | Health::Preparing | Health::Up => None,
        };
        let settings = self.access.as_ref().map(HostAccess::settings);
        let settings = settings.cloned().unwrap_or_default();
        let (is_local, address, features) = match &self.access {
            Some(HostAccess::Local(settings)) => {
                let host = Host::local(settings.clone());
                (true, "this node".to_owned(), host.features().clone())
            }
            Some(HostAccess::Ssh(connections, _)) => {
                let connection = connections.settings();
                let address = format!("ssh {}@{}", connection.user(), connection.peer());
                (false, address, BTreeSet::from(["shell".to_owned()]))
            }
            None => (false, "unknown".to_owned(), BTreeSet::new()),
        };
        HostPreview {
            name: self.name().to_owned(),
            address,
            is_local,
            features,
            run_as: settings.run_as.map(|run_as| run_as.user),
            tmpdir: settings.tmpdir.map(|dir| dir.display().to_string()),
            cleanup: settings.cleanup,
            interpreters: settings.interpreters.into_iter().collect(),
            budget: settings.budget,
            fault,
        }
    }

    /// Returns the hops to the host, if it is behind SSH.
    pub(super) fn hops(&self) -> Vec<Hop> {
        match &self.access {
            Some(HostAccess::Ssh(connections, _)) => connections.settings().hops(),
            Some(HostAccess::Local(_)) | None => Vec::new(),
        }
    }

    /// Requests that the host be opened, unless that was done before.
    pub(super) fn open(self: &Arc<Self>) {
        let mut state = self.state();
        match (&self.access, &state.health) {
            (Some(HostAccess::Local(settings)), Health::Untried) if settings.run_as.is_none() => {
                state.host = Some(Arc::new(Host::local(settings.clone())));
                state.health = Health::Up;
            }
            (_, Health::Untried) => {
                state.health = Health::Opening;
                state.opening_since = Some(Instant::now());
                // The receiver is gone only when the run has ended.
                drop(self.opener.send(Arc::clone(self)));
            }
            (_, Health::Opening | Health::Preparing | Health::Up | Health::Down(_)) => {}
        }
    }

    /// Connects to the host and records its health.
    pub(super) async fn connect(&self) {
        let host_context = Arc::clone(&self.host_context);
        let opened = async {
            let shell = match &self.access {
                Some(HostAccess::Ssh(connections, settings)) => {
                    let connections = Arc::clone(connections);
                    Shell::over_ssh(host_context, connections, settings.clone()).await?
                }
                Some(HostAccess::Local(settings)) => {
                    Shell::for_local_user(host_context, settings.clone())?
                }
                None => return Ok(None),
            };
            if let HostUse::Tasks { limit } = self.usage {
                self.state().health = Health::Preparing;
                shell.prepare(limit).await?;
            }
            Ok(Some(shell))
        }
        .await;
        let mut state = self.state();
        match opened {
            Ok(None) => return,
            Ok(Some(shell)) => {
                state.host = Some(Arc::new(Host::Shell(Box::new(shell))));
                state.health = Health::Up;
            }
            Err(why) => state.health = Health::Down(why),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Returns a slot if the host is up and has room for one more task, and no earlier ticket of another run waits for
    /// it.
    pub(super) fn slot(self: &Arc<Self>, ticket: &Ticket) -> Option<HostSlot<'v>> {
        let state = self.state();
        if state.health != Health::Up {
            ticket.leave(&self.load);
            return None;
        }
        if self.limit.is_some() && (!ticket.is_next_for(&self.load) || self.is_full()) {
            return None;
        }
        let host = state.host.clone()?;
        drop(state);
        self.load.add();
        self.uses.fetch_add(1, Ordering::Relaxed);
        let member = Arc::clone(self);
        Some(HostSlot { member, host })
    }

    /// Whether the host has as many tasks and sessions as it may have.
    pub(super) fn is_full(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.load.tasks() >= limit.get())
    }

    /// Whether the host seems to carry nothing: then others are better.
    pub(super) fn is_doubtful(&self) -> bool {
        let doubts = self.doubts.load(Ordering::Relaxed);
        doubts * 2 > self.uses.load(Ordering::Relaxed)
    }

    /// Returns the load relative to the capacity, by which hosts are compared.
    pub(super) fn relative_load(&self) -> f64 {
        let limit = self
            .limit
            .map_or(DEFAULT_CAPACITY, |limit| limit.get() as f64);
        self.load.tasks() as f64 / limit
    }

    /// Returns for how long the host has been opening, if it is.
    pub(super) fn opening_time(&self) -> Option<Duration> {
        let state = self.state();
        let is_opening = matches!(state.health, Health::Opening | Health::Preparing);
        state
            .opening_since
            .filter(|_| is_opening)
            .map(|since| since.elapsed())
    }

    /// Closes the host.
    pub(super) async fn close(&self) {
        let host = self.state().host.take();
        if let Some(host) = host {
            host.close().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State<'v>> {
        locked(&self.state)
    }
}

impl HostAccess {
    fn settings(&self) -> &TaskHostSettings {
        match self {
            Self::Local(settings) | Self::Ssh(_, settings) => settings,
        }
    }
}

impl<'v> HostSlot<'v> {
    /// Returns the host's name.
    pub(crate) fn name(&self) -> &str {
        self.member.name()
    }

    /// Returns the host.
    pub(crate) fn host(&self) -> &Host<'v> {
        &self.host
    }

    /// Connects from the host to another place.
    ///
    /// # Errors
    /// Fails as [`Host::forward`].
    pub(super) async fn forward(
        &self,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>, ForwardError> {
        let host_ctx = self.member.host_context.ctx();
        let forwarding = self.host.forward(&host_ctx, to, limit, deadline);
        forwarding.await
    }

    /// Returns the connection to the host, unless it is this node.
    pub(super) fn link(&self) -> Option<ProxyLink> {
        Some(ProxyLink {
            proxy: self.name().to_owned(),
            connection: self.host.connection()?,
            setbacks: Vec::new(),
        })
    }

    /// Gives the slot back because nothing has come through the host.
    pub(super) fn doubt(self) {
        self.member.doubts.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that the host cannot start tasks, so that it is not used any more in this run.
    pub(crate) fn mark_host_down(self, why: Failure) {
        self.member.state().health = Health::Down(why);
    }
}

impl Drop for HostSlot<'_> {
    fn drop(&mut self) {
        self.member.load.remove();
        self.member.changed.notify_waiters();
    }
}

impl std::fmt::Debug for RunHost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHost")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
