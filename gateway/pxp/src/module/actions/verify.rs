//! `verify`: can the targets be reached, and do they take the credentials.

use devgate_core::failure::Failure;
use devgate_engine::operations::{self, Operation, Reached};
use devgate_front::command_context::CommandContext;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::actions::action::Action;
use crate::module::actions::targets::TargetSelection;

/// Tests that targets can be reached and that their credentials are accepted.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Verify {
    #[serde(flatten)]
    selection: TargetSelection,
}

impl Action for Verify {
    const NAME: &str = "verify";
    const ITEMS: &str = "verify";
    type Value = Reached;

    fn operation(self, _: &CommandContext) -> Result<(TargetSelection, Operation), Failure> {
        Ok((
            self.selection,
            Operation::Verify(operations::Verify::default()),
        ))
    }
}
