//! One thing asked of many targets at once: bounded, told as it goes, and stopped by stages.

mod progress;
mod services;
mod summary;

use std::cell::OnceCell;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

use devgate_schemas::Value;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use tokio::sync::OwnedSemaphorePermit;

use crate::inventory::{DeviceKey, Target};
use crate::job::{RunContext, RunId, RunLimits};
use crate::registry::Registry;
use crate::session::SessionPool;
use devgate_core::cancel::{CancelToken, Reason, Stage};
use devgate_core::events::{Event, Events};
use devgate_core::failure::Failure;
use devgate_core::redactor::{Redactor, Sink};
use devgate_core::results::{Action, TargetResult};
use progress::Progress;

pub use crate::job::{TargetJob, panicked};
pub use services::{EngineConfig, Services, affordable};
pub use summary::RunSummary;

/// One thing asked of the gateway.
///
/// It tells what becomes of it by its [`Events`]. Work [on targets](Self::on_targets) ends by stages when somebody
/// [cancels](Self::cancel) it, or when its time is over; a single [job](Self::job) when it is [left](Self::leave). It
/// shares sessions and turns with the other runs of its engine, and nothing else.
pub struct Run {
    /// What its jobs share.
    context: RunContext,
    /// What it shares with the other runs of its engine.
    pub(crate) services: Rc<Services>,
}

impl Run {
    /// A run that has not begun.
    pub(crate) fn new(
        id: RunId,
        services: Rc<Services>,
        registry: Rc<Registry>,
        events: Arc<Events>,
        limits: RunLimits,
    ) -> Self {
        let environment = Arc::clone(&services.environment);
        Self {
            context: RunContext::new(id, registry, environment, events, limits),
            services,
        }
    }

    /// Its number.
    #[cfg(test)]
    pub(crate) fn id(&self) -> RunId {
        self.context.id
    }

    /// What its jobs share.
    pub(crate) fn context(&self) -> &RunContext {
        &self.context
    }

    /// The transports and types that it knows.
    pub fn registry(&self) -> &Registry {
        &self.context.registry
    }

    /// The sessions that it uses.
    pub fn sessions(&self) -> &SessionPool {
        &self.services.sessions
    }

    /// What it tells.
    pub fn events(&self) -> &Arc<Events> {
        &self.context.events
    }

    /// Where what is said in it goes.
    pub fn sink(&self) -> &dyn Sink {
        self.context.sink()
    }

    /// How much it may take.
    pub fn limits(&self) -> &RunLimits {
        &self.context.limits
    }

    /// Has it end: the first time in peace, the second at once; the third time nothing is waited for.
    pub fn cancel(&self, reason: Reason) {
        self.context.cancel_source.cancel(reason);
    }

    /// That it was stopped before anything was begun.
    pub fn interrupted(&self) -> Failure {
        self.context.interrupted()
    }

    /// Has its work left at once, and its sessions closed.
    pub fn leave(&self, reason: Reason) {
        self.context.cancel_source.raise(Stage::End, Some(reason));
    }

    /// The part of a target in it.
    pub fn job<'a>(&'a self, target: &'a Target) -> TargetJob<'a> {
        let job = TargetJob::new(&self.context, target, OnceCell::new());
        job.hide(&target.secrets());
        job
    }

    /// Waits for the next stage of being stopped, which all jobs hear then; none is that nothing is waited for any
    /// more.
    pub async fn stopping(&self) -> Option<Stage> {
        self.context.cancel_source.next().await
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
            &Progress::begin(&self.context, &self.services, targets, action),
            &self.context.cancel_source.stop(),
        );
        // What one of them shows may be a secret of another. Many have the same.
        let secrets = Redactor::new(self.sink());
        hide(&secrets, targets.iter().map(|target| target.secrets()));
        // Where a target is, and what of it is secret, depends on what its transport says.
        let stopped = tokio::select! {
            () = self.context.registry.prepare(targets) => None,
            stage = self.stopping() => stage,
        };
        if let Some(stage) = stopped {
            self.tell_stopping(stage, 0);
        }
        hide(
            &secrets,
            targets
                .iter()
                .map(|target| self.context.registry.secrets(target)),
        );
        let places = targets
            .iter()
            .map(|target| self.context.registry.place(target));
        let places: &Vec<DeviceKey> = &places.collect();
        let work = &work;
        let answers = stream::iter(targets.iter().enumerate()).map(|(at, target)| async move {
            let _room = self.room(stop).await?;
            progress.started(at);
            let job = TargetJob::new(&self.context, target, places[at].into());
            let answer = match &target.fault {
                Some(fault) => Err(Failure::from(&**fault)),
                // Boxed, so that little is moved when a target is queued.
                None => {
                    let work = AssertUnwindSafe(Box::pin(work(&job))).catch_unwind();
                    job.attend(work).await.unwrap_or_else(|_| Err(panicked()))
                }
            };
            let answer = answer.unwrap_or_else(TargetResult::from);
            Some((at, job.redactor.masked(answer)))
        });
        let mut answers = Box::pin(answers.buffer_unordered(self.context.limits.concurrency.get()));
        let sessions = self.services.sessions.expect(self.context.id, places);
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
            () = sessions.end(&*self.services.log) => {}
            _ = self.stopping() => {}
        }
        progress.end()
    }

    fn tell_stopping(&self, stage: Stage, running: usize) {
        self.context.events.tell(Event::Stopping {
            stage,
            told: self.context.cancel_source.stop().told(),
            running,
            held: self.context.cancel_source.is_held(),
        });
    }

    /// Waits until one more target can be worked on; there is nothing where the run is to begin nothing new.
    async fn room(&self, stop: &CancelToken) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = stop.reaches(Stage::Finish) => None,
            room = async {
                self.context.events.room().await;
                self.services.room().await
            } => Some(room),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("id", &self.context.id)
            .finish_non_exhaustive()
    }
}

/// Who follows it knows that nothing more comes.
impl Drop for Run {
    fn drop(&mut self) {
        self.context.events.close();
    }
}

/// Hides the secrets of targets, of which many have the same as their neighbour.
fn hide(redactor: &Redactor<'_>, secrets: impl Iterator<Item = Vec<Value>>) {
    let mut secrets: Vec<Vec<Value>> = secrets.collect();
    secrets.dedup();
    redactor.hide(secrets.iter().flatten());
}
