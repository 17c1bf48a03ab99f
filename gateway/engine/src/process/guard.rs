//! The end of children whose parent is killed: SIGKILL leaves it no time to end them itself. A process of our own,
//! the guard, is started with the first child. It hears through a pipe which children run, and ends those that are
//! left when the pipe ends, which is when we do.

use std::collections::BTreeMap;
use std::io::{self, BufRead, PipeWriter, Write};
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::future::join_all;
use nix::unistd::Pid;

use super::mark;
use super::reexec::own_executable;
use super::spawn::{bare, spawn};
use super::tree::ProcessTree;
use devgate_core::cancel::CancelSource;

/// The word that starts a guard.
const WORD: &str = "guard";

/// How long children have to end before they are killed: a devgate among them takes ten seconds to leave its devices
/// as they should be.
const GRACE: Duration = Duration::from_secs(15);

/// How often what carries a mark is looked for, where we were killed before we could say who leads it: it may just be
/// starting.
const LOOKS: usize = 20;

/// A child that is guarded as long as this is held: from before its start, for we may be killed at any time.
#[derive(Debug)]
pub(super) struct Guarded {
    mark: String,
}

impl Guarded {
    /// Guards what will carry a mark of its own.
    pub(super) fn new() -> Self {
        let mark = mark::mark();
        tell(&format!("+ {mark}\n"));
        Self { mark }
    }

    /// The mark.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Guards the process group of the child, too, which it leads.
    pub(super) fn led_by(&self, leader: Pid) {
        tell(&format!("+ {} {leader}\n", self.mark));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell(&format!("- {}\n", self.mark));
    }
}

/// Tells the guard a line, which a pipe takes whole. Children run without a guard where there can be none.
fn tell(line: &str) {
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
    // One that is stopped must not hold us up.
    rustix::io::ioctl_fionbio(&writer, true)?;
    let mut command = bare(&[own_executable(), WORD.into()])?;
    // It keeps no folder in use, no signal to our group reaches it, and by another name it would be a module.
    command
        .arg0("devgate")
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::from(reader))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    spawn(&mut command).map(|_| writer)
}

/// Is the guard: hears on stdin which children run, until nobody speaks any more, and ends those that are left.
pub async fn guard() {
    let mut running = BTreeMap::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["+", mark] => running.insert(mark.to_owned(), None),
            ["+", mark, leader] => running.insert(mark.to_owned(), leader.parse().ok()),
            ["-", mark] => running.remove(mark),
            _ => None,
        };
    }
    let nobody = CancelSource::default();
    let stop = nobody.stop();
    let left = running.into_iter().map(|(mark, leader)| {
        let mut tree = ProcessTree::of_other(leader, mark);
        let looks = if leader.is_some() { 1 } else { LOOKS };
        let stop = &stop;
        async move {
            for _ in 0..looks {
                tree.end(stop, GRACE).await;
            }
        }
    });
    join_all(left).await;
}
