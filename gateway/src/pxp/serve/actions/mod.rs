//! Our actions: what they are called, what they take, and the operations that they are.

mod device_run;
mod facts;
mod resource_get;
mod run_task;
mod verify;
mod whom;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use self::whom::Whom;
use super::collect::collect;
use super::configuration::Limits;
use super::fitting;
use super::results::{self, Value};
use super::schema::{both, closed};
use crate::cli::{Ending, Setting, ending};
use crate::operations::Operation;

/// An action of ours; the value is its input.
trait Action: DeserializeOwned {
    const NAME: &str;
    const ABOUT: &str;
    /// What its items are called in results.
    const ITEMS: &str;
    /// What its input needs, besides targets.
    const REQUIRED: &[&str] = &[];

    /// What its input may hold, besides targets.
    fn input() -> Json;

    /// What its values hold.
    fn value() -> Value;

    /// What its items have besides.
    fn item() -> Json {
        json!({})
    }

    /// What it asks, and of whom.
    ///
    /// # Errors
    /// What is wrong with its input.
    fn operation(self, setting: &Setting) -> anyhow::Result<(Whom, Operation)>;
}

/// What an action works with.
pub(super) struct Work<'w> {
    pub(super) setting: &'w Setting,
    pub(super) limits: &'w Limits,
}

/// The results of an action, and how it ended.
pub(super) type Done = (Json, Ending);

/// An action, as the metadata have it and as it is invoked.
pub(super) struct Served {
    pub(super) name: &'static str,
    about: &'static str,
    input: fn() -> Json,
    results: fn() -> Json,
    act: for<'w> fn(Map<String, Json>, &'w Work<'w>) -> LocalBoxFuture<'w, anyhow::Result<Done>>,
}

/// All of them.
pub(super) const ACTIONS: [Served; 5] = [
    Served::new::<run_task::RunTask>(),
    Served::new::<facts::Facts>(),
    Served::new::<verify::Verify>(),
    Served::new::<device_run::DeviceRun>(),
    Served::new::<resource_get::ResourceGet>(),
];

impl Work<'_> {
    /// Has the engine do something.
    ///
    /// # Errors
    /// Why nothing could be begun.
    async fn perform(&self, whom: &Whom, operation: Operation) -> anyhow::Result<Done> {
        let chosen = whom.choose(self).await?;
        let handle = self
            .setting
            .submit(chosen, whom.concurrency(self), operation)?;
        let summary = handle.summary();
        let (done, results) = collect(self.setting, handle.run(), summary).await?;
        Ok((results, ending(&done?.ran)))
    }
}

impl Served {
    const fn new<A: Action>() -> Self {
        Self {
            name: A::NAME,
            about: A::ABOUT,
            input: input::<A>,
            results: || results::schema(A::ITEMS, A::value(), A::item()),
            act: |input, work| {
                async {
                    let input: A = fitting("input", &self::input::<A>(), Json::Object(input))?;
                    let (whom, operation) = input.operation(work.setting)?;
                    work.perform(&whom, operation).await
                }
                .boxed_local()
            },
        }
    }

    /// What the metadata say of it.
    pub(super) fn metadata(&self) -> Json {
        json!({
            "name": self.name,
            "description": self.about,
            "input": (self.input)(),
            "results": (self.results)(),
        })
    }

    /// Does it: its results, and how it ended.
    ///
    /// # Errors
    /// What is wrong with the input, or why nothing could be begun.
    pub(super) async fn act(
        &self,
        input: Map<String, Json>,
        work: &Work<'_>,
    ) -> anyhow::Result<Done> {
        (self.act)(input, work).await
    }
}

fn input<A: Action>() -> Json {
    let required = [&["targets"], A::REQUIRED].concat();
    let about = "What is asked for";
    closed(about, &required, both(Whom::properties(), A::input()))
}
