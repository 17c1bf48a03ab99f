//! The work of a run on one target.

use std::cell::OnceCell;
use std::pin::pin;

use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::failure::Failure;
use devgate_core::redactor::Redactor;
use devgate_schemas::Value;
use devgate_transports::{Context, RetryBudget};
use serde_json::{Value as Json, json};

use super::RunContext;
use super::failures::interrupted;
use crate::inventory::{DeviceKey, Target};

/// The work of a run on one target.
#[derive(Debug)]
pub struct TargetJob<'a> {
    /// The target.
    pub target: &'a Target,
    /// The device key of the target. It is computed when it is first needed.
    device_key: OnceCell<DeviceKey>,
    /// The context of the run that the job belongs to.
    pub run: &'a RunContext,
    pub(crate) redactor: Redactor<'a>,
    retry_budget: RetryBudget,
    stop: CancelToken,
}

impl<'a> TargetJob<'a> {
    /// Creates the job of a target whose secrets are hidden already. `device_key` is the device key, as far as it is known.
    pub(crate) fn new(
        run: &'a RunContext,
        target: &'a Target,
        device_key: OnceCell<DeviceKey>,
    ) -> Self {
        Self {
            target,
            device_key,
            run,
            stop: run.cancel_source.token(),
            redactor: Redactor::new(run.sink()),
            retry_budget: RetryBudget::at_most(run.limits.retry_budget),
        }
    }

    /// Hides these secrets in every later message and result of the target.
    pub fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.redactor.hide(secrets);
    }

    /// Returns the device key of the target.
    pub(crate) fn device_key(&self) -> DeviceKey {
        let device_key = || self.run.registry.device_key(self.target);
        *self.device_key.get_or_init(device_key)
    }

    /// Loads the description of the transport of the target.
    ///
    /// # Errors
    /// Fails when the run is cancelled before the transport has answered.
    pub async fn prepare(&self) -> Result<(), Failure> {
        let name = self.target.remote_transport();
        tokio::select! {
            () = self.run.registry.load_descriptions(name) => Ok(()),
            () = self.stop.reaches(Stage::Finish) => Err(self.interrupted(false)),
        }
    }

    /// Waits for `work`. Once the run is to finish, a target that has not answered yet is not retried.
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

    /// Returns the token by which the work learns that it is to end.
    pub fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// Returns the failure with all secrets known in the run masked.
    pub fn failure_without_secrets(&self, failure: Failure) -> Failure {
        let masked = self.without_secrets(json!(failure));
        serde_json::from_value(masked).unwrap_or(failure)
    }

    /// Returns the text with all secrets known in the run masked.
    pub fn masked(&self, text: &str) -> String {
        self.redactor.masked_text(text)
    }

    /// Returns the answer of a target with all secrets known in the run masked.
    pub(crate) fn without_secrets(&self, answer: Json) -> Json {
        self.redactor.masked_value(answer)
    }

    /// Returns the context for calls to the target.
    pub fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.redactor, &self.retry_budget)
            .with_environment(&self.run.environment)
    }

    /// Returns the failure of a target that was unfinished when the run was cancelled.
    pub fn interrupted(&self, begun: bool) -> Failure {
        interrupted(&self.stop, begun)
    }
}
