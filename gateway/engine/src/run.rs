//! One thing asked of many targets at once: bounded, told as it goes, and stopped by stages.

mod progress;

use std::cell::OnceCell;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use devgate_schemas::Value;
use devgate_transports::{Context, RetryBudget};
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value as Json, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::engine::{Engine, Limits, RunId};
use crate::inventory::{DeviceKey, Target};
use crate::registry::Registry;
use devgate_core::cancel::{CancelSource, CancelToken, Reason, Stage};
use devgate_core::events::{Event, Events};
use devgate_core::failure::Failure;
use devgate_core::redactor::{Redactor, Sink};
use devgate_core::results::{Action, Status, TargetResult};
use progress::Progress;

/// One thing asked of the gateway.
///
/// It tells what becomes of it by its [`Events`]. Work [over](Self::over) targets ends by stages when somebody
/// [cancels](Self::cancel) it, or when its time is over; a single [job](Self::job) when it is [left](Self::leave). It
/// shares sessions and turns with the other runs of its engine, and nothing else.
pub struct Run {
    id: RunId,
    pub(crate) engine: Rc<Engine>,
    /// The transports and types that it knows.
    pub registry: Rc<Registry>,
    events: Arc<Events>,
    limits: Limits,
    cancel_source: CancelSource,
}

/// One target's part of a run.
#[derive(Debug)]
pub struct TargetJob<'a> {
    /// The target.
    pub target: &'a Target,
    /// Where that is, once somebody wants to know.
    place: OnceCell<DeviceKey>,
    /// What it is a part of.
    pub run: &'a Run,
    listener: Redactor<'a>,
    retry_budget: RetryBudget,
    stop: CancelToken,
}

/// How a run went.
#[derive(Debug)]
pub struct RunSummary {
    /// On each target.
    pub statuses: Vec<(String, Status)>,
    /// Why it was to end before.
    pub reason: Option<Reason>,
}

impl RunSummary {
    /// Whether all was done, and well.
    pub fn is_well(&self) -> bool {
        let well = |(_, status): &(String, Status)| *status == Status::Success;
        self.reason.is_none() && self.statuses.iter().all(well)
    }
}

impl<'a> TargetJob<'a> {
    /// Keeps these secrets out of everything that is said or printed of the target from now on.
    pub fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.listener.hide(secrets);
    }

    /// Where its target is.
    pub(crate) fn place(&self) -> DeviceKey {
        let place = || self.run.registry.place(self.target);
        *self.place.get_or_init(place)
    }

    /// Has what reaches its target asked what it is, where it is not one of those that [`Run::on_targets`] works on.
    ///
    /// # Errors
    /// The run was to end before.
    pub async fn prepare(&self) -> Result<(), Failure> {
        let name = self.target.remote_transport();
        tokio::select! {
            () = self.run.registry.ask(name) => Ok(()),
            () = self.stop.reaches(Stage::Finish) => Err(self.interrupted(false)),
        }
    }

    /// Waits for its work. Once the run is to end, a target that has not answered so far is not tried again.
    async fn attend<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.stop.reaches(Stage::Finish) => {}
        }
        if !self.retry_budget.was_answered() {
            self.retry_budget.give_up();
        }
        work.await
    }

    /// How its work learns that it is to end.
    pub fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// Why something failed, without the secrets that are known in the run.
    pub fn failure_without_secrets(&self, failure: Failure) -> Failure {
        let told = self.without_secrets(json!(failure));
        serde_json::from_value(told).unwrap_or(failure)
    }

    /// A text without the secrets that are known in the run.
    pub fn masked(&self, text: &str) -> String {
        self.listener.masked_text(text)
    }

    /// What a target answers, without the secrets that are known in the run.
    pub(crate) fn without_secrets(&self, answer: Json) -> Json {
        self.listener.masked_value(answer)
    }

    /// The context of calls on the target.
    pub fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.listener, &self.retry_budget)
            .within(&self.run.engine.environment)
    }

    /// That the target was not done with when somebody stopped the run.
    pub fn interrupted(&self, begun: bool) -> Failure {
        interrupted(&self.stop, begun)
    }
}

impl Run {
    /// A run that has not begun.
    pub(crate) fn new(
        id: RunId,
        engine: Rc<Engine>,
        registry: Rc<Registry>,
        events: Arc<Events>,
        limits: Limits,
    ) -> Self {
        Self {
            id,
            engine,
            registry,
            events,
            limits,
            cancel_source: CancelSource::within(limits.deadline),
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> RunId {
        self.id
    }

    /// What it tells.
    pub fn events(&self) -> &Arc<Events> {
        &self.events
    }

    /// Where what is said in it goes.
    pub fn sink(&self) -> &dyn Sink {
        &*self.events
    }

    /// How much it may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Has it end: the first time in peace, the second at once; the third time nothing is waited for.
    pub fn cancel(&self, reason: Reason) {
        self.cancel_source.cancel(reason);
    }

    /// That it was stopped before anything was begun.
    pub fn interrupted(&self) -> Failure {
        interrupted(&self.cancel_source.stop(), false)
    }

    /// Has its work left at once, and its sessions closed.
    pub fn leave(&self, reason: Reason) {
        self.cancel_source.raise(Stage::End, Some(reason));
    }

    /// The part of a target in it.
    pub fn job<'a>(&'a self, target: &'a Target) -> TargetJob<'a> {
        let job = self.job_at(target, OnceCell::new());
        job.hide(&target.secrets());
        job
    }

    /// The same, of a target whose secrets are hidden already.
    fn job_at<'a>(&'a self, target: &'a Target, place: OnceCell<DeviceKey>) -> TargetJob<'a> {
        TargetJob {
            target,
            place,
            run: self,
            stop: self.cancel_source.stop(),
            listener: Redactor::new(self.sink()),
            retry_budget: RetryBudget::at_most(self.limits.retry_budget),
        }
    }

    /// Waits for the next stage of being stopped, which all jobs hear then; none is that nothing is waited for any
    /// more.
    pub async fn stopping(&self) -> Option<Stage> {
        self.cancel_source.next().await
    }

    /// Does `work` on every target, as many at once as the run's limits and the engine's files allow, and tells each
    /// result as it comes, without the secrets of all of them.
    ///
    /// Where somebody stops it, nothing new is begun, and what is under way is waited for, so that sessions are closed
    /// and processes gone; what does not end is dropped. Every target that is not done has failed and says so.
    pub async fn on_targets(
        &self,
        targets: &[Arc<Target>],
        action: Action,
        work: impl AsyncFn(&TargetJob<'_>) -> Result<TargetResult, Failure>,
    ) -> RunSummary {
        let (progress, stop) = (
            &Progress::begin(self, targets, action),
            &self.cancel_source.stop(),
        );
        // What one of them shows may be a secret of another. Many have the same.
        let secrets = Redactor::new(self.sink());
        hide(&secrets, targets.iter().map(|target| target.secrets()));
        // Where a target is, and what of it is secret, depends on what its transport says.
        let stopped = tokio::select! {
            () = self.registry.prepare(targets) => None,
            stage = self.stopping() => stage,
        };
        if let Some(stage) = stopped {
            self.tell_stopping(stage, 0);
        }
        hide(
            &secrets,
            targets.iter().map(|target| self.registry.secrets(target)),
        );
        let places = targets.iter().map(|target| self.registry.place(target));
        let places: &Vec<DeviceKey> = &places.collect();
        let work = &work;
        let answers = stream::iter(targets.iter().enumerate()).map(|(at, target)| async move {
            let _room = self.room(stop).await?;
            progress.started(at);
            let job = self.job_at(target, places[at].into());
            let answer = match &target.fault {
                Some(fault) => Err(Failure::from(&**fault)),
                // Boxed, so that little is moved when a target is queued.
                None => {
                    let work = AssertUnwindSafe(Box::pin(work(&job))).catch_unwind();
                    job.attend(work).await.unwrap_or_else(|_| Err(panicked()))
                }
            };
            let answer = answer.unwrap_or_else(TargetResult::from);
            Some((at, job.listener.masked(answer)))
        });
        let mut answers = Box::pin(answers.buffer_unordered(self.limits.concurrency.get()));
        let sessions = self.engine.sessions.expect(self.id, places);
        loop {
            tokio::select! {
                answer = answers.next() => {
                    let Some(answer) = answer else { break };
                    let Some((at, answer)) = answer else { continue };
                    sessions.done(places[at]);
                    progress.finished(at, answer);
                }
                stage = self.stopping() => {
                    let Some(stage) = stage else { break };
                    // Where all is told, only the sessions are still to be closed.
                    if stage == Stage::Finish || progress.running() > 0 {
                        self.tell_stopping(stage, progress.running());
                    }
                }
            }
        }
        // What is still under way ends here, before it is said that it has.
        drop(answers);
        tokio::select! {
            biased;
            () = sessions.end(self.engine.log()) => {}
            _ = self.stopping() => {}
        }
        progress.end()
    }

    fn tell_stopping(&self, stage: Stage, running: usize) {
        self.events.tell(Event::Stopping {
            stage,
            told: self.cancel_source.stop().told(),
            running,
            held: self.cancel_source.is_held(),
        });
    }

    /// Waits until one more target can be worked on; there is nothing where the run is to begin nothing new.
    async fn room(&self, stop: &CancelToken) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = stop.reaches(Stage::Finish) => None,
            room = async {
                self.events.room().await;
                self.engine.room().await
            } => Some(room),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Who follows it knows that nothing more comes.
impl Drop for Run {
    fn drop(&mut self) {
        self.events.close();
    }
}

/// Hides the secrets of targets, of which many have the same as their neighbour.
fn hide(listener: &Redactor<'_>, secrets: impl Iterator<Item = Vec<Value>>) {
    let mut secrets: Vec<Vec<Value>> = secrets.collect();
    secrets.dedup();
    listener.hide(secrets.iter().flatten());
}

/// That a target was not done with when somebody stopped the run.
fn interrupted(stop: &CancelToken, begun: bool) -> Failure {
    let done = if begun {
        "what had been done by then is not known"
    } else {
        "nothing was done"
    };
    let message = format!("{}: {done}", stop.told());
    Failure::new("devgate/interrupted", message).with("begun", begun)
}

/// That the work on a target has met a mistake in devgate, which the other targets do not suffer
/// for.
pub fn panicked() -> Failure {
    let message = "devgate itself has failed here: what it says on stderr is a bug, and worth a \
                   report; what had been done by then is not known";
    Failure::new("devgate/bug", message)
}
