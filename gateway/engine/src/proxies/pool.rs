//! The hosts that may run a target's tasks: chooses one of them, and reports those that cannot be used.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::Level;
use devgate_transports::Context;
use serde_json::json;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, timeout};

use super::host_use::HostUse;
use super::loads::{ProxyLoads, Ticket};
use super::run_host::{Health, HostPreview, HostSlot, RunHost};
use super::way::ProxyWay;

/// One or more hosts. Each task runs on the one with the lowest load.
#[derive(Debug)]
pub(crate) struct HostPool<'v> {
    /// The text before the members in an error: `run-on: proxies`.
    label: String,
    usage: HostUse,
    members: Vec<Arc<RunHost<'v>>>,
    /// Held by the request that takes the next slot, in the order of the requests.
    turn: AsyncMutex<()>,
    waiting: AtomicUsize,
    /// The member with which the search begins, so that equal ones alternate.
    first: AtomicUsize,
    reported: Mutex<HashSet<usize>>,
    changed: Arc<Notify>,
    /// The loads of the proxies, over all runs.
    loads: &'v ProxyLoads,
}

/// How long hosts that are being opened are waited for before another one is opened.
const HEDGE: Duration = Duration::from_secs(2);

/// How long connecting usually takes at most.
const USUAL_CONNECT_TIME: Duration = Duration::from_secs(1);

/// How long a task waits for a change before it checks the members again.
const RECHECK: Duration = Duration::from_millis(500);

/// The result of a check of the members.
enum Selection<'v> {
    HostSlot(HostSlot<'v>),
    /// A slot is expected.
    Wait,
    /// None is expected: every member has failed.
    Down,
}

impl<'v> HostPool<'v> {
    pub(super) fn new(
        label: String,
        usage: HostUse,
        members: Vec<Arc<RunHost<'v>>>,
        loads: &'v ProxyLoads,
    ) -> Self {
        Self {
            label,
            usage,
            members,
            turn: AsyncMutex::default(),
            waiting: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            reported: Mutex::default(),
            changed: loads.changed(),
            loads,
        }
    }

    /// Returns the way to each member.
    pub(super) fn ways(&self) -> Vec<ProxyWay> {
        let members = self.members.iter();
        let ways = members.map(|member| {
            let (fault, is_opening) = match member.health() {
                Health::Down(why) => (Some(why), false),
                Health::Opening | Health::Preparing => (None, true),
                Health::Untried | Health::Up => (None, false),
            };
            ProxyWay {
                name: member.name().to_owned(),
                hops: member.hops(),
                fault,
                is_opening,
                is_alternative: self.members.len() > 1,
            }
        });
        ways.collect()
    }

    /// Whether one of the other members is up, but has no room.
    pub(super) fn has_full_member(&self, except: &[String]) -> bool {
        self.members.iter().any(|member| {
            let is_meant = except.iter().all(|name| name != member.name());
            is_meant && member.health() == Health::Up && member.is_full()
        })
    }

    /// Returns how many members are not known to be down.
    pub(super) fn usable_count(&self) -> usize {
        let members = self.members.iter();
        let usable = members.filter(|member| !matches!(member.health(), Health::Down(_)));
        usable.count()
    }

    /// Returns the number of members.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Reports once for each member that it did not do what a target needed, and which is used instead.
    pub(super) fn report_setback(
        &self,
        ctx: &Context<'_>,
        name: &str,
        why: &impl Display,
        instead: &str,
    ) {
        let at = self.members.iter().position(|member| member.name() == name);
        let is_new = at.is_some_and(|at| locked(&self.reported).insert(at));
        let message = format!("{instead} is used in place of {name}: {why}");
        ctx.log(if is_new { Level::Notice } else { Level::Debug }, message);
    }

    /// Returns what is known of the members without connecting to them.
    pub(crate) fn previews(&self) -> Vec<HostPreview> {
        self.members.iter().map(|member| member.preview()).collect()
    }

    /// Returns a slot for one target on the host with the lowest load. Targets get their slots in the order of the
    /// requests.
    ///
    /// Hosts are opened when they are needed: as many at once as there are waiting targets, and a further one if those
    /// take too long. A host that cannot be reached is reported once, and not tried again in this run.
    ///
    /// # Errors
    /// Fails when none of the hosts can be used. The message names each with its cause.
    pub(crate) async fn slot(&self) -> Result<HostSlot<'v>, Failure> {
        self.slot_except(&[]).await
    }

    /// Returns a slot as [`slot`](Self::slot) does, but not on these hosts.
    ///
    /// # Errors
    /// Fails when none of the other hosts can be used.
    pub(super) async fn slot_except(&self, except: &[String]) -> Result<HostSlot<'v>, Failure> {
        let _waiting = Waiting::new(&self.waiting);
        // One more waiting task may require more hosts. The task whose turn it is opens them.
        self.changed.notify_waiters();
        let _turn = self.turn.lock().await;
        let ticket = self.loads.ticket();
        let begun = Instant::now();
        let mut hedged = 0;
        loop {
            let changed = self.changed.notified();
            match self.select(hedged, &ticket, except) {
                Selection::HostSlot(slot) => return Ok(slot),
                Selection::Down => return Err(self.problems()),
                Selection::Wait => {}
            }
            // Other runs change the loads at any time.
            let _ = timeout(RECHECK, changed).await;
            if begun.elapsed() >= HEDGE * (hedged + 1) {
                hedged += 1;
            }
        }
    }

    fn select(&self, hedged: u32, ticket: &Ticket, except: &[String]) -> Selection<'v> {
        let is_meant = |member: &RunHost<'_>| except.iter().all(|name| name != member.name());
        let first = self.first.load(Ordering::Relaxed);
        let count = self.members.len();
        let in_turn = || {
            let members = (0..count).map(|at| &self.members[(first + at) % count]);
            members.filter(|member| is_meant(member))
        };
        let opens_for = |member: &RunHost<'_>, is_expected: fn(Duration) -> bool| {
            member.opening_time().is_some_and(is_expected)
        };
        let slow = in_turn().filter(|member| opens_for(member, |time| time >= HEDGE));
        // One in place of each that takes too long, whoever has waited for it.
        let hedged = slow.count().max(hedged as usize);
        let wanted = self.waiting.load(Ordering::Relaxed).max(1) + hedged;
        let mut up = 0;
        let mut opening = 0;
        for (at, member) in self.members.iter().enumerate() {
            let health = member.health();
            match health {
                // It is no help to this target.
                Health::Opening | Health::Preparing | Health::Up if !is_meant(member) => {}
                Health::Untried => {}
                Health::Opening | Health::Preparing => opening += 1,
                Health::Up => up += 1,
                Health::Down(why) => self.report_down(at, &why),
            }
        }
        let untried = in_turn().filter(|member| member.health() == Health::Untried);
        for member in untried.take(wanted.saturating_sub(up + opening)) {
            member.open();
        }
        let is_up = |member: &RunHost<'_>| member.health() == Health::Up;
        let mut by_load: Vec<_> = in_turn()
            .map(|member| (member.relative_load(), member))
            .collect();
        by_load.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        by_load.sort_by_key(|(_, member)| member.is_doubtful());
        // The first host that is up should not get all tasks. If it has its share, the others are waited for a moment.
        let least = by_load.iter().find(|(_, member)| is_up(member));
        if least.is_some_and(|(relative_load, _)| *relative_load >= 1.0)
            && self
                .members
                .iter()
                .any(|member| opens_for(member, |time| time < USUAL_CONNECT_TIME))
        {
            return Selection::Wait;
        }
        if let Some(slot) = by_load.iter().find_map(|(_, member)| member.slot(ticket)) {
            self.first.store((first + 1) % count, Ordering::Relaxed);
            return Selection::HostSlot(slot);
        }
        let is_down = |member: &Arc<RunHost<'_>>| matches!(member.health(), Health::Down(_));
        if in_turn().all(is_down) {
            Selection::Down
        } else {
            Selection::Wait
        }
    }

    /// Reports once why a member is not used, and which are used instead.
    fn report_down(&self, at: usize, why: &Failure) {
        let mut reported = locked(&self.reported);
        if !reported.insert(at) {
            return;
        }
        let others: Vec<&str> = self
            .members
            .iter()
            .filter(|member| !matches!(member.health(), Health::Down(_)))
            .map(|member| member.name())
            .collect();
        if !others.is_empty() {
            let ctx = self.members[at].host_context.ctx();
            let others = others.join(", ");
            ctx.notice(match self.usage {
                HostUse::Tasks { .. } => {
                    format!("it cannot be used in this run; tasks run on {others} instead; the reason: {why}")
                }
                HostUse::Sessions => {
                    format!("it cannot be used in this run; sessions go through {others} instead; the reason: {why}")
                }
            });
        }
    }

    /// Returns what keeps the members from being used.
    pub(super) fn problems(&self) -> Failure {
        let causes = self.members.iter().filter_map(|member| {
            let why = match member.health() {
                Health::Down(why) => why,
                Health::Opening | Health::Preparing => Failure::new(
                    "puppetlabs.tasks/connect-error",
                    "it could not be reached so far",
                ),
                Health::Up if member.is_full() => Failure::new(
                    "puppetlabs.tasks/connect-error",
                    "it has no room for one more session: raise its `concurrency`",
                ),
                Health::Untried | Health::Up => return None,
            };
            Some((member.name(), why))
        });
        let causes: Vec<(&str, Failure)> = causes.collect();
        let failure = match causes.as_slice() {
            [] => Failure::new(
                "puppetlabs.tasks/connect-error",
                "none had room in time: raise the `concurrency` of the proxies",
            ),
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
                        "{}none of its {} hosts can {}: {}",
                        self.label,
                        causes.len(),
                        match self.usage {
                            HostUse::Tasks { .. } => "run tasks",
                            HostUse::Sessions => "be used",
                        },
                        causes.join("; ")
                    ),
                )
            }
        };
        causes.iter().fold(failure, |failure, (name, why)| {
            failure.with_failed_proxy(name, json!({"kind": why.kind, "msg": why.msg}))
        })
    }
}

/// Counts one waiting task until it is dropped.
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
