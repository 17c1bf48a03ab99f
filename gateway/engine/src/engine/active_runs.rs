//! The submitted runs that have not ended. Shutting down the engine cancels them and waits for them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use devgate_core::cancel::Reason;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::run::Run;

/// How many requests it takes until nothing is waited for any more, as with a run.
const MAX_REQUESTS: u32 = 3;

/// The active runs of an engine.
#[derive(Debug, Default)]
pub(super) struct ActiveRuns {
    runs: RefCell<Vec<Weak<Run>>>,
    /// When this many runs are listed, those that have ended are removed.
    prune_at: Cell<usize>,
    tasks: RefCell<JoinSet<()>>,
    is_closing: Cell<bool>,
    /// How often the shutdown was hurried.
    hurries: watch::Sender<u32>,
}

impl ActiveRuns {
    /// Spawns the work of a run, which continues whether or not anybody waits for it.
    pub(super) fn begin(&self, run: &Rc<Run>, work: impl Future<Output = ()> + 'static) {
        let mut runs = self.runs.borrow_mut();
        if runs.len() >= self.prune_at.get() {
            runs.retain(|run| run.strong_count() > 0);
            self.prune_at.set(2 * runs.len() + 16);
        }
        runs.push(Rc::downgrade(run));
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(work);
    }

    /// Whether the engine is shutting down and accepts no new run.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.get()
    }

    /// Cancels all runs in stages and waits for their end. Runs that have not ended after the last stage are abandoned.
    pub(super) async fn end(&self) {
        self.is_closing.set(true);
        self.hurries.send_replace(0);
        self.cancel();
        let ended = poll_fn(|cx| {
            let mut tasks = self.tasks.borrow_mut();
            while let Poll::Ready(Some(_)) = tasks.poll_join_next(cx) {}
            if tasks.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        tokio::select! {
            () = ended => {}
            () = self.hurried(MAX_REQUESTS - 1) => {}
        }
        self.tasks.borrow_mut().abort_all();
    }

    /// Hurries a shutdown in progress. Otherwise, this does nothing.
    pub(super) fn hurry(&self) {
        if self.is_closing() {
            self.hurries.send_modify(|hurries| *hurries += 1);
            self.cancel();
        }
    }

    /// Waits until the shutdown was hurried `times` times in all.
    pub(super) async fn hurried(&self, times: u32) {
        let mut hurries = self.hurries.subscribe();
        // Cannot fail: `self` owns the sender.
        let _ = hurries.wait_for(|hurries| *hurries >= times).await;
    }

    /// Returns how often the shutdown was hurried.
    pub(super) fn hurries(&self) -> u32 {
        *self.hurries.borrow()
    }

    fn cancel(&self) {
        let runs: Vec<_> = self
            .runs
            .borrow()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        runs.iter().for_each(|run| run.cancel(Reason::Shutdown));
    }
}
