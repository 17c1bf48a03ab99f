//! The runs that somebody has submitted and that have not ended: whoever ends the engine ends them, and waits for them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::run::Run;
use devgate_core::cancel::Reason;

/// How often somebody has to be in a hurry until nothing is waited for any more, as with a run.
const PATIENT: u32 = 3;

/// The runs of an engine.
#[derive(Debug, Default)]
pub(super) struct ActiveRuns {
    runs: RefCell<Vec<Weak<Run>>>,
    /// At this many runs, those that have ended are taken out.
    many: Cell<usize>,
    tasks: RefCell<JoinSet<()>>,
    is_closing: Cell<bool>,
    /// How often somebody was in a hurry.
    hurries: watch::Sender<u32>,
}

impl ActiveRuns {
    /// Does the work of a run, whoever waits for it.
    pub(super) fn begin(&self, run: &Rc<Run>, work: impl Future<Output = ()> + 'static) {
        let mut runs = self.runs.borrow_mut();
        if runs.len() >= self.many.get() {
            runs.retain(|run| run.strong_count() > 0);
            self.many.set(2 * runs.len() + 16);
        }
        runs.push(Rc::downgrade(run));
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(work);
    }

    /// Whether nothing is begun any more.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.get()
    }

    /// Has all runs end, by stages, and waits until they have; those that do not, however much somebody is in a hurry,
    /// are left.
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
            () = self.is_hurried(PATIENT - 1) => {}
        }
        self.tasks.borrow_mut().abort_all();
    }

    /// Somebody does not want to wait for the end; what is not ending is not meant.
    pub(super) fn hurry(&self) {
        if self.is_closing() {
            self.hurries.send_modify(|hurries| *hurries += 1);
            self.cancel();
        }
    }

    /// Waits until somebody is in a hurry, so many times in all.
    pub(super) async fn is_hurried(&self, times: u32) {
        let mut hurries = self.hurries.subscribe();
        // The sender is ours.
        let _ = hurries.wait_for(|hurries| *hurries >= times).await;
    }

    /// How often somebody was in a hurry.
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
