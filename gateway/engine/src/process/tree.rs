//! Ending a child with all that it has started: its process group and session, and what has left both
//! (`setsid`) and still carries the child's mark in its environment.
//!
//! What replaces its environment too is out of reach.

use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::time::timeout;

use super::guard::Guarded;
use super::identity::Stat;
use super::mark::MARK;
use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::lock::locked;

/// How long killed processes are waited for; only the kernel can hold one back.
const KILLING: Duration = Duration::from_secs(5);

/// How often it is looked who is left; many that end at once look together.
const LOOK: Duration = Duration::from_millis(50);

/// A child and everything that it has started. All of it is killed when this is dropped before the child has ended.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Option<Pid>,
    mark: String,
    /// Ends it should we be killed.
    guarded: Option<Guarded>,
    /// How long it has when it is asked once more.
    respite: Duration,
}

/// All processes of this host at one time.
struct Snapshot {
    begun: Instant,
    processes: Vec<Process>,
}

struct Process {
    pid: Pid,
    group: Pid,
    session: Pid,
    /// The value of its variable, where it has it and we may look.
    mark: String,
}

/// The number of a child, as long as nobody has waited for it.
pub(super) fn leader(child: &Child) -> Option<i32> {
    child.id().and_then(|id| i32::try_from(id).ok())
}

impl ProcessTree {
    /// The tree of a child that leads a process group, which ends with us, also where we are killed.
    pub(super) fn of(child: &Child, guarded: Guarded) -> Self {
        let mut tree = Self::of_other(leader(child), guarded.mark().to_owned());
        if let Some(leader) = tree.leader {
            guarded.led_by(leader);
            tree.guarded = Some(guarded);
        }
        tree
    }

    /// The tree of a process that leads a process group, if it still lives, and is not our child, or is to outlive us.
    pub(super) fn of_other(leader: Option<i32>, mark: String) -> Self {
        Self {
            leader: leader.map(Pid::from_raw),
            mark,
            guarded: None,
            respite: Duration::ZERO,
        }
    }

    /// The same; where the run is to be killed, it is asked once more before, and has so long then.
    pub(super) fn with_respite(mut self, respite: Duration) -> Self {
        self.respite = respite;
        self
    }

    /// The child has ended by itself and was waited for: what it has left behind may live.
    pub(super) fn ended(&mut self) {
        self.leader = None;
        self.guarded = None;
    }

    /// Asks everything to end, and kills what has not after a grace, or when the run is to be killed.
    /// The child must not have been waited for. Gives what cannot be killed.
    pub(super) async fn end(&mut self, stop: &CancelToken, grace: Duration) -> BTreeSet<i32> {
        if self.ends_as_asked(stop, grace).await {
            self.ended();
            return BTreeSet::new();
        }
        self.group(Signal::SIGKILL);
        let begun = Instant::now();
        let left = loop {
            let left = self.left().await;
            if left.is_empty() || begun.elapsed() > KILLING {
                break left;
            }
            for pid in &left {
                send(*pid, Signal::SIGKILL);
            }
        };
        self.ended();
        left
    }

    /// Asks everything to end; whether it has, within the grace, or the respite where it is asked twice.
    async fn ends_as_asked(&self, stop: &CancelToken, grace: Duration) -> bool {
        // Those in the group are asked with it. Twice would mean more: some take that as leave to do less.
        let recently = Snapshot::recent();
        let members = recently.processes.iter();
        let members = members.filter(|process| Some(process.group) == self.leader);
        let members = members.map(|process| process.pid).chain(self.leader);
        let mut asked: BTreeSet<i32> = members.map(Pid::as_raw).collect();
        let ask = async {
            self.group(Signal::SIGTERM);
            // What is stopped hears nothing until it goes on.
            self.group(Signal::SIGCONT);
            loop {
                let left = self.left().await;
                for pid in left.iter().filter(|pid| asked.insert(**pid)) {
                    send(*pid, Signal::SIGTERM);
                }
                if left.is_empty() {
                    return;
                }
            }
        };
        let mut ask = pin!(ask);
        tokio::select! {
            over = timeout(grace, &mut ask) => return over.is_ok(),
            () = stop.reaches(Stage::Kill) => {}
        }
        if self.respite.is_zero() {
            return false;
        }
        self.group(Signal::SIGTERM);
        timeout(self.respite, ask).await.is_ok()
    }

    /// The processes that still live, in a moment: those that have ended and that nobody has waited
    /// for do not.
    pub(super) async fn left(&self) -> BTreeSet<i32> {
        let asked = Instant::now();
        drop(timeout(LOOK, pending::<()>()).await);
        self.of_these(&Snapshot::since(asked))
    }

    fn of_these(&self, snapshot: &Snapshot) -> BTreeSet<i32> {
        let of_us = |process: &&Process| {
            [process.group, process.session]
                .map(Some)
                .contains(&self.leader)
                || process.mark.contains(&self.mark)
        };
        let tree = snapshot.processes.iter().filter(of_us);
        tree.map(|process| process.pid.as_raw()).collect()
    }

    fn group(&self, signal: Signal) {
        if let Some(leader) = self.leader
            && let Err(error) = killpg(leader, signal)
        {
            tracing::debug!("process group {leader} took no {signal}: {error}");
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if self.leader.is_none() {
            return;
        }
        self.group(Signal::SIGKILL);
        // Nothing can be waited for here; many are dropped together, and need one look.
        for pid in self.of_these(&Snapshot::recent()) {
            send(pid, Signal::SIGKILL);
        }
    }
}

impl Snapshot {
    /// A snapshot that was not begun before this time; the last one, if that is new enough.
    fn since(earliest: Instant) -> Arc<Self> {
        static LAST: Mutex<Option<Arc<Snapshot>>> = Mutex::new(None);
        let mut last = locked(&LAST);
        match last.as_ref().filter(|last| last.begun >= earliest) {
            Some(last) => Arc::clone(last),
            None => Arc::clone(last.insert(Arc::new(Self::take()))),
        }
    }

    /// A snapshot that is new enough for many who need one at once.
    fn recent() -> Arc<Self> {
        let recently = Instant::now().checked_sub(LOOK);
        Self::since(recently.unwrap_or_else(Instant::now))
    }

    fn take() -> Self {
        let begun = Instant::now();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self {
            begun,
            processes: pids.filter_map(Process::look).collect(),
        }
    }
}

impl Process {
    /// A process that has not ended.
    fn look(pid: i32) -> Option<Self> {
        let stat = Stat::of(pid).filter(|stat| !stat.has_ended)?;
        // Those of others cannot be read, and are not ours to kill.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let variables = environment.split(|byte| *byte == 0);
        let mark =
            variables.filter_map(|pair| pair.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
        Some(Self {
            pid: Pid::from_raw(pid),
            group: stat.group,
            session: stat.session,
            mark: mark.map(String::from_utf8_lossy).collect(),
        })
    }
}

fn send(pid: i32, signal: Signal) {
    match kill(Pid::from_raw(pid), signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => tracing::debug!("process {pid} took no {signal}: {error}"),
    }
}
