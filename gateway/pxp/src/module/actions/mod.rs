//! The actions of devgate: their names, inputs and operations.

mod action;
mod device_run;
mod facts;
mod resource_get;
mod run_task;
mod targets;
mod verify;

use devgate_core::failure::Failure;
use devgate_engine::operations::Operation;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_schemas::derived;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value as Json, json};

use self::action::Action;
use self::targets::TargetSelection;
use crate::module::collect::collect;
use crate::module::results;
use crate::module::schema::read_part;

pub(super) use self::targets::ActionContext;

/// The results and the exit status of an action.
pub(super) type ActionResult = (Json, ExitStatus);

/// An action, for the metadata and for invocation.
pub(super) struct ActionEntry {
    pub(super) name: &'static str,
    input: fn() -> Json,
    results: fn() -> Json,
    act: for<'w> fn(Map<String, Json>, &'w ActionContext<'w>) -> ActionFuture<'w>,
}

/// The work of an action, with its results.
type ActionFuture<'w> = LocalBoxFuture<'w, Result<ActionResult, Failure>>;

/// All actions.
pub(super) const ACTIONS: [ActionEntry; 5] = [
    ActionEntry::new::<run_task::RunTask>(),
    ActionEntry::new::<facts::Facts>(),
    ActionEntry::new::<verify::Verify>(),
    ActionEntry::new::<device_run::DeviceRun>(),
    ActionEntry::new::<resource_get::ResourceGet>(),
];

impl ActionContext<'_> {
    /// Submits an operation to the engine.
    ///
    /// # Errors
    /// Why nothing was started.
    async fn perform(
        &self,
        targets: &TargetSelection,
        operation: Operation,
    ) -> Result<ActionResult, Failure> {
        let chosen = targets.choose(self).await?;
        let handle = self
            .context
            .submit(chosen, targets.concurrency(self), operation)?;
        let summary = handle.summary();
        let (done, results) = collect(self.context, handle.run(), summary).await?;
        Ok((results, exit_status(&done?.targets)))
    }
}

impl ActionEntry {
    const fn new<A: Action>() -> Self {
        Self {
            name: A::NAME,
            input: derived::schema::<A>,
            results: || results::schema::<A::Value>(A::ITEMS, A::VALUE, A::ADDITIONAL_KEYS),
            act: |input, work| {
                async {
                    let input: A = read_part("input", Json::Object(input))?;
                    let (targets, operation) = input.operation(work.context)?;
                    work.perform(&targets, operation).await
                }
                .boxed_local()
            },
        }
    }

    /// Its entry in the metadata.
    pub(super) fn metadata(&self) -> Json {
        let mut input = (self.input)();
        let about = std::mem::replace(&mut input["description"], json!("What is asked for"));
        json!({
            "name": self.name,
            "description": about,
            "input": input,
            "results": (self.results)(),
        })
    }

    /// Runs the action: its results and exit status.
    ///
    /// # Errors
    /// The input is invalid, or nothing could be started.
    pub(super) async fn act(
        &self,
        input: Map<String, Json>,
        work: &ActionContext<'_>,
    ) -> Result<ActionResult, Failure> {
        (self.act)(input, work).await
    }
}
