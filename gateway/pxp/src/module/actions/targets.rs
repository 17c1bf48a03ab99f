//! The targets of an action.

use std::num::NonZeroUsize;

use devgate_core::failure::Failure;
use devgate_engine::inventory::Overrides;
use devgate_engine::workspace::SelectedTargets;
use devgate_front::command_context::CommandContext;
use devgate_schemas::derived::each;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::configuration::Limits;

/// The context of an action.
pub(in crate::module) struct ActionContext<'w> {
    pub(in crate::module) context: &'w CommandContext,
    pub(in crate::module) limits: &'w Limits,
}

/// The targets, and the concurrency.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TargetSelection {
    /// Names, groups, globs or URIs of targets, separated by commas, or a list of them; `all`.
    targets: Words,
    /// How many targets are worked on at once (default: the project's, else 100).
    #[schemars(range(max = u32::MAX))]
    concurrency: Option<NonZeroUsize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Words {
    One(#[schemars(length(min = 1))] String),
    Many(
        #[schemars(
            length(min = 1),
            inner(length(min = 1)),
            transform = each("Names, groups, globs or URIs")
        )]
        Vec<String>,
    ),
}

impl TargetSelection {
    /// Selects the targets in the inventory.
    ///
    /// # Errors
    /// The inventory is invalid, or does not contain a name.
    pub(super) async fn choose(
        &self,
        work: &ActionContext<'_>,
    ) -> Result<SelectedTargets, Failure> {
        let words = match &self.targets {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        };
        if words
            .iter()
            .any(|word| word == "-" || word.starts_with('@'))
        {
            let message = "`targets`: `-` and `@FILE` work only on command lines (stdin holds the request): name the \
                           targets";
            return Err(Failure::new("devgate/invalid-input", message));
        }
        let inventory = work.context.inventory().await?;
        let overrides = Overrides::default();
        let chosen = work.context.choose(inventory, words, &overrides);
        let chosen = chosen.await?;
        if chosen.targets.is_empty() {
            let message = "`targets` selects no target of the inventory: nothing was done; `project` or `inventory` \
                           of the configuration selects the inventory";
            return Err(Failure::new("devgate/no-targets", message));
        }
        Ok(chosen)
    }

    /// The concurrency, limited by the configuration.
    pub(super) fn concurrency(&self, work: &ActionContext<'_>) -> Option<NonZeroUsize> {
        let wanted = work.context.requested_concurrency(self.concurrency);
        match work.limits.concurrency {
            Some(max) => Some(wanted.min(max)),
            None => self.concurrency,
        }
    }
}
