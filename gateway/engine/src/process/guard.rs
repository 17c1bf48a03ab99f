//! Ends our children when we are killed: after SIGKILL we cannot do that ourselves. The guard is a process of our own
//! that is started with the first child. A pipe carries the list of the running children to it. When the pipe is closed, because
//! we have ended, it ends those that are left.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, PipeWriter, Write};
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_core::cancel::CancelSource;
use futures_util::future::join_all;
use nix::unistd::Pid;
use tokio::runtime::Builder;

use super::mark;
use super::reexec::own_executable;
use super::spawn::{new_command, spawn};
use super::tree::ProcessTree;

/// The command line of a guard. It must be called `devgate`: another name would select a module.
const COMMAND_LINE: [&str; 2] = ["devgate", "guard"];

/// How long children have to end before they are killed. A devgate among them takes up to ten seconds to leave its
/// devices in order.
const GRACE: Duration = Duration::from_secs(15);

/// How often the guard searches for processes with a mark if we were killed before it knew their leader. The child may
/// just be starting.
const MAX_SEARCHES: usize = 20;

/// A child that is guarded while this is held. Created before the child starts, because we may be killed at any time.
#[derive(Debug)]
pub(super) struct Guarded {
    mark: String,
}

impl Guarded {
    /// Registers a new mark with the guard.
    pub(super) fn new() -> Self {
        let mark = mark::mark();
        send_to_guard(&format!("+ {mark}\n"));
        Self { mark }
    }

    /// Returns the mark.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Registers the process group of the child that leads it.
    pub(super) fn set_leader(&self, leader: Pid) {
        send_to_guard(&format!("+ {} {leader}\n", self.mark));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        send_to_guard(&format!("- {}\n", self.mark));
    }
}

/// Sends a line to the guard; a pipe takes it atomically. If no guard can be started, children run without one.
fn send_to_guard(line: &str) {
    static GUARD: LazyLock<Option<PipeWriter>> = LazyLock::new(|| {
        let started = start();
        started
            .inspect_err(|error| tracing::debug!("no guard can be started: {error}"))
            .ok()
    });
    if let Some(mut guard) = GUARD.as_ref()
        && let Err(error) = guard.write_all(line.as_bytes())
    {
        tracing::debug!("the guard does not listen: {error}");
    }
}

fn start() -> io::Result<PipeWriter> {
    let (reader, writer) = io::pipe()?;
    // A guard that is stopped must not block us.
    rustix::io::ioctl_fionbio(&writer, true)?;
    let [name, argument] = COMMAND_LINE;
    let mut command = new_command(&[own_executable(), argument.into()])?;
    // The guard keeps no directory in use, and gets no signal of our group.
    command
        .arg0(name)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::from(reader))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    spawn(&mut command).map(|_| writer)
}

/// Whether a command line is that of a guard. Every devgate that starts a process starts one, so this is asked before all
/// that a guard does not need.
pub fn is_guard(words: impl Iterator<Item = OsString>) -> bool {
    words.eq(COMMAND_LINE)
}

/// Runs the guard: reads from stdin which children run until the input ends, and then ends those that are left.
///
/// # Errors
/// Fails when children are left and cannot be ended, because no runtime can be started.
pub fn guard() -> io::Result<()> {
    let mut running = BTreeMap::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[..] {
            ["+", mark] => running.insert(mark.to_owned(), None),
            ["+", mark, leader] => running.insert(mark.to_owned(), leader.parse().ok()),
            ["-", mark] => running.remove(mark),
            _ => None,
        };
    }
    if running.is_empty() {
        return Ok(());
    }
    let runtime = Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(end(running));
    Ok(())
}

/// Ends processes, each with its mark and the leader of its group if that is known.
async fn end(running: BTreeMap<String, Option<i32>>) {
    let nobody = CancelSource::default();
    let stop = nobody.token();
    let left = running.into_iter().map(|(mark, leader)| {
        let mut tree = ProcessTree::of_unowned(leader, mark);
        let searches = if leader.is_some() { 1 } else { MAX_SEARCHES };
        let stop = &stop;
        async move {
            for _ in 0..searches {
                tree.end(stop, GRACE).await;
            }
        }
    });
    join_all(left).await;
}
