//! The hosts that may run a target's tasks: which one does, and what becomes of those that cannot.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Mutex as Turn, Notify};
use tokio::time::{Instant, timeout};

use super::loads::{ProxyLoads, Ticket};
use super::run_host::{Health, HostPreview, RunHost, TaskSlot};
use devgate_core::failure::Failure;
use devgate_core::lock::locked;

/// One or more hosts, of which each task takes the one with the most room.
#[derive(Debug)]
pub(crate) struct HostPool<'v> {
    /// What stands before the members in an error: `run-on: proxies`.
    label: String,
    members: Vec<Arc<RunHost<'v>>>,
    /// Whose turn it is to take a seat: who waits longest.
    turn: Turn<()>,
    waiting: AtomicUsize,
    /// With whom the search begins: equals take turns.
    first: AtomicUsize,
    told: Mutex<HashSet<usize>>,
    changed: Arc<Notify>,
    /// Whose turn it is among the runs.
    loads: &'v ProxyLoads,
}

/// How long those who are being connected to are waited for before another is tried beside them.
const HEDGE: Duration = Duration::from_secs(2);

/// After how long it is looked again, where nothing changes.
const PAUSE: Duration = Duration::from_millis(500);

/// What a look at the members gives.
enum Look<'v> {
    TaskSlot(TaskSlot<'v>),
    /// Someone will have room.
    Wait,
    /// Nobody will: each has failed.
    Down,
}

impl<'v> HostPool<'v> {
    pub(super) fn new(
        label: String,
        members: Vec<Arc<RunHost<'v>>>,
        loads: &'v ProxyLoads,
    ) -> Self {
        Self {
            label,
            members,
            turn: Turn::default(),
            waiting: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            told: Mutex::default(),
            changed: loads.changed(),
            loads,
        }
    }

    /// What is known of the members before anybody connects to them.
    pub(crate) fn previews(&self) -> Vec<HostPreview> {
        self.members.iter().map(|member| member.preview()).collect()
    }

    /// Room for one task, on the host that has the most; who waits longest is served first.
    ///
    /// Hosts are connected to when they are needed: as many at once as there are targets waiting,
    /// and a further one where those take their time. A host that cannot be reached is told once,
    /// and not tried again in this run.
    ///
    /// # Errors
    /// None of the hosts can be used: each is named with its cause.
    pub(crate) async fn slot(&self) -> Result<TaskSlot<'v>, Failure> {
        let _waiting = Waiting::new(&self.waiting);
        // Whose turn it is may have more hosts opened for one more.
        self.changed.notify_waiters();
        let _turn = self.turn.lock().await;
        let ticket = self.loads.ticket();
        let begun = Instant::now();
        let mut hedged = 0;
        loop {
            let changed = self.changed.notified();
            match self.look(hedged, &ticket) {
                Look::TaskSlot(slot) => return Ok(slot),
                Look::Down => return Err(self.down()),
                Look::Wait => {}
            }
            // Other runs change something all the time.
            let _ = timeout(PAUSE, changed).await;
            if begun.elapsed() >= HEDGE * (hedged + 1) {
                hedged += 1;
            }
        }
    }

    fn look(&self, hedged: u32, ticket: &Ticket) -> Look<'v> {
        let first = self.first.load(Ordering::Relaxed);
        let count = self.members.len();
        let in_turn = || (0..count).map(|at| &self.members[(first + at) % count]);
        let wanted = self.waiting.load(Ordering::Relaxed).max(1) + hedged as usize;
        let mut up = 0;
        let mut opening = 0;
        for (at, member) in self.members.iter().enumerate() {
            match member.health() {
                Health::Untried => {}
                Health::Opening | Health::Preparing => opening += 1,
                Health::Up => up += 1,
                Health::Down(why) => self.tell(at, &why),
            }
        }
        let untried = in_turn().filter(|member| member.health() == Health::Untried);
        for member in untried.take(wanted.saturating_sub(up + opening)) {
            member.open();
        }
        let is_up = |member: &RunHost<'_>| member.health() == Health::Up;
        let mut by_share: Vec<_> = in_turn().map(|member| (member.share(), member)).collect();
        by_share.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        // Who is up first is not to get all: what is more than its part waits a moment for the others.
        let least = by_share.iter().find(|(_, member)| is_up(member));
        if least.is_some_and(|(share, _)| *share >= 1.0)
            && self.members.iter().any(|member| member.is_arriving())
        {
            return Look::Wait;
        }
        if let Some(slot) = by_share.iter().find_map(|(_, member)| member.slot(ticket)) {
            self.first.store((first + 1) % count, Ordering::Relaxed);
            return Look::TaskSlot(slot);
        }
        let is_down = |member: &Arc<RunHost<'_>>| matches!(member.health(), Health::Down(_));
        if self.members.iter().all(is_down) {
            Look::Down
        } else {
            Look::Wait
        }
    }

    /// Says once for a member why it is not used, and who is instead.
    fn tell(&self, at: usize, why: &Failure) {
        let mut told = locked(&self.told);
        if !told.insert(at) {
            return;
        }
        let others: Vec<&str> = self
            .members
            .iter()
            .filter(|member| !matches!(member.health(), Health::Down(_)))
            .map(|member| member.name())
            .collect();
        if !others.is_empty() {
            let ctx = self.members[at].teller.ctx();
            ctx.notice(format!(
                "this host runs no tasks in this run; they run on {}: {why}",
                others.join(", ")
            ));
        }
    }

    fn down(&self) -> Failure {
        let causes = self
            .members
            .iter()
            .filter_map(|member| match member.health() {
                Health::Down(why) => Some((member.name(), why)),
                Health::Untried | Health::Opening | Health::Preparing | Health::Up => None,
            });
        let causes: Vec<(&str, Failure)> = causes.collect();
        let proxies: serde_json::Map<_, _> = causes
            .iter()
            .map(|(name, why)| {
                (
                    (*name).to_owned(),
                    json!({"kind": why.kind, "msg": why.msg}),
                )
            })
            .collect();
        let failure = match causes.as_slice() {
            [(name, why)] => Failure {
                msg: format!("{}{name}: {why}", self.label),
                ..why.clone()
            },
            _ => {
                let causes: Vec<String> = causes
                    .iter()
                    .map(|(name, why)| format!("{name}: {why}"))
                    .collect();
                Failure::new(
                    "puppetlabs.tasks/connect-error",
                    format!(
                        "{}none of its {} hosts can run tasks: {}",
                        self.label,
                        causes.len(),
                        causes.join("; ")
                    ),
                )
            }
        };
        failure.with("proxies", proxies)
    }
}

/// One more who waits, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
