//! One host of a run. It is opened once, when it is first needed; once given up, it is not used again in this run.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use devgate_transports::HostSettings;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::loads::{ProxyLoad, Ticket};
use crate::hosts::{Host, HostContext, Shell, TaskBudget, TaskHostSettings};
use devgate_core::failure::Failure;
use devgate_core::lock::locked;

/// A host that a run may use.
pub(super) struct RunHost<'v> {
    pub(super) teller: Arc<HostContext<'v>>,
    access: Option<HostAccess>,
    /// How many tasks may run there at once.
    limit: Option<NonZeroUsize>,
    /// How many run there, of all runs.
    load: Arc<ProxyLoad>,
    state: Mutex<State<'v>>,
    opener: mpsc::UnboundedSender<Arc<Self>>,
    changed: Arc<Notify>,
}

struct State<'v> {
    health: Health,
    /// What was opened: also of a host that was given up, for its files are still there.
    host: Option<Arc<Host<'v>>>,
    /// When it was begun to connect to it.
    asked: Option<Instant>,
}

/// What is known of a host.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Health {
    /// Nobody has needed it yet.
    Untried,
    /// It is being connected to.
    Opening,
    /// It has been connected to, and may have the run's directory from now on.
    Preparing,
    /// Tasks can run there.
    Up,
    /// It is not used any more in this run.
    Down(Failure),
}

/// How a host is opened.
#[derive(Debug)]
pub(super) enum HostAccess {
    /// As this node.
    Local(TaskHostSettings),
    /// Over SSH.
    Ssh(Box<HostSettings>, TaskHostSettings),
}

/// A slot for one task on a host. Dropped, it is free again.
pub(crate) struct TaskSlot<'v> {
    member: Arc<RunHost<'v>>,
    host: Arc<Host<'v>>,
}

/// A preview of a host: what is known without connecting to it.
#[derive(Debug)]
pub(crate) struct HostPreview {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// Whether it is this node.
    pub(crate) is_local: bool,
    /// What it has: of another node only what every host has.
    pub features: BTreeSet<String>,
    /// As whom tasks run, where that is not who logs in.
    pub run_as: Option<String>,
    /// Where tasks are laid out, where somebody says so.
    pub tmpdir: Option<String>,
    /// Whether what was laid out is removed.
    pub cleanup: bool,
    /// What runs files, by extension.
    pub(crate) interpreters: BTreeMap<String, Vec<String>>,
    /// What tasks may take.
    pub budget: TaskBudget,
    /// Why it cannot be used.
    pub fault: Option<Failure>,
}

/// How many tasks a host counts as made for, where nobody says: as many as one connection to
/// OpenSSH's server carries, unless that is configured.
const USUAL: f64 = 10.0;

/// How long connecting takes where all is well.
const ARRIVING: Duration = Duration::from_secs(1);

impl<'v> RunHost<'v> {
    pub(super) fn new(
        teller: HostContext<'v>,
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
            asked: None,
        });
        Self {
            teller: Arc::new(teller),
            access,
            limit,
            load,
            state,
            opener,
            changed,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.teller.name()
    }

    pub(super) fn health(&self) -> Health {
        self.state().health.clone()
    }

    /// What is known before anybody connects to it.
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
            Some(HostAccess::Ssh(connection, _)) => {
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

    /// Has the host opened, unless it was tried already.
    pub(super) fn open(self: &Arc<Self>) {
        let mut state = self.state();
        match (&self.access, &state.health) {
            (Some(HostAccess::Local(settings)), Health::Untried) if settings.run_as.is_none() => {
                state.host = Some(Arc::new(Host::local(settings.clone())));
                state.health = Health::Up;
            }
            (_, Health::Untried) => {
                state.health = Health::Opening;
                state.asked = Some(Instant::now());
                // Where nobody opens hosts any more, the run has ended.
                drop(self.opener.send(Arc::clone(self)));
            }
            (_, Health::Opening | Health::Preparing | Health::Up | Health::Down(_)) => {}
        }
    }

    /// Connects to the host; its health is known afterwards.
    pub(super) async fn connect(&self) {
        let teller = Arc::clone(&self.teller);
        let opened = async {
            let mut shell = match &self.access {
                Some(HostAccess::Ssh(connection, settings)) => {
                    let connection = HostSettings::clone(connection);
                    Shell::over_ssh(teller, connection, settings.clone()).await?
                }
                Some(HostAccess::Local(settings)) => Shell::here(teller, settings.clone())?,
                None => return Ok(None),
            };
            self.state().health = Health::Preparing;
            shell.prepare().await?;
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

    /// Room for one more task, where the host is up; `None` where there is none, or another run waits for it since
    /// before this ticket.
    pub(super) fn slot(self: &Arc<Self>, ticket: &Ticket) -> Option<TaskSlot<'v>> {
        let state = self.state();
        if state.health != Health::Up {
            ticket.leave(&self.load);
            return None;
        }
        if let Some(limit) = self.limit
            && !(ticket.is_next_for(&self.load) && self.load.tasks() < limit.get())
        {
            return None;
        }
        let host = state.host.clone()?;
        drop(state);
        self.load.add();
        let member = Arc::clone(self);
        Some(TaskSlot { member, host })
    }

    /// How much of the host is in use: what is compared when one of several is chosen.
    pub(super) fn share(&self) -> f64 {
        let limit = self.limit.map_or(USUAL, |limit| limit.get() as f64);
        self.load.tasks() as f64 / limit
    }

    /// Whether it is only now being connected to, and may well be up in a moment.
    pub(super) fn is_arriving(&self) -> bool {
        let state = self.state();
        matches!(state.health, Health::Opening | Health::Preparing)
            && state.asked.is_some_and(|asked| asked.elapsed() < ARRIVING)
    }

    /// Leaves the host for good.
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

impl<'v> TaskSlot<'v> {
    /// The host's name.
    pub(crate) fn name(&self) -> &str {
        self.member.name()
    }

    /// Where the task runs.
    pub(crate) fn host(&self) -> &Host<'v> {
        &self.host
    }

    /// The host cannot start tasks: nobody uses it any more in this run.
    pub(crate) fn give_up(self, why: Failure) {
        self.member.state().health = Health::Down(why);
    }
}

impl Drop for TaskSlot<'_> {
    fn drop(&mut self) {
        self.member.load.take_off();
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
