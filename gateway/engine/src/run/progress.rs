//! The progress of a run: each target gets exactly one result, however the run ends.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use devgate_core::events::Event;
use devgate_core::results::{Action, Status, TargetResult};

use super::{RunSummary, Services};
use crate::inventory::Target;
use crate::job::{RunContext, interrupted, panicked};

/// The progress on the targets of a run. If it is dropped before it has [ended](Self::end), it reports the missing
/// results.
pub(super) struct Progress<'r> {
    run: &'r RunContext,
    services: &'r Services,
    targets: &'r [Arc<Target>],
    /// The state of each target.
    states: Vec<Cell<State>>,
    statuses: RefCell<Vec<(String, Status)>>,
    running: Cell<usize>,
    failed: Cell<usize>,
    has_ended: Cell<bool>,
}

/// The state of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Begun,
    Done,
}

impl<'r> Progress<'r> {
    /// Reports the start of the run.
    pub(super) fn begin(
        run: &'r RunContext,
        services: &'r Services,
        targets: &'r [Arc<Target>],
        action: Action,
    ) -> Self {
        run.events.record(Event::Begun {
            action,
            targets: targets.len(),
        });
        Self {
            run,
            services,
            targets,
            states: vec![Cell::new(State::Waiting); targets.len()],
            statuses: RefCell::new(Vec::with_capacity(targets.len())),
            running: Cell::new(0),
            failed: Cell::new(0),
            has_ended: Cell::new(false),
        }
    }

    /// Returns the number of targets in progress.
    pub(super) fn running(&self) -> usize {
        self.running.get()
    }

    /// Records and reports that the work on a target starts.
    pub(super) fn started(&self, index: usize) {
        self.states[index].set(State::Begun);
        self.running.set(self.running.get() + 1);
        self.run.events.record(Event::Started {
            target: self.targets[index].name.clone(),
        });
    }

    /// Records and reports the result of a target. The result must be free of secrets.
    pub(super) fn finished(&self, index: usize, result: TargetResult) {
        let target = &self.targets[index].name;
        if self.states[index].replace(State::Done) == State::Begun {
            self.running.set(self.running.get() - 1);
        }
        let has_failed = result.status == Status::Failure;
        self.failed.set(self.failed.get() + usize::from(has_failed));
        let status = (target.clone(), result.status);
        self.statuses.borrow_mut().push(status);
        self.run.events.record(Event::Finished {
            target: target.clone(),
            result: Box::new(result),
            running: self.running.get(),
            failed: self.failed.get(),
        });
    }

    /// Ends the run. Every unfinished target has failed.
    pub(super) fn end(&self) -> RunSummary {
        self.has_ended.set(true);
        let stop = self.run.cancel_source.token();
        let reason = stop.reason();
        for (index, state) in self.states.iter().enumerate() {
            let has_begun = match state.get() {
                State::Done => continue,
                state => state == State::Begun,
            };
            let failure = match &reason {
                Some(_) => interrupted(&stop, has_begun),
                None => panicked(),
            };
            self.finished(index, failure.into());
        }
        // Work may have been abandoned because of a request that has not reached this run yet. A later request changes
        // nothing.
        let pending_reason = || {
            let cancel_reason = self.services.cancel_reason();
            cancel_reason.filter(|_| self.failed.get() > 0)
        };
        let reason = reason.or_else(pending_reason);
        self.run.events.record(Event::Ended {
            reason: reason.clone(),
        });
        let statuses = self.statuses.take();
        RunSummary { statuses, reason }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if !self.has_ended.get() {
            self.end();
        }
    }
}
