//! One target's part of a run.

use std::cell::OnceCell;
use std::pin::pin;

use devgate_schemas::Value;
use devgate_transports::{Context, RetryBudget};
use serde_json::{Value as Json, json};

use super::RunContext;
use super::failures::interrupted;
use crate::inventory::{DeviceKey, Target};
use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::failure::Failure;
use devgate_core::redactor::Redactor;

/// One target's part of a run.
#[derive(Debug)]
pub struct TargetJob<'a> {
    /// The target.
    pub target: &'a Target,
    /// Where that is, once somebody wants to know.
    place: OnceCell<DeviceKey>,
    /// What it is a part of.
    pub run: &'a RunContext,
    pub(crate) redactor: Redactor<'a>,
    retry_budget: RetryBudget,
    stop: CancelToken,
}

impl<'a> TargetJob<'a> {
    /// The part of a target whose secrets are hidden already; `place` is where it is, as far as that is known.
    pub(crate) fn new(run: &'a RunContext, target: &'a Target, place: OnceCell<DeviceKey>) -> Self {
        Self {
            target,
            place,
            run,
            stop: run.cancel_source.stop(),
            redactor: Redactor::new(run.sink()),
            retry_budget: RetryBudget::at_most(run.limits.retry_budget),
        }
    }

    /// Keeps these secrets out of every message and result of the target from now on.
    pub fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.redactor.hide(secrets);
    }

    /// Where its target is.
    pub(crate) fn place(&self) -> DeviceKey {
        let place = || self.run.registry.place(self.target);
        *self.place.get_or_init(place)
    }

    /// Has what reaches its target asked what it is, where it is not one of those that a run works on.
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
    pub(crate) async fn attend<T>(&self, work: impl Future<Output = T>) -> T {
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
        self.redactor.masked_text(text)
    }

    /// What a target answers, without the secrets that are known in the run.
    pub(crate) fn without_secrets(&self, answer: Json) -> Json {
        self.redactor.masked_value(answer)
    }

    /// The context of calls on the target.
    pub fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.redactor, &self.retry_budget)
            .with_environment(&self.run.environment)
    }

    /// That the target was not done with when somebody stopped the run.
    pub fn interrupted(&self, begun: bool) -> Failure {
        interrupted(&self.stop, begun)
    }
}
