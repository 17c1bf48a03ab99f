//! `facts`: collects the facts of targets.

use std::num::NonZeroU32;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_engine::operations::{self, Operation};
use devgate_front::command_context::CommandContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::module::actions::action::Action;
use crate::module::actions::targets::TargetSelection;

/// Collects the facts of targets.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Facts {
    #[serde(flatten)]
    selection: TargetSelection,
    /// Ask no target whose facts were collected within so many seconds.
    #[schemars(range(max = u32::MAX))]
    cached: Option<NonZeroU32>,
    /// Where a target is down, give its last facts, and say so.
    #[serde(default)]
    stale_ok: bool,
}

impl Action for Facts {
    const NAME: &str = "facts";
    const ITEMS: &str = "facts";
    const ADDITIONAL_KEYS: &[&str] = &["collected"];
    const VALUE: &str =
        "The facts, under Facter's names and the family's own; `_error` where it failed";
    type Value = Map<String, Json>;

    fn operation(self, context: &CommandContext) -> Result<(TargetSelection, Operation), Failure> {
        let seconds = self.cached.map(|seconds| seconds.get().into());
        let cached = seconds.map(Duration::from_secs);
        let project = &context.workspace.project().root;
        let facts = operations::Facts::with_cache(cached, self.stale_ok, project);
        Ok((self.selection, Operation::Facts(facts)))
    }
}
