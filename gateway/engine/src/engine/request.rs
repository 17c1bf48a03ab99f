//! Requests to the engine, and the runs that they start.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

use devgate_core::events::{Events, RUN};
use devgate_core::failure::Failure;
use futures_util::FutureExt;
use tokio::sync::watch;

use super::Engine;
use crate::job::{RunLimits, panicked};
use crate::operations::{Operation, Summary};
use crate::registry::Registry;
use crate::run::Run;
use crate::workspace::SelectedTargets;

/// The number of idempotency keys that are remembered. Beyond that, the oldest key whose run has ended is forgotten.
const MAX_KEYS: usize = 10_000;

/// A request to run an operation on targets.
#[derive(Debug)]
pub struct RunRequest {
    /// The principal that sends the request.
    pub principal: Principal,
    /// The idempotency key. A repeated request with the same key returns the same run.
    pub key: Option<IdempotencyKey>,
    /// The transports and resource types that are available to the run.
    pub registry: Rc<Registry>,
    /// The targets.
    pub selected: SelectedTargets,
    /// The operation on the targets.
    pub operation: Operation,
    /// The limits of the run.
    pub limits: RunLimits,
}

/// The sender of a request, as the front end identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// The idempotency key of a request. A repeated request with the same key returns the run of the first.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The name that the sender chose.
    pub name: String,
    /// The digest of the request. A different request needs a different name.
    pub digest: [u8; 32],
}

/// A submitted run. The holder can follow it, cancel it, and wait for its outcome.
#[derive(Clone, Debug)]
pub struct RunHandle {
    run: Rc<Run>,
    principal: Principal,
    outcome: watch::Receiver<Option<Result<Rc<Summary>, Failure>>>,
}

impl Engine {
    /// Starts the requested run, or returns the run that the same request has started before.
    ///
    /// The run continues even if the handle is dropped.
    ///
    /// # Errors
    /// Fails when another request has the same key, when there are too many keys, or when the engine is shutting down.
    pub fn submit(self: &Rc<Self>, request: RunRequest) -> Result<RunHandle, Failure> {
        if let Some(existing) = self.existing_run(&request)? {
            return Ok(existing);
        }
        if self.active_runs.is_closing() {
            let message = "devgate is shutting down: nothing was done";
            return Err(Failure::new("devgate/shutdown", message));
        }
        if request.key.is_some() {
            self.forget_oldest_key()?;
        }
        let RunRequest {
            principal,
            key,
            registry,
            selected,
            operation,
            limits,
        } = request;
        let run = Rc::new(self.begin(&registry, limits));
        let (sender, outcome) = watch::channel(None);
        let handle = RunHandle {
            run,
            principal,
            outcome,
        };
        let run = Rc::clone(&handle.run);
        let reporter = OutcomeReporter {
            sender,
            events: Arc::clone(run.events()),
        };
        let work = RUN.scope(Arc::clone(run.events()), async move {
            let work = operation.run(&run, &selected.inventory, &selected.targets);
            let outcome = AssertUnwindSafe(work).catch_unwind().await;
            reporter.report(outcome.unwrap_or_else(|_| Err(panicked())));
        });
        self.active_runs.begin(&handle.run, work);
        if let Some(IdempotencyKey { name, digest }) = key {
            let caller_key = (handle.principal.clone(), name);
            let existing = (digest, handle.clone());
            self.keys.borrow_mut().insert(caller_key, existing);
        }
        Ok(handle)
    }

    /// Makes room for one more key by forgetting that of the oldest run that has ended.
    ///
    /// # Errors
    /// Fails when none of the runs has ended.
    fn forget_oldest_key(&self) -> Result<(), Failure> {
        let mut keys = self.keys.borrow_mut();
        if keys.len() < MAX_KEYS {
            return Ok(());
        }
        let mut ended = keys.values();
        let ended = ended.position(|(_, handle)| handle.has_ended());
        let Some(index) = ended else {
            let message = format!(
                "{MAX_KEYS} requests with idempotency keys are running: nothing was done; retry when some have ended"
            );
            return Err(Failure::new("devgate/too-many-requests", message));
        };
        keys.shift_remove_index(index);
        Ok(())
    }

    /// Returns the run that an earlier, identical request with the same key has started.
    fn existing_run(&self, request: &RunRequest) -> Result<Option<RunHandle>, Failure> {
        let Some(IdempotencyKey { name, digest }) = &request.key else {
            return Ok(None);
        };
        let keys = self.keys.borrow();
        match keys.get(&(request.principal.clone(), name.clone())) {
            None => Ok(None),
            Some((existing, handle)) if existing == digest => Ok(Some(handle.clone())),
            Some(_) => {
                let message = format!(
                    "the idempotency key `{name}` was used for another request: nothing was done; use a new key for \
                     each request"
                );
                Err(Failure::new("devgate/key-in-use", message))
            }
        }
    }
}

/// Reports the outcome of a run, however it ends.
struct OutcomeReporter {
    sender: watch::Sender<Option<Result<Rc<Summary>, Failure>>>,
    events: Arc<Events>,
}

impl OutcomeReporter {
    fn report(&self, outcome: Result<Summary, Failure>) {
        // There may be no receiver.
        let _ = self.sender.send(Some(outcome.map(Rc::new)));
    }
}

impl Drop for OutcomeReporter {
    fn drop(&mut self) {
        if self.sender.borrow().is_none() {
            let message =
                "devgate ended before the request was finished: what was done is not known";
            self.report(Err(Failure::new("devgate/shutdown", message)));
        }
        self.events.close();
    }
}

impl RunHandle {
    /// Returns the principal that requested the run.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Waits for the summary of the run.
    ///
    /// # Errors
    /// Fails when the operation could not begin.
    pub async fn summary(&self) -> Result<Rc<Summary>, Failure> {
        let mut receiver = self.outcome.clone();
        let outcome = receiver.wait_for(Option::is_some).await;
        let outcome = outcome.ok().and_then(|outcome| outcome.clone());
        // Only a run that was dropped at shutdown has no outcome.
        outcome.unwrap_or_else(|| Err(panicked()))
    }

    fn has_ended(&self) -> bool {
        self.outcome.borrow().is_some()
    }
}
