//! Ends a child with everything that it has started: its process group and session, and processes that have left both
//! (`setsid`) and still carry the child's mark in their environment.
//!
//! Processes that have replaced their environment, too, are out of reach.

use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::lock::locked;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::time::timeout;

use super::guard::Guarded;
use super::identity::Stat;
use super::mark::MARK;

/// How long killed processes are waited for. Only the kernel can delay their end.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// How often the remaining processes are looked up. Concurrent callers share a snapshot.
const SNAPSHOT_AGE: Duration = Duration::from_millis(50);

/// A child and everything that it has started. If this is dropped before the child has ended, all of it is killed.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Option<Pid>,
    mark: String,
    /// Lets the guard end the tree if we are killed.
    guarded: Option<Guarded>,
    /// How long the tree has after a second request to end.
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
    /// The value of the mark variable, if it is set and readable.
    mark: String,
}

/// Returns the number of a child that has not been waited for.
pub(super) fn leader(child: &Child) -> Option<i32> {
    child.id().and_then(|id| i32::try_from(id).ok())
}

impl ProcessTree {
    /// Creates the tree of a child that leads a process group. It ends with us, even if we are killed.
    pub(super) fn of(child: &Child, guarded: Guarded) -> Self {
        let mut tree = Self::of_unowned(leader(child), guarded.mark().to_owned());
        if let Some(leader) = tree.leader {
            guarded.set_leader(leader);
            tree.guarded = Some(guarded);
        }
        tree
    }

    /// Creates the tree of a process that leads a process group if it still lives. It is not our child, or is to
    /// outlive us.
    pub(super) fn of_unowned(leader: Option<i32>, mark: String) -> Self {
        Self {
            leader: leader.map(Pid::from_raw),
            mark,
            guarded: None,
            respite: Duration::ZERO,
        }
    }

    /// Grants this time after a second request to end, which is sent when the run is to be killed.
    pub(super) fn with_respite(mut self, respite: Duration) -> Self {
        self.respite = respite;
        self
    }

    /// Records that the child has ended by itself and was waited for. Its descendants may live on.
    pub(super) fn mark_ended(&mut self) {
        self.leader = None;
        self.guarded = None;
    }

    /// Asks all processes to end, and kills those that have not after the grace period, or when the run is to be
    /// killed. The child must not have been waited for. Returns the processes that cannot be killed.
    pub(super) async fn end(&mut self, stop: &CancelToken, grace: Duration) -> BTreeSet<i32> {
        if self.terminate(stop, grace).await {
            self.mark_ended();
            return BTreeSet::new();
        }
        self.signal_group(Signal::SIGKILL);
        let begun = Instant::now();
        let remaining = loop {
            let remaining = self.remaining().await;
            if remaining.is_empty() || begun.elapsed() > KILL_WAIT {
                break remaining;
            }
            for pid in &remaining {
                send(*pid, Signal::SIGKILL);
            }
        };
        self.mark_ended();
        remaining
    }

    /// Asks all processes to end. Returns whether they have within the grace period, or within the respite after a
    /// second request.
    async fn terminate(&self, stop: &CancelToken, grace: Duration) -> bool {
        // The signal to the group reaches its members. A second signal would mean more: some programs then clean up
        // less.
        let recently = Snapshot::recent();
        let members = recently.processes.iter();
        let members = members.filter(|process| Some(process.group) == self.leader);
        let members = members.map(|process| process.pid).chain(self.leader);
        let mut signalled: BTreeSet<i32> = members.map(Pid::as_raw).collect();
        let terminate_all = async {
            self.signal_group(Signal::SIGTERM);
            // A stopped process gets no signal until it continues.
            self.signal_group(Signal::SIGCONT);
            loop {
                let remaining = self.remaining().await;
                for pid in remaining.iter().filter(|pid| signalled.insert(**pid)) {
                    send(*pid, Signal::SIGTERM);
                }
                if remaining.is_empty() {
                    return;
                }
            }
        };
        let mut terminate_all = pin!(terminate_all);
        tokio::select! {
            ended_in_time = timeout(grace, &mut terminate_all) => return ended_in_time.is_ok(),
            () = stop.reaches(Stage::Kill) => {}
        }
        if self.respite.is_zero() {
            return false;
        }
        self.signal_group(Signal::SIGTERM);
        timeout(self.respite, terminate_all).await.is_ok()
    }

    /// Returns the processes that still live, after a moment. Zombies do not count.
    pub(super) async fn remaining(&self) -> BTreeSet<i32> {
        let requested = Instant::now();
        drop(timeout(SNAPSHOT_AGE, pending::<()>()).await);
        self.members_in(&Snapshot::since(requested))
    }

    fn members_in(&self, snapshot: &Snapshot) -> BTreeSet<i32> {
        let of_us = |process: &&Process| {
            [process.group, process.session]
                .map(Some)
                .contains(&self.leader)
                || process.mark.contains(&self.mark)
        };
        let tree = snapshot.processes.iter().filter(of_us);
        tree.map(|process| process.pid.as_raw()).collect()
    }

    fn signal_group(&self, signal: Signal) {
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
        self.signal_group(Signal::SIGKILL);
        // A drop cannot wait. Many trees are dropped together, and share one snapshot.
        for pid in self.members_in(&Snapshot::recent()) {
            send(pid, Signal::SIGKILL);
        }
    }
}

impl Snapshot {
    /// Returns a snapshot that was not started before this time. The last one is reused if it is new enough.
    fn since(earliest: Instant) -> Arc<Self> {
        static LAST: Mutex<Option<Arc<Snapshot>>> = Mutex::new(None);
        let mut last = locked(&LAST);
        match last.as_ref().filter(|last| last.begun >= earliest) {
            Some(last) => Arc::clone(last),
            None => Arc::clone(last.insert(Arc::new(Self::take()))),
        }
    }

    /// Returns a recent snapshot, which concurrent callers share.
    fn recent() -> Arc<Self> {
        let recently = Instant::now().checked_sub(SNAPSHOT_AGE);
        Self::since(recently.unwrap_or_else(Instant::now))
    }

    fn take() -> Self {
        let begun = Instant::now();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self {
            begun,
            processes: pids.filter_map(Process::read).collect(),
        }
    }
}

impl Process {
    /// Reads a process, unless it has ended.
    fn read(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid).filter(|stat| !stat.has_ended)?;
        // The environments of other users' processes cannot be read, and we may not kill them.
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
