//! Runs: one operation on many targets at once, with bounded concurrency, live events, and cancellation in stages.

mod progress;
mod services;
mod summary;

use std::cell::OnceCell;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

use devgate_core::cancel::{CancelToken, Reason, Stage};
use devgate_core::events::{Event, Events};
use devgate_core::failure::Failure;
use devgate_core::redactor::{Redactor, Sink};
use devgate_core::results::{Action, TargetResult};
use devgate_schemas::Value;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use tokio::sync::OwnedSemaphorePermit;

use crate::inventory::{DeviceKey, Inventory, Target};
use crate::job::{RunContext, RunId, RunLimits};
use crate::proxies::{HostUse, Hosts};
use crate::registry::Registry;
use crate::session::Sessions;
use progress::Progress;

pub use crate::job::{TargetJob, panicked};
pub use services::{EngineConfig, Services, max_targets};
pub use summary::RunSummary;

/// One request to the gateway.
///
/// A run reports its progress through its [`Events`]. Work [on targets](Self::on_targets) ends in stages when the run
/// is [cancelled](Self::cancel) or its deadline passes. A single [job](Self::job) ends when the run is
/// [left](Self::leave). A run shares sessions and device turns with the other runs of its engine, and nothing else.
pub struct Run {
    /// The context that all jobs of the run share.
    context: RunContext,
    /// The services that all runs of the engine share.
    pub(crate) services: Rc<Services>,
}

impl Run {
    /// Creates a run that has not begun.
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

    /// Returns the number of the run.
    #[cfg(test)]
    pub(crate) fn id(&self) -> RunId {
        self.context.id
    }

    /// Returns the transports and resource types that are available to the run.
    pub fn registry(&self) -> &Registry {
        &self.context.registry
    }

    #[cfg(test)]
    pub(crate) fn run_context(&self) -> &RunContext {
        &self.context
    }

    /// Performs `work` with sessions through the proxies of an inventory, and closes the connections to the proxies at
    /// the end.
    pub async fn with_sessions<T>(
        &self,
        inventory: &Inventory,
        work: impl AsyncFnOnce(Sessions<'_, '_>) -> T,
    ) -> T {
        let lend = async |_: &Hosts<'_>, sessions: Sessions<'_, '_>| work(sessions).await;
        self.with_hosts(HostUse::Sessions, inventory, lend).await
    }

    /// Performs `work` with the hosts of an inventory, and with sessions that go through them.
    pub(crate) async fn with_hosts<T>(
        &self,
        usage: HostUse,
        inventory: &Inventory,
        work: impl AsyncFnOnce(&Hosts<'_>, Sessions<'_, '_>) -> T,
    ) -> T {
        let Services {
            sessions,
            loads,
            turns,
            ..
        } = &*self.services;
        let hosts = Hosts::new(usage, inventory, &self.context, loads, turns);
        let work = work(&hosts, Sessions::new(sessions, &hosts));
        hosts.serve(work).await
    }

    /// Returns the events of the run.
    pub fn events(&self) -> &Arc<Events> {
        &self.context.events
    }

    /// Returns the sink for the messages of the run.
    pub fn sink(&self) -> &dyn Sink {
        self.context.sink()
    }

    /// Cancels the run. The first call lets current work finish, the second ends it at once, and after the third
    /// nothing is waited for.
    pub fn cancel(&self, reason: Reason) {
        self.context.cancel_source.cancel(reason);
    }

    /// Returns the failure of a run that was cancelled before any work had begun.
    pub fn interrupted(&self) -> Failure {
        self.context.interrupted()
    }

    /// Abandons the work at once and closes its sessions.
    pub fn leave(&self, reason: Reason) {
        self.context.cancel_source.raise(Stage::End, Some(reason));
    }

    /// Creates the job of a target in this run.
    pub fn job<'a>(&'a self, target: &'a Target) -> TargetJob<'a> {
        let job = TargetJob::new(&self.context, target, OnceCell::new());
        job.hide(&target.secrets());
        job
    }

    /// Waits for the next stage of cancellation, which all jobs are notified of as well. Returns `None` when nothing is
    /// to be waited for any more.
    pub async fn stopping(&self) -> Option<Stage> {
        self.context.cancel_source.next().await
    }

    /// Performs `work` on every target. The limits of the run and the number of files that the engine may open bound
    /// the concurrency. Each result is reported as soon as it arrives, with the secrets of all targets masked.
    ///
    /// When the run is cancelled, no new work starts. Work in progress is waited for, so that sessions are closed and
    /// processes are gone; what does not end is dropped. Every unfinished target gets a failure that says so.
    pub async fn on_targets(
        &self,
        targets: &[Arc<Target>],
        action: Action,
        work: impl AsyncFn(&TargetJob<'_>) -> Result<TargetResult, Failure>,
    ) -> RunSummary {
        let (progress, stop) = (
            &Progress::begin(&self.context, &self.services, targets, action),
            &self.context.cancel_source.token(),
        );
        // The output of one target may contain a secret of another. Many targets have the same secrets.
        let secrets = Redactor::new(self.sink());
        hide(&secrets, targets.iter().map(|target| target.secrets()));
        // The device key and the secrets of a target depend on the description of its transport.
        let stage_reached = tokio::select! {
            () = self.context.registry.prepare(targets) => None,
            stage = self.stopping() => stage,
        };
        if let Some(stage) = stage_reached {
            self.report_stopping(stage, 0);
        }
        hide(
            &secrets,
            targets
                .iter()
                .map(|target| self.context.registry.secrets(target)),
        );
        let device_keys = targets
            .iter()
            .map(|target| self.context.registry.device_key(target));
        let device_keys: &Vec<DeviceKey> = &device_keys.collect();
        let work = &work;
        let results = stream::iter(targets.iter().enumerate()).map(|(index, target)| async move {
            let _room = self.permit(stop).await?;
            progress.started(index);
            let job = TargetJob::new(&self.context, target, device_keys[index].into());
            let result = match &target.fault {
                Some(fault) => Err(Failure::from(&**fault)),
                // Boxed, so that little is moved when a target is queued.
                None => {
                    let work = AssertUnwindSafe(Box::pin(work(&job))).catch_unwind();
                    job.attend(work).await.unwrap_or_else(|_| Err(panicked()))
                }
            };
            let result = result.unwrap_or_else(TargetResult::from);
            Some((index, job.redactor.masked(result)))
        });
        let mut results = Box::pin(results.buffer_unordered(self.context.limits.concurrency.get()));
        let sessions = self.services.sessions.expect(self.context.id, device_keys);
        loop {
            tokio::select! {
                result = results.next() => {
                    let Some(result) = result else { break };
                    let Some((index, result)) = result else { continue };
                    sessions.done(device_keys[index]);
                    progress.finished(index, result);
                }
                stage = self.stopping() => {
                    let Some(stage) = stage else { break };
                    // When all targets are reported, only the sessions are still to be closed.
                    if stage == Stage::Finish || progress.running() > 0 {
                        self.report_stopping(stage, progress.running());
                    }
                }
            }
        }
        // Drop the work in progress before its end is reported.
        drop(results);
        tokio::select! {
            biased;
            () = sessions.end(&*self.services.log) => {}
            _ = self.stopping() => {}
        }
        progress.end()
    }

    fn report_stopping(&self, stage: Stage, running: usize) {
        self.context.events.record(Event::Stopping {
            stage,
            message: self.context.cancel_source.token().message(),
            running,
            is_held: self.context.cancel_source.is_held(),
        });
    }

    /// Waits until one more target can be worked on. Returns `None` when the run is to start no new work.
    async fn permit(&self, stop: &CancelToken) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = stop.reaches(Stage::Finish) => None,
            permit = async {
                self.context.events.wait_for_followers().await;
                self.services.permit().await
            } => Some(permit),
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

/// Closes the events, so that subscribers know that nothing more comes.
impl Drop for Run {
    fn drop(&mut self) {
        self.context.events.close();
    }
}

/// Hides the secrets of targets. Adjacent targets often have the same secrets.
fn hide(redactor: &Redactor<'_>, secrets: impl Iterator<Item = Vec<Value>>) {
    let mut secrets: Vec<Vec<Value>> = secrets.collect();
    secrets.dedup();
    redactor.hide(secrets.iter().flatten());
}
